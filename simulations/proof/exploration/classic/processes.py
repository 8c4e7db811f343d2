"""A process of a group with classic members; its client speaks either protocol."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from simulations.invariants.classic_clients import CALLBACKS
from simulations.invariants.classic_rounds import JOINS_WITH, OWNED_VERSION
from simulations.invariants.mixed_clients import FENCES
from simulations.invariants.violations import named
from simulations.proof.exploration.canonical import Rename, of_message
from simulations.proof.exploration.coordinator_entries import NOW_MS, Answer
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.partition_bits import Bits
from simulations.proof.exploration.processes import Client, Done, Process, Processes, changes_nothing
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Call, Callback, Effect
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.messages.classic_requests import (
    NO_GENERATION,
    NO_MEMBER_ID,
    ClassicHeartbeatAnswer,
    JoinAnswer,
    JoinGroup,
    LeaveAnswer,
    SyncAnswer,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import HeartbeatAnswer, Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicProcess(Process):
    """``ids`` counts the ids that were asked for beyond the first, ``asked``: one is asked for now.

    Of the checker's own account: ``lapsed`` is what of ``owned`` comes from a membership that is over, ``generation`` what the
    coordinator reported it last, ``out``: it was fenced or has left, and may not know it yet.
    """

    ids: int = 0
    asked: bool = False
    lapsed: int = 0
    generation: int = NO_GENERATION
    out: bool = False

    @property
    def member_id(self) -> str:
        first = self.consumer.config.member_id
        if not self.ids:
            return first
        return f"{first}.{self.ids}" if "~" in first else f"{first}~1.{self.ids}"

    @property
    def speaks_classic(self) -> bool:
        return isinstance(self.consumer, ClassicConsumer)

    @property
    def deaf(self) -> bool:
        return not self.alive or (not self.follows and self.over and self.calling is None)

    @property
    def has_closed(self) -> bool:
        return self.follows and self.over and self.calling is None

    @property
    def idle(self) -> bool:
        """Whether nothing of it is under way."""
        return not (self.requests or self.parked or self.answers or self.stale or self.calling)

    @property
    def rests(self) -> bool:
        return self.idle and (not isinstance(self.consumer, ClassicConsumer) or self.consumer.rests)

    def own_part(self, rename: Rename) -> tuple[Hashable, ...]:
        awaits = self.consumer.awaits
        return (
            tuple((ticket, of_message(request, rename), awaits(request)) for ticket, request in self.parked),
            tuple(of_message(request, rename) for request, _ in self.answers),
            self.asked,
            self.lapsed,
            self.generation,
            self.out,
        )


class ClassicProcesses(Processes[ClassicProcess]):
    """Takes the steps of processes; partitions stand under topic names."""

    def __init__(self, bits: Bits, names: dict[str, str], *, reduced: bool) -> None:
        super().__init__(bits, names)
        self._reduced = reduced

    def fresh(self, client: Client) -> ClassicProcess:
        return ClassicProcess(consumer=client)

    def mask(self, partitions: Partitions) -> int:
        return self.bits.of(
            (self.names.get(topic, topic), number)
            for topic, numbers in partitions.items()
            for number in numbers
        )

    def killed(self, process: ClassicProcess) -> Done[ClassicProcess]:
        return Done(replace(super().killed(process).after, ids=process.ids))

    def hears(self, process: ClassicProcess, request: Request, answer: Answer) -> ClassicProcess:
        if isinstance(request, JoinGroup) and request.member_id == NO_MEMBER_ID:
            assert isinstance(answer, JoinAnswer)
            if answer.error_code not in (0, ErrorCode.MEMBER_ID_REQUIRED):
                # Nobody drew an id for it, so that the one it was to have is still to be had.
                return replace(process, asked=False)
        return process

    def goes_on(self, process: ClassicProcess, client: Client) -> list[Effect]:
        if not isinstance(client, ClassicConsumer) or process.paused or not client.waits(NOW_MS):
            return []
        return client.go_on(NOW_MS)

    def takes_no_time(self, process: ClassicProcess, call: Call) -> bool:
        """A classic member that takes what it was given is not waited for by anybody, and it reads that from the beginning on."""
        if not process.speaks_classic or call.callback is not Callback.ASSIGNED:
            return False
        return self._reduced or not call.partitions

    def given_up(self, process: ClassicProcess, call: Call) -> ClassicProcess:
        after = super().given_up(process, call)
        return replace(after, lapsed=after.lapsed & after.owned)

    def unanswered(self, process: ClassicProcess, ticket: int) -> Done[ClassicProcess]:
        """It gives up waiting for a request that is never answered."""
        process, request = _unparked(process, ticket)
        assert request is not None
        client = process.consumer.copy()
        return self.after(process, client, client.failed(request, Failure.TIMED_OUT, NOW_MS))

    # What the coordinator answers.

    def receive(self, process: ClassicProcess, ticket: int, answer: Answer) -> Done[ClassicProcess]:
        """The coordinator answers the request with this ticket; nothing if nobody waits for that."""
        process, request = _unparked(process, ticket)
        if request is None or process.deaf:
            return Done(process)
        process, kept = self._noted(process, answer)
        process = replace(process, answers=(*process.answers, (request, answer)))
        if self._reduced and process.runs and _is_quiet(process):
            return replace(self.answered(process), kept=kept)
        return Done(process, kept=kept)

    def _noted(self, process: ClassicProcess, answer: Answer) -> tuple[ClassicProcess, int]:
        """The checker's account of the coordinator's answers, from the first one on."""
        code = getattr(answer, "error_code", 0)
        if code in FENCES or isinstance(answer, LeaveAnswer):
            return replace(process, out=True), 0
        if isinstance(answer, JoinAnswer) and not code:
            return replace(process, generation=answer.generation, out=False), 0
        if isinstance(answer, HeartbeatAnswer) and not code:
            return replace(process, out=answer.member_epoch < 0), 0
        if isinstance(answer, SyncAnswer) and not code and process.lapsed:
            kept = self._mask_of_bytes(answer.assignment) & process.lapsed
            return replace(process, lapsed=process.lapsed & ~kept), kept
        return process, 0

    # What is wrong with what its client does.

    def sends(
        self, process: ClassicProcess, client: Client, request: Request
    ) -> tuple[ClassicProcess, Wrongs]:
        wrong: Wrongs = ()
        if isinstance(request, JoinGroup):
            if request.member_id == NO_MEMBER_ID:
                ids, lapsed = process.ids + process.asked, process.owned
                process = replace(process, ids=ids, asked=True, lapsed=lapsed, generation=NO_GENERATION)
            claims = self._claimed(request)
            if claims is not None and (which := claims ^ process.owned):
                who, what = process.member_id, named(self.bits.partitions(which))
                wrong = ((JOINS_WITH, f"{who} joins, and what it names and what it owns differ by {what}"),)
        return super().sends(process, client, request)[0], wrong

    def begins(self, process: ClassicProcess, call: Call) -> Wrongs:
        """Of a client of the consumer protocol nothing is asked here."""
        if not process.speaks_classic:
            return ()
        who, mask, wrong = process.member_id, self.mask(call.partitions), []
        if process.calling is not None:
            wrong.append((CALLBACKS, f"{who} runs {call.callback} while {process.calling.callback} runs"))
        if call.callback is Callback.ASSIGNED:
            if again := mask & process.owned:
                what = named(self.bits.partitions(again))
                wrong.append((CALLBACKS, f"{who} is assigned {what}, which it owns"))
        elif strange := mask & ~process.owned:
            what = named(self.bits.partitions(strange))
            wrong.append((CALLBACKS, f"{who} runs {call.callback} for {what}, which it does not own"))
        return tuple(wrong)

    # What members write to each other.

    def _claimed(self, request: JoinGroup) -> int | None:
        """What a JoinGroup names as owned; ``None`` where its client is too old to name anything."""
        if not request.protocols:
            return None
        known = decode_subscription(request.protocols[0][1])
        if known["version"] < OWNED_VERSION:
            return None
        return self.bits.of(
            (topic["topic"], number)
            for topic in known.get("ownedPartitions", ())
            for number in topic["partitions"]
        )

    def _mask_of_bytes(self, assignment: bytes) -> int:
        """Bits of what SyncGroup gave."""
        given = decode_assignment(assignment)["assignedPartitions"] if assignment else ()
        return self.bits.of((topic["topic"], number) for topic in given for number in topic["partitions"])


def _unparked(process: ClassicProcess, ticket: int) -> tuple[ClassicProcess, Request | None]:
    """The process without the parked request of this ticket, and that request if it is there."""
    request = dict(process.parked).get(ticket)
    if request is None:
        return process, None
    return replace(process, parked=tuple(each for each in process.parked if each[0] != ticket)), request


def _is_quiet(process: ClassicProcess) -> bool:
    """Whether its only answer contains nothing but that it may go on."""
    if len(process.answers) != 1:
        return False
    ((request, answer),) = process.answers
    if isinstance(answer, ClassicHeartbeatAnswer):
        return not answer.error_code
    return isinstance(answer, LeaveAnswer) or changes_nothing(process, request, answer)
