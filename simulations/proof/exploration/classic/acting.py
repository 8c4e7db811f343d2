"""Takes the steps of processes: what their clients do, and what of it breaks a rule of theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from groups.wire.errors import RecordError
from simulations.invariants.classic_clients import CALLBACKS
from simulations.invariants.classic_rounds import JOINS_WITH, OWNED_VERSION
from simulations.invariants.mixed import FENCES
from simulations.invariants.violations import named
from simulations.proof.exploration.classic.entries import GroupAnswer
from simulations.proof.exploration.classic.processes import ClassicProcess, Client, Done
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.classic.errors import MEMBER_ID_REQUIRED
from simulations.protocol.client.consumer import Call, Callback, Consumer, Effect, Send
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.coordinator.classic.messages import (
    NO_GENERATION,
    NO_MEMBER_ID,
    ClassicHeartbeatAnswer,
    JoinAnswer,
    JoinGroup,
    LeaveAnswer,
    SyncAnswer,
)
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer, Partitions

GO_ON_MOST: Final = 8
"""Back-offs that are over one after the other, without anything sent in between."""


@dataclass(slots=True)
class ClassicProcesses:
    """Takes the steps of processes."""

    bits: Bits
    names: Mapping[str, str] = field(default_factory=dict)
    """Topic id → name."""
    reduced: bool = True

    def act(self, process: ClassicProcess, act: Callable[[Client], list[Effect]]) -> Done:
        """The client does something of its own accord."""
        consumer = process.consumer.copy()
        return self.after(process, consumer, act(consumer))

    def beat(self, process: ClassicProcess) -> Done:
        """It sends a heartbeat, if it may now."""
        return self.act(process, _beats)

    def answered(self, process: ClassicProcess) -> Done:
        """Its oldest answer arrives."""
        (request, answer), *rest = process.answers
        process = replace(process, answers=tuple(rest))
        if isinstance(request, JoinGroup) and request.member_id == NO_MEMBER_ID:
            assert isinstance(answer, JoinAnswer)
            if answer.error_code not in (0, MEMBER_ID_REQUIRED):
                # Nobody drew an id for it, so that the one it was to have is still to be had.
                process = replace(process, asked=False)
        consumer = process.consumer.copy()
        effects = consumer.receive(request, answer, NOW_MS)
        if process.unbegun and isinstance(answer, HeartbeatAnswer) and answer.assigned is not None:
            # Now it has heard. What it is about to begin with it does begin with.
            process = replace(process, unbegun=process.unbegun & self._under_way(consumer))
        return self.after(process, consumer, effects)

    def told(self, process: ClassicProcess, ticket: int, answer: GroupAnswer) -> Done:
        """The coordinator answers the request with this ticket; nothing if nobody waits for that."""
        found = [request for other, request in process.parked if other == ticket]
        if not found:
            return Done(process)
        (request,) = found
        parked = tuple(each for each in process.parked if each[0] != ticket)
        process = replace(process, parked=parked)
        if process.deaf:
            return Done(process)
        process, kept = self._heard(process, answer)
        process = replace(process, answers=(*process.answers, (request, answer)))
        if self.reduced and process.runs and self._is_quiet(process):
            done = self.answered(process)
            return replace(done, kept=kept)
        return Done(process, kept=kept)

    def _heard(self, process: ClassicProcess, answer: GroupAnswer) -> tuple[ClassicProcess, int]:
        """The checker's account of what the coordinator has told, from when it says so."""
        code = getattr(answer, "error_code", 0)
        if code in FENCES or isinstance(answer, LeaveAnswer):
            return replace(process, out=True), 0
        if isinstance(answer, JoinAnswer) and not code:
            return replace(process, generation=answer.generation, out=False), 0
        if isinstance(answer, HeartbeatAnswer) and not code:
            return replace(process, out=answer.member_epoch < 0), 0
        if isinstance(answer, SyncAnswer) and not code and process.lapsed:
            kept = self.mask_of_bytes(answer.assignment) & process.lapsed
            return replace(process, lapsed=process.lapsed & ~kept), kept
        return process, 0

    def disconnected(self, process: ClassicProcess) -> Done:
        """Its connection breaks: what is on its way is lost, in both directions."""
        lost = [request for request, _ in process.answers]
        return self._unanswered(process, lost)

    def moved(self, process: ClassicProcess) -> Done:
        """Its requests come to a broker that is not the coordinator any more: it has to find the other one."""
        return self._unanswered(replace(process, stale=False), [])

    def unanswered(self, process: ClassicProcess, ticket: int) -> Done:
        """It gives up waiting for a request that is never answered."""
        (request,) = [request for other, request in process.parked if other == ticket]
        process = replace(process, parked=tuple(each for each in process.parked if each[0] != ticket))
        consumer = process.consumer.copy()
        return self.after(process, consumer, consumer.failed(request, Failure.TIMED_OUT, NOW_MS))

    def _unanswered(self, process: ClassicProcess, lost: list[Request]) -> Done:
        lost = [*lost, *(request for _, request in process.parked)]
        lost += [request for request, wanted, _ in process.requests if wanted]
        process = replace(process, requests=(), parked=(), answers=())
        if not process.alive:
            return Done(process)
        consumer = process.consumer.copy()
        effects: list[Effect] = []
        for request in lost:
            effects += consumer.failed(request, Failure.DISCONNECTED, NOW_MS)
        return self.after(process, consumer, effects)

    def returned(self, process: ClassicProcess) -> Done:
        """The callback that runs is over."""
        call = process.calling
        assert call is not None
        owned = process.owned
        if call.callback is not Callback.ASSIGNED:
            owned &= ~self.mask(call.partitions)
        consumer = process.consumer.copy()
        effects = consumer.called(NOW_MS)
        before = replace(process, calling=None, owned=owned, lapsed=process.lapsed & owned)
        return self.after(before, consumer, effects)

    def taken(self, process: ClassicProcess, request: Request, gone: int, held: int) -> ClassicProcess:
        """A heartbeat of it has cost it ``gone``; ``held`` is what the group holds for it now."""
        if not isinstance(request, Heartbeat):
            return process
        unsaid = gone & process.owned & ~process.said
        # Only who says what it owns can leave out what it has not begun with.
        unnamed = gone if request.owned is not None else 0
        unbegun = self._may_begin(process, unnamed | process.unbegun & ~held)
        return replace(process, misunderstood=process.misunderstood | unsaid, unbegun=unbegun)

    def _may_begin(self, process: ClassicProcess, partitions: int) -> int:
        """Those of the partitions with which it will begin if it hears nothing else."""
        consumer = process.consumer
        if not partitions or process.deaf or not isinstance(consumer, Consumer):
            return 0
        return partitions & (self.mask(consumer.target) | self._under_way(consumer)) & ~process.owned

    def _under_way(self, consumer: Client) -> int:
        found = 0
        for partitions in consumer.under_way if isinstance(consumer, Consumer) else ():
            found |= self.mask(partitions)
        return found

    def killed(self, process: ClassicProcess) -> Done:
        """It is gone; what it has sent is still on its way."""
        requests = tuple((request, False, who) for request, _, who in process.requests)
        return Done(
            ClassicProcess(consumer=process.consumer, alive=False, requests=requests, ids=process.ids)
        )

    def _is_quiet(self, process: ClassicProcess) -> bool:
        """Whether its only answer tells it nothing but that it may go on."""
        if len(process.answers) != 1:
            return False
        ((request, answer),) = process.answers
        if isinstance(answer, ClassicHeartbeatAnswer):
            return not answer.error_code
        if isinstance(answer, LeaveAnswer):
            return True
        consumer = process.consumer
        if not isinstance(answer, HeartbeatAnswer) or not isinstance(consumer, Consumer):
            return False
        if answer.error_code or answer.member_epoch != consumer.epoch or answer.assigned is not None:
            return False
        if not consumer.awaits(request) or consumer.state is MemberState.JOINING:
            return False
        twin = consumer.copy()
        effects = twin.receive(request, answer, NOW_MS)
        return twin.state is consumer.state and not any(isinstance(each, Send | Call) for each in effects)

    def after(self, process: ClassicProcess, consumer: Client, effects: list[Effect]) -> Done:
        """The process when its client has become this one and wants these things done."""
        wrong: list[tuple[str, str]] = []
        gained, called = 0, []
        queue = list(effects)
        for _ in range(GO_ON_MOST):
            while queue:
                effect = queue.pop(0)
                if isinstance(effect, Send):
                    process, broken = self._sends(process, consumer, effect.request)
                    wrong += broken
                elif isinstance(effect, Call):
                    wrong += self._begins(process, effect)
                    mask = self.mask(effect.partitions)
                    if effect.callback is Callback.ASSIGNED:
                        gained |= mask & ~process.unbegun
                        misunderstood = process.misunderstood | mask & process.unbegun
                        process = replace(process, owned=process.owned | mask, misunderstood=misunderstood)
                    if self._takes_no_time(process, effect):
                        called.append(effect)
                        queue += consumer.called(NOW_MS)
                    else:
                        process = replace(process, calling=effect)
            if not isinstance(consumer, ClassicConsumer) or process.paused or not consumer.waits(NOW_MS):
                break
            queue = consumer.go_on(NOW_MS)
            if not queue:
                break
        after = replace(process, consumer=consumer, misunderstood=process.misunderstood & process.owned)
        if after.unbegun:
            after = replace(after, unbegun=self._may_begin(after, after.unbegun))
        if after.deaf:
            unwanted = tuple((request, False, who) for request, _, who in after.requests)
            after = replace(after, requests=unwanted, answers=(), parked=())
        return Done(after, tuple(wrong), gained, called=tuple(called))

    def _takes_no_time(self, process: ClassicProcess, call: Call) -> bool:
        """A classic member that takes what it was given is not waited for by anybody, and it reads that from the beginning on."""
        if not process.speaks_classic or call.callback is not Callback.ASSIGNED:
            return False
        return self.reduced or not call.partitions

    def _sends(
        self, process: ClassicProcess, consumer: Client, request: Request
    ) -> tuple[ClassicProcess, list[tuple[str, str]]]:
        wrong: list[tuple[str, str]] = []
        if isinstance(request, Heartbeat):
            calling = process.calling
            begins = calling is not None and calling.callback is Callback.ASSIGNED
            beginning = self.mask(calling.partitions) if calling is not None and begins else 0
            process = replace(process, said=process.owned & ~beginning)
        if isinstance(request, JoinGroup):
            if request.member_id == NO_MEMBER_ID:
                ids = process.ids + process.asked
                process = replace(
                    process, ids=ids, asked=True, lapsed=process.owned, generation=NO_GENERATION
                )
            claims = self._claimed(request)
            if claims is not None and (which := claims ^ process.owned):
                who, what = process.member_id, named(self.bits.partitions(which))
                wrong.append(
                    (JOINS_WITH, f"{who} joins, and what it names and what it owns differ by {what}")
                )
        return replace(process, requests=(*process.requests, (request, True, process.member_id))), wrong

    def _begins(self, process: ClassicProcess, call: Call) -> list[tuple[str, str]]:
        """What is wrong with a callback that begins; of a client of the consumer protocol nothing is asked here."""
        if not process.speaks_classic:
            return []
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
        return wrong

    def _claimed(self, request: JoinGroup) -> int | None:
        """What a JoinGroup names as owned; ``None`` where its client is too old to name anything."""
        if not request.protocols:
            return None
        try:
            told = decode_subscription(request.protocols[0][1])
        except RecordError:
            return None
        if told["version"] < OWNED_VERSION:
            return None
        return self.bits.of(
            (topic["topic"], number)
            for topic in told.get("ownedPartitions", ())
            for number in topic["partitions"]
        )

    def mask(self, partitions: Partitions) -> int:
        """Bits of partitions by topic id or name."""
        return self.bits.of(
            (self.names.get(topic, topic), number)
            for topic, numbers in partitions.items()
            for number in numbers
        )

    def mask_of_bytes(self, assignment: bytes) -> int:
        """Bits of what SyncGroup gave."""
        if not assignment:
            return 0
        try:
            told = decode_assignment(assignment)
        except RecordError:
            return 0
        return self.bits.of(
            (topic["topic"], number) for topic in told["assignedPartitions"] for number in topic["partitions"]
        )


def _beats(consumer: Client) -> list[Effect]:
    effects = consumer.beat(NOW_MS)
    if isinstance(consumer, ClassicConsumer) or any(isinstance(effect, Send) for effect in effects):
        return effects
    # It had to find the coordinator first; how long it waits in between decides nothing.
    return effects + consumer.beat(NOW_MS)
