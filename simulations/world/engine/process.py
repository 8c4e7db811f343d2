"""A process with a consumer in it: it can stand still, go on, and be gone. What it wants done goes to the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from groups.history.entries import Kind, ReadsNote
from groups.history.state.consumption import READS
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import (
    Alarm,
    Answer,
    Call,
    Consumer,
    Effect,
    Failure,
    Operation,
    Request,
    Returned,
    Send,
)
from simulations.protocol.client.consumer.effects import Planned
from simulations.protocol.client.consumer.fetched_partitions import NOTHING
from simulations.protocol.messages.classic_requests import NO_MEMBER_ID, JoinAnswer, JoinGroup
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import HeartbeatAnswer, Partitions, TransactionalCommit
from simulations.world.engine.log import Log
from simulations.world.engine.queue import EventQueue, Priority
from simulations.world.engine.requests import TURNED_AWAY

_CLIENT: Final = Priority.CLIENT

POLL_THROWS: Final = "poll_throws"
"""The fault of a member of the classic protocol whose application gets an exception out of ``poll()``."""

THROWN: Final = (
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.UNSUPPORTED_VERSION,
    ErrorCode.UNSUPPORTED_ASSIGNOR,
)
"""Errors of brokers, not of the group, that an application hears of, and has to do something about."""

COMMIT_FAILS: Final = "commit_fails"
"""The note of a commit whose application gets an exception that is in no response."""

UNANSWERED: Final = (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT)
"""Errors with which a client ends a commit that was not sent, or not answered."""

Deliver = Callable[["Process", Request, int | None], None]
"""``deliver(process, request, cause)``: what the network does with a request."""


class Process:
    """Runs one consumer. While paused, whatever happens to it waits; once killed, nothing does any more."""

    def __init__(
        self,
        consumer: Consumer | ClassicConsumer,
        queue: EventQueue,
        log: Log,
        deliver: Deliver,
        names: Callable[[Partitions], dict[str, list[int]]],
        next_id: Callable[[], str] | None = None,
    ) -> None:
        self.consumer = consumer
        self.member_id = consumer.config.member_id
        """Of a member of the classic protocol the one that it has, or will be given next."""
        self.host = self.member_id
        """What the network knows it by, for as long as the process lives."""
        self.name = self.host.partition("~")[0]
        """The scenario's, of whichever process of the member: ACLs are of principals."""
        self.alive = True
        self.failed_fatally: Callable[[], None] | None = None
        """Called once if an error ends its consumer."""
        self.raises = False
        """Whether the callback that ends next raises."""
        self.broker: str | None = None
        """The coordinator as far as it knows; ``None`` where it has to ask."""
        self._clock_ms = 0
        self._queue = queue
        self._log = log
        self._deliver = deliver
        self._names = names
        self._next_id = next_id
        self.reaches: Callable[[], bool] | None = None
        """Whether it can fetch from some broker; ``None`` where nobody asks what it reads."""
        self.may_read: Callable[[str], bool] = lambda _topic: True
        """Whether a broker lets it fetch from a topic."""
        self._last_noted = NOTHING
        self._noted_as = self.member_id
        self._noted_denied: list[str] = []
        self._noted_ahead: tuple[tuple[str, int], ...] = ()
        self._asked_for_id = False
        # Others do more with an alarm, and with an answer.
        self._plain = type(consumer) is Consumer
        self._modern = isinstance(consumer, Consumer)
        self._paused = False
        self._waiting: list[Callable[[], None]] = []
        self._alarm = 0
        self._alarm_ms: int | None = None
        self._successor: Callable[[], None] | None = None

    @property
    def now_ms(self) -> int:
        """The process's own clock."""
        return self._queue.now_ms + self._clock_ms

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def followed(self) -> bool:
        """Whether another is to start when this one has closed."""
        return self._successor is not None

    def timeout_ms(self, request: Request) -> int:
        return self.consumer.timeout_ms(request)

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        waiting, self._waiting = self._waiting, []
        for happen in waiting:
            happen()

    def jump_clock(self, by_ms: int) -> None:
        """Its clock is set forward or, below 0, back: what it waits for comes so much earlier or later."""
        self._clock_ms += by_ms
        self._set_alarm(self._alarm_ms)

    def kill(self) -> None:
        self.alive = False
        self._waiting.clear()
        self._successor = None

    def follow(self, start: Callable[[], None] | None) -> None:
        """What starts when this process, which is closing, has closed; ``None`` if nothing is to follow any more."""
        self._successor = start

    def ended(self) -> None:
        """The close of a static member of the classic protocol, which sends nothing, is over at once."""
        start = self._successor
        if start is not None and not self._modern and self.consumer.ended:
            self._successor = None
            start()

    def act(self, effects: list[Effect], cause: int | None) -> None:
        """Does what the consumer asks for, in its order."""
        for effect in effects:
            match effect:
                case Send(request=request):
                    if isinstance(request, JoinGroup) and request.member_id == NO_MEMBER_ID:
                        self._ask_for_id()
                    self._deliver(self, request, cause)
                case Returned(operation=Operation.POLL, exception=str() as exception, error_code=code) if (
                    not self._modern or code in THROWN
                ):
                    payload = {"fault": POLL_THROWS, "member": self.member_id, "exception": exception}
                    self._log.write(Kind.FAULT, self.member_id, self._queue.now_ms, payload, cause=cause)
                case Returned(
                    operation=Operation.COMMIT_ASYNC, exception=str() as exception, error_code=code
                ) if code in UNANSWERED:
                    ended = {"note": COMMIT_FAILS, "exception": exception}
                    self._log.write(Kind.NOTE, self.member_id, self._queue.now_ms, ended, cause=cause)
                case Planned(withheld=withheld):
                    note = {"note": "withheld", "withheld": withheld}
                    self._log.write(Kind.NOTE, self.member_id, self._queue.now_ms, note, cause=cause)
                case Call():
                    cause = self._call(effect, cause)
                case Alarm(at_ms=at_ms):
                    self._set_alarm(at_ms)
        if self.reaches is not None:
            self.note_reading(cause)
        if self.consumer.fatal and self.failed_fatally is not None:
            report, self.failed_fatally = self.failed_fatally, None
            report()

    def note_reading(self, cause: int | None) -> None:
        """Writes down what it reads from here on, if that has changed. Between two such notes it reads on evenly."""
        if self.reaches is None:
            return
        now, before, former = NOTHING, self._last_noted, self._noted_as
        if self.alive:
            now = self.consumer.reading(self.now_ms)
            now = now._replace(fetches=now.fetches and not self._paused and self.reaches())
        if not now.partitions:
            now = NOTHING
        names = self._names(now.partitions)
        denied = [topic for topic in names if not self.may_read(topic)]
        moved = former != self.member_id and bool(now.partitions)
        if now == before and denied == self._noted_denied and not moved and not self._forgotten(names):
            return
        self._last_noted, self._noted_as, self._noted_denied = now, self.member_id, denied
        self._noted_ahead = self._ahead(names)
        note: ReadsNote = {"note": READS, "partitions": names, "fetches": now.fetches}
        if denied:
            note["denied"] = denied
        if now.busy != before.busy and now.partitions and before.partitions:
            note["busy"] = now.busy
        if former != self.member_id and before.partitions:
            note["former"] = former
        self._log.write(Kind.NOTE, self.member_id, self._queue.now_ms, note, cause=cause)

    def _forgotten(self, names: Mapping[str, Sequence[int]]) -> bool:
        """Whether a topic was deleted and made again since it reported to read it: under its name it reads on. Or whether it
        reported so of partitions that the coordinator had not seen, and now has."""
        consumption = self._log.state.consumption
        if consumption is None:
            return False
        read, topics = consumption.members.get(self.member_id, {}), consumption.topics
        return any(name in topics and name not in read for name in names) or any(
            number in topics[name].partitions
            and self.member_id not in topics[name].partitions[number].readers
            for name, number in self._noted_ahead
        )

    def _ahead(self, names: Mapping[str, Sequence[int]]) -> tuple[tuple[str, int], ...]:
        """Partitions that are added, of which it hears before the coordinator."""
        consumption = self._log.state.consumption
        topics = consumption.topics if consumption is not None else {}
        return tuple(
            (name, number)
            for name, numbers in names.items()
            if name in topics and numbers and max(numbers) >= len(topics[name].partitions)
            for number in numbers
            if number not in topics[name].partitions
        )

    def _ask_for_id(self) -> None:
        """The coordinator draws an id for each who has none; the first of a process is the process's own name."""
        if self._asked_for_id and self._next_id is not None:
            self.member_id = self._next_id()
        self._asked_for_id = True

    def answered(self, request: Request, answer: Answer, cause: int | None) -> None:
        """An answer arrived; ``cause`` is its entry. Closing waits for the answer to the leave, if it said one."""

        if isinstance(request, TransactionalCommit):
            return  # Its producer's, of which the consumer knows nothing.

        def taken() -> None:
            if (
                isinstance(request, JoinGroup)
                and isinstance(answer, JoinAnswer)
                and request.member_id == NO_MEMBER_ID
                and answer.error_code in TURNED_AWAY
            ):
                # Nobody drew an id for it, so that the one it was to have is still to be had.
                self._asked_for_id = False
            self.act(self.consumer.receive(request, answer, self.now_ms), cause)
            self._succeeded(request)

        if (
            self._plain
            and self.alive
            and not self._paused
            and type(answer) is HeartbeatAnswer
            and isinstance(self.consumer, Consumer)
            and self.consumer.fast_path_receive(request, answer, self.now_ms)
        ):
            self._succeeded(request)
        else:
            self._happens(taken)

    def failed(self, request: Request, failure: Failure) -> None:
        """No answer will come; closing waits for none, then."""

        if isinstance(request, TransactionalCommit):
            return

        def given_up() -> None:
            self.act(self.consumer.failed(request, failure, self.now_ms), None)
            self._succeeded(request)

        self._happens(given_up)

    def _succeeded(self, request: Request) -> None:
        start = self._successor
        if start is not None and self.consumer.left_by(request):
            self._successor = None
            start()

    def _call(self, call: Call, cause: int | None) -> int:
        partitions = self._names(call.partitions)

        def entry(phase: str, because: int | None, *, raised: bool = False) -> int:
            payload: dict[str, object] = {
                "callback": str(call.callback),
                "phase": phase,
                "partitions": partitions,
            }
            if raised:
                payload["raised"] = True
            return self._log.write(Kind.CALLBACK, self.member_id, self._queue.now_ms, payload, cause=because)

        started = entry("start", cause)

        def returned() -> None:
            raised, self.raises = self.raises, False
            self.act(self.consumer.called(self.now_ms, raised), entry("end", started, raised=raised))
            self.ended()

        self._queue.plan(self._queue.now_ms + call.length_ms, _CLIENT, lambda: self._happens(returned))
        return started

    def _set_alarm(self, at_ms: int | None) -> None:
        self._alarm += 1
        self._alarm_ms = at_ms
        if at_ms is None:
            return
        self._queue.plan(at_ms - self._clock_ms, _CLIENT, partial(self._due, self._alarm))

    def _due(self, number: int) -> None:
        if number != self._alarm:
            return  # A later alarm has replaced this one: nothing is left to wait for a paused process.
        if self._plain and self.alive and not self._paused and isinstance(self.consumer, Consumer):
            request = self.consumer.fast_path_ring(self.now_ms)
            if request is not None:
                self._deliver(self, request, None)
                self._set_alarm(self.consumer.alarm_ms)
                return
        self._happens(partial(self._ring, number))

    def _ring(self, number: int) -> None:
        if number == self._alarm:
            self.act(self.consumer.ring(self.now_ms), None)

    def _happens(self, happen: Callable[[], None]) -> None:
        if not self.alive:
            return
        if self._paused:
            self._waiting.append(happen)
        else:
            happen()
