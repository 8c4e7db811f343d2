"""A process of a world: a consumer, what is on its way between it and the coordinator, and the checker's account of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from simulations.invariants import rules
from simulations.proof.exploration.canonical import Rename, canonical
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import Answer, Request, Wrongs
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.client.consumer import Call, Callback, Consumer, Effect, Send
from simulations.protocol.client.consumer.errors import Failure
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import JOIN_EPOCH, Heartbeat, HeartbeatAnswer, OffsetCommit


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One state; the consumer is never changed, a step takes a copy of it.

    ``requests`` are on their way to the coordinator, each with whether its answer is still wanted, ``answers`` on
    theirs back, oldest first. ``stale``: the coordinator has moved, and the process does not know it yet.
    ``follows``: another process of the member starts when this one has closed.

    ``owned`` is the checker's own account, by callbacks; ``said`` what of it the last heartbeat could know of, and
    ``misunderstood`` what the group took it to be rid of because of one that could not. ``unbegun`` is what the group
    took it to be rid of before it had begun with it, as long as it may: until it has heard of that, and the
    reconciliation that is in progress by then is over. ``revoked`` is what it gave up since it was last assigned
    something.
    """

    consumer: Consumer
    alive: bool = True
    paused: bool = False
    follows: bool = False
    requests: tuple[tuple[Request, bool], ...] = ()
    answers: tuple[tuple[Request, Answer], ...] = ()
    stale: bool = False
    owned: int = 0
    said: int = 0
    misunderstood: int = 0
    unbegun: int = 0
    revoked: int = 0
    calling: Call | None = None
    thrown_out: bool = False

    @property
    def member_id(self) -> str:
        return self.consumer.config.member_id

    @property
    def runs(self) -> bool:
        return self.alive and not self.paused

    @property
    def counts(self) -> bool:
        """Whether the group may be expected to have it as a member."""
        return self.runs and not self.consumer.closed and not self.consumer.ended

    @property
    def deaf(self) -> bool:
        """Whether no answer means anything to it any more."""
        return not self.alive or (not self.follows and (self.consumer.closed or self.consumer.ended))

    def key(self, rename: Rename) -> Hashable:
        requests = tuple((canonical(request, rename), wanted) for request, wanted in self.requests)
        if not self.alive:
            return self.member_id, requests
        awaits = self.consumer.awaits
        return (
            self.member_id,
            requests,
            self.consumer.canonical(rename),
            # What a request said is not looked at again: it is answered for being the one that is waited for.
            tuple(awaits(request) for request, wanted in self.requests if wanted),
            tuple((canonical(answer, rename), awaits(request)) for request, answer in self.answers),
            self.paused,
            self.follows,
            self.stale,
            self.owned,
            self.said & self.owned if self.requests else 0,
            self.misunderstood,
            self.unbegun,
            self.revoked,
            self.calling.callback if self.calling is not None else None,
            self.thrown_out,
        )


@dataclass(frozen=True, slots=True)
class Done:
    """A step of a process. ``effects`` are all that its consumer wanted, in order."""

    after: Process
    wrong: Wrongs = ()
    effects: tuple[Effect, ...] = ()


