"""A process with a consumer in it: it can stand still, go on, and be gone. What it wants done goes to the world."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from groups.history.entries import Kind
from simulations.protocol.client.consumer import Alarm, Call, Consumer, Effect, Failure, Request, Send
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer, Partitions
from simulations.world.engine.log import Log
from simulations.world.engine.queue import EventQueue, Priority

Deliver = Callable[["Process", Request, int | None], None]
"""``deliver(process, request, cause)``: what the network does with a request."""


class Process:
    """Runs one consumer. While paused, whatever happens to it waits; once killed, nothing does any more."""

    def __init__(
        self,
        consumer: Consumer,
        queue: EventQueue,
        log: Log,
        deliver: Deliver,
        names: Callable[[Partitions], dict[str, list[int]]],
    ) -> None:
        self.consumer = consumer
        self.member_id = consumer.config.member_id
        self.alive = True
        self.raises = False
        """Whether the callback that ends next raises."""
        self.broker: str | None = None
        """The coordinator as far as it knows; ``None`` where it has to ask."""
        self._clock_ms = 0
        self._queue = queue
        self._log = log
        self._deliver = deliver
        self._names = names
        # Others do more with an alarm, and with an answer.
        self._plain = type(consumer) is Consumer
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

    def act(self, effects: list[Effect], cause: int | None) -> None:
        """Does what the consumer asks for, in its order."""
        for effect in effects:
            match effect:
                case Send(request=request):
                    self._deliver(self, request, cause)
                case Call():
                    cause = self._call(effect, cause)
                case Alarm(at_ms=at_ms):
                    self._set_alarm(at_ms)

    def answered(self, request: Request, answer: Any, cause: int | None) -> None:
        """An answer arrived; ``cause`` is its entry. Closing waits for the answer to the leave, if it said one."""

        def taken() -> None:
            self.act(self.consumer.receive(request, answer, self.now_ms), cause)
            self._succeeded(request)

        if (
            self._plain
            and self.alive
            and not self._paused
            and type(answer) is HeartbeatAnswer
            and self.consumer.fast_path_receive(request, answer, self.now_ms)
        ):
            self._succeeded(request)
        else:
            self._happens(taken)

    def failed(self, request: Request, failure: Failure) -> None:
        """No answer will come; closing waits for none, then."""

        def given_up() -> None:
            self.act(self.consumer.failed(request, failure, self.now_ms), None)
            self._succeeded(request)

        self._happens(given_up)

    def _succeeded(self, request: Request) -> None:
        start = self._successor
        if start is None or not isinstance(request, Heartbeat) or not self.consumer.closed:
            return
        if request.member_epoch == self.consumer.epoch:
            self._successor = None
            start()

    def _call(self, call: Call, cause: int | None) -> int:
        partitions = self._names(call.partitions)

        def entry(phase: str, because: int | None, *, raised: bool = False) -> int:
            payload: dict[str, Any] = {
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

        self._queue.plan(
            self._queue.now_ms + call.length_ms, Priority.CLIENT, lambda: self._happens(returned)
        )
        return started

    def _set_alarm(self, at_ms: int | None) -> None:
        self._alarm += 1
        self._alarm_ms = at_ms
        if at_ms is None:
            return
        self._queue.plan(at_ms - self._clock_ms, Priority.CLIENT, partial(self._due, self._alarm))

    def _due(self, number: int) -> None:
        if number != self._alarm:
            return  # A later alarm has replaced this one: nothing is left to wait for a paused process.
        if self._plain and self.alive and not self._paused:
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