@dataclass(slots=True)
class Processes:
    """Takes the steps of processes."""

    bits: Bits
    names: Mapping[str, str] = field(default_factory=dict)
    """Topic id → name, for sentences."""

    def act(self, process: Process, act: Callable[[Consumer], list[Effect]]) -> Done:
        """The consumer does something of its own accord."""
        consumer = process.consumer.copy()
        return self._after(process, consumer, act(consumer))

    def beat(self, process: Process) -> Done:
        """It sends a heartbeat, if it may now."""
        return self.act(process, _beats)

    def answered(self, process: Process) -> Done:
        """Its oldest answer arrives."""
        (request, answer), *rest = process.answers
        consumer = process.consumer.copy()
        effects = consumer.receive(request, answer, NOW_MS)
        refused = isinstance(answer, HeartbeatAnswer) and answer.error_code != 0
        taken = replace(process, answers=tuple(rest), thrown_out=process.thrown_out or refused)
        if process.unbegun and isinstance(answer, HeartbeatAnswer) and answer.assigned is not None:
            # Now it has heard. What it is about to begin with it does begin with.
            taken = replace(taken, unbegun=process.unbegun & self._under_way(consumer))
        return self._after(taken, consumer, effects)

    def disconnected(self, process: Process) -> Done:
        """Its connection breaks: what is on its way is lost, in both directions."""
        lost = [request for request, _ in process.answers]
        return self._unanswered(replace(process, requests=(), answers=()), process, lost)

    def moved(self, process: Process) -> Done:
        """Its requests come to a broker that is not the coordinator any more: it has to find the other one."""
        return self._unanswered(replace(process, requests=(), stale=False), process, [])

    def _unanswered(self, process: Process, before: Process, lost: list[Request]) -> Done:
        lost += [request for request, wanted in before.requests if wanted]
        if not process.alive:
            return Done(process)
        consumer = process.consumer.copy()
        effects: list[Effect] = []
        for request in lost:
            effects += consumer.failed(request, Failure.DISCONNECTED, NOW_MS)
        return self._after(process, consumer, effects)

    def returned(self, process: Process) -> Done:
        """The callback that runs is over."""
        call = process.calling
        assert call is not None
        owned, revoked = process.owned, process.revoked
        if call.callback is Callback.LOST:
            owned = 0
        elif call.callback is Callback.REVOKED:
            mask = self.bits.of_topics(call.partitions)
            owned, revoked = owned & ~mask, revoked | mask
        consumer = process.consumer.copy()
        effects = consumer.called(NOW_MS)
        return self._after(replace(process, calling=None, owned=owned, revoked=revoked), consumer, effects)

    def may_begin(self, process: Process, partitions: int) -> int:
        """Those of the partitions with which it will begin if it hears nothing else."""
        if not partitions or process.deaf:
            return 0
        consumer = process.consumer
        to_come = self.bits.of_topics(consumer.target) | self._under_way(consumer)
        return partitions & to_come & ~process.owned

    def _under_way(self, consumer: Consumer) -> int:
        mask = 0
        for partitions in consumer.under_way:
            mask |= self.bits.of_topics(partitions)
        return mask

    def killed(self, process: Process) -> Done:
        """It is gone; what it has sent is still on its way."""
        requests = tuple((request, False) for request, _ in process.requests)
        return Done(Process(consumer=process.consumer, alive=False, requests=requests))

    def is_quiet(self, process: Process) -> bool:
        """Whether its only answer tells it nothing but that it may send the next heartbeat."""
        if len(process.answers) != 1 or any(wanted for _, wanted in process.requests):
            return False
        ((request, answer),) = process.answers
        consumer = process.consumer
        if not isinstance(answer, HeartbeatAnswer) or answer.error_code or not consumer.awaits(request):
            return False
        if answer.member_epoch != consumer.epoch or answer.assigned is not None or answer.compute:
            return False
        done = self.answered(process)
        return (
            consumer.state is not MemberState.JOINING
            and done.after.consumer.state is consumer.state
            and not any(isinstance(effect, Send | Call) for effect in done.effects)
        )

    def _after(self, process: Process, consumer: Consumer, effects: list[Effect]) -> Done:
        wrong: list[rules.Wrong] = []
        requests = list(process.requests)
        revoked, misunderstood = process.revoked, process.misunderstood
        owned, said, calling, thrown_out = process.owned, process.said, process.calling, process.thrown_out
        for effect in effects:
            if isinstance(effect, Send):
                request = effect.request
                assert isinstance(request, Heartbeat | OffsetCommit), "no other request was configured"
                requests.append((request, True))
                if isinstance(request, Heartbeat):
                    begins = calling is not None and calling.callback is Callback.ASSIGNED
                    said = owned & ~self.bits.of_topics(calling.partitions) if calling and begins else owned
                    thrown_out = request.member_epoch < JOIN_EPOCH or (
                        thrown_out and request.member_epoch != JOIN_EPOCH
                    )
                else:
                    committed = self.bits.of((each.topic_id, each.partition) for each in request.offsets)
                    wrong += rules.commits_strange(process.member_id, self._named(committed & ~owned))
            elif isinstance(effect, Call):
                mask = self.bits.of_topics(effect.partitions)
                wrong += rules.callback_begins(
                    process.member_id,
                    str(effect.callback),
                    self._named(mask),
                    owned=self._named(owned),
                    revoked=self._named(revoked),
                    running=str(calling.callback) if calling is not None else None,
                    thrown_out=thrown_out,
                )
                calling = effect
                if effect.callback is Callback.ASSIGNED:
                    owned, revoked = owned | mask, 0
                    misunderstood |= mask & process.unbegun
        after = replace(
            process,
            consumer=consumer,
            requests=tuple(requests),
            owned=owned,
            said=said,
            revoked=revoked,
            misunderstood=misunderstood & owned,
            calling=calling,
            thrown_out=thrown_out,
        )
        if after.unbegun:
            after = replace(after, unbegun=self.may_begin(after, after.unbegun))
        if after.deaf:
            unwanted = tuple((request, False) for request, _ in after.requests)
            after = replace(after, requests=unwanted, answers=())
        return Done(after, tuple((invariant, says) for invariant, says, _ in wrong), tuple(effects))

    def _named(self, mask: int) -> set[tuple[str, int]]:
        return {
            (self.names.get(topic_id, topic_id), number) for topic_id, number in self.bits.partitions(mask)
        }


def _beats(consumer: Consumer) -> list[Effect]:
    effects = consumer.beat(NOW_MS)
    if any(isinstance(effect, Send) for effect in effects):
        return effects
    # It had to find the coordinator first; how long it waits in between decides nothing.
    return effects + consumer.beat(NOW_MS)
