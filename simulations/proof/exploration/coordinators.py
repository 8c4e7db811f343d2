"""The coordinator's side of a world: a shard, its timers and tasks, and the checker's model of the group beside it.

A step of the coordinator depends on nothing else, so each is taken and checked once for each state it is taken in,
however many worlds share that state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from groups.history.entries import Entry, NotedTopic
from groups.history.state.consumer import ConsumerGroup, ResolvedRegex
from groups.history.state.group import Semantics
from simulations.invariants import rules
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.model import Topics
from simulations.invariants.violations import Violations, named
from simulations.proof.exploration.canonical import Rename, as_they_are, canonical, frozen
from simulations.proof.exploration.coordinator_entries import NOW_MS, Teller, Timer
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.coordinator.consumer import regexes
from simulations.protocol.coordinator.consumer.outcome import (
    Outcome,
    Record,
    ResolveRegexes,
    TimerCommand,
    VolatileState,
)
from simulations.protocol.coordinator.consumer.subscriptions import all_names
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit

Request = Heartbeat | OffsetCommit
Answer = HeartbeatAnswer | CommitAnswer
Wrongs = tuple[tuple[str, str], ...]
"""Broken invariants with their sentences."""


def _matched(regexes: Mapping[str, ResolvedRegex] | None) -> Hashable:
    return None if regexes is None else frozen({regex: found.topics for regex, found in regexes.items()})


MEMORY: Final[Mapping[str, Callable[[VolatileState, ConsumerGroup], Hashable]]] = {
    "refresh": lambda memory, group: memory.refresh.expired(NOW_MS, group.group_epoch),
    "resolving": lambda memory, _: memory.resolving,
    "new_topics_version": lambda memory, _: memory.new_topics_version,
    "rebalancing": lambda *_: None,  # The timers that run tell it.
    "joining": lambda *_: None,  # A plan has no classic members.
    "member_slots": lambda memory, _: memory.member_slots,
    "offset_slots": lambda *_: (
        None
    ),  # Nobody fetches or deletes all offsets there, which alone shows their order.
    "regexes_counted": lambda memory, _: _matched(memory.regexes_counted),
    "chosen": lambda *_: None,  # A plan has no client-side assignors.
    "forgotten": lambda memory, _: memory.forgotten,
    "classic": lambda memory, _: (
        memory.classic is not None
    ),  # An empty one of offsets alone: a plan has no other.
}
"""Each field of the coordinator's memory, and what of it decides its future."""


@dataclass(slots=True)
class Coordinator:
    """One state. ``timers`` are those that run, with the epoch that they are bound to.

    ``broker`` counts the coordinators that there have been. ``origin`` and ``records`` lead back to the log: what the coordinator wrote to come here from ``origin``.
    """

    shard: Shard
    checks: GroupChecks
    timers: Mapping[Timer, int | None] = field(default_factory=dict)
    tasks: tuple[ResolveRegexes, ...] = ()
    last: int = 0
    broker: int = 1
    origin: Coordinator | None = None
    records: tuple[Record, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    """Member → the bits of what is assigned to it or pending its revocation; those that are away are left out."""
    assigned: Mapping[str, int] = field(default_factory=dict)
    converged: bool = True
    """Whether everybody is STABLE at the group epoch, or nobody is there."""

    def log(self) -> list[Record]:
        """Every record that led here, in order."""
        written: list[tuple[Record, ...]] = []
        node: Coordinator | None = self
        while node is not None:
            written.append(node.records)
            node = node.origin
        return [record for records in reversed(written) for record in records]

    def key(self, rename: Rename) -> Hashable:
        state, memory = self.shard.state, self.shard.memory
        group = state.consumer
        timers = tuple(
            sorted(
                ((name, member or "", rename(epoch) if epoch is not None else None))
                for (name, member), epoch in self.timers.items()
            )
        )
        return (
            state.protocol,
            state.deleted,
            canonical(group, rename),
            # Two orders outlive the set that they are of: keys of one slot of a hash table, and names as first told.
            tuple(timeline_order(group, memory.member_slots)),
            all_names(group, group.members),
            tuple(judge(memory, group) for judge in MEMORY.values()),
            timers,
            frozen([(task.regexes, task.member_id) for task in self.tasks]),
            frozen({name: (t.topic_id, t.partitions) for name, t in self.shard.image.topics.items()}),
            self.checks.remembered(),
        )


@dataclass(frozen=True, slots=True)
class CoordinatorStep:
    """What a step led to; ``entries`` tell it, numbered behind the ``last`` of the coordinator that took it."""

    after: Coordinator
    answer: Answer | None
    wrong: Wrongs
    entries: tuple[Entry, ...]


def topics_note(image: Image, names: Iterable[str]) -> dict[str, object]:
    """What an entry tells of these topics; null for one that is not there."""
    told = {
        name: {"id": image.topics[name].topic_id, "partitions": image.topics[name].partitions}
        if name in image.topics
        else None
        for name in names
    }
    return {"note": "topics", "topics": told, "source": "scenario"}


class CoordinatorRuntime:
    """Takes the steps of the coordinator."""

    def __init__(self, semantics: Semantics, bits: Bits, names: Mapping[str, str]) -> None:
        self._semantics = semantics
        self._bits = bits
        self._names = names

    def first(
        self,
        shard: Shard,
        topics: Mapping[str, NotedTopic | None],
        records: tuple[Record, ...] = (),
        timers: tuple[TimerCommand, ...] = (),
    ) -> CoordinatorStep:
        """The coordinator of a group that the records tell of, if there are any."""
        told = Topics()
        told.there_are(topics)
        node = Coordinator(shard=shard, checks=GroupChecks(Violations(), told, self._semantics))
        node.checks.targets.judges_expressions = False
        teller = Teller(shard.state, {}, 0)
        shard.load(records)
        teller.records(records, timers)
        return self._after(node, teller, shard, Outcome(answer=None, records=records))

    def handle(self, node: Coordinator, request: Request) -> CoordinatorStep:
        """A request arrives."""
        shard, teller = node.shard.copy(), _teller(node)
        if isinstance(request, Heartbeat):
            heartbeat = shard.heartbeat(request, NOW_MS)
            teller.exchange(request, heartbeat)
            return self._after(node, teller, shard, heartbeat)
        commit = shard.commit(request, NOW_MS)
        teller.exchange(request, commit)
        step = self._after(node, teller, shard, commit)
        accepted = [(topic_id, number) for topic_id, number, code in commit.answer.error_codes if not code]
        strange = rules.wrongly_taken(
            node.checks.members.get(request.member_id),
            request.member_epoch,
            accepted,
            group_is_empty=not node.checks.members,
            older_epochs=self._semantics is Semantics.KAFKA,
        )
        if not strange:
            return step
        which = named((self._names.get(topic_id, topic_id), number) for topic_id, number in strange)
        says = f"Offsets of {which} are taken from {request.member_id} at epoch {request.member_epoch}"
        return replace(step, wrong=(*step.wrong, ("commit_epoch", says)))

    def expire(self, node: Coordinator, timer: Timer) -> CoordinatorStep:
        """A timer runs out."""
        shard, teller = node.shard.copy(), _teller(node)
        outcome = shard.expired(*timer, node.timers[timer], NOW_MS)
        teller.expiry(*timer, outcome)
        return self._after(node, teller, shard, outcome)

    def metadata(self, node: Coordinator, image: Image, names: tuple[str, ...]) -> CoordinatorStep:
        """A new metadata image arrives, in which these topics are other ones."""
        shard, teller = node.shard.copy(), _teller(node)
        outcome = shard.image_changed(image, names, NOW_MS)
        teller.note(topics_note(image, names), outcome)
        return self._after(node, teller, shard, outcome)

    def fail_over(self, node: Coordinator) -> CoordinatorStep:
        """Another broker loads the log; one that loads the compacted log has to come to the same."""
        log = node.log()
        shard, wrong = self._loaded(node, log), self._of_log(node, log)
        teller = _teller(node)
        outcome = shard.loaded(NOW_MS)
        teller.fail_over(node.broker + 1, outcome)
        step = self._after(node, teller, shard, outcome)
        step.after.tasks, step.after.broker = outcome.tasks, node.broker + 1
        return replace(step, wrong=wrong + step.wrong)

    def _of_log(self, node: Coordinator, log: list[Record]) -> Wrongs:
        """What the log, and what the cleaner may leave of it, must not differ in."""
        memory = canonical(node.shard.state.consumer, as_they_are)
        kept = compacted(log)
        logs = (
            ("memory_is_replay", "The log", log),
            ("compacted_log", "The compacted log", kept),
            ("compacted_log", "The compacted log without tombstones", [r for r in kept if r["value"]]),
        )
        found = []
        for invariant, which, records in logs:
            try:
                state = self._loaded(node, records).state
            except IllegalState as error:
                found.append((invariant, f"{which} cannot be loaded: {error}"))
                continue
            if canonical(state.consumer, as_they_are) != memory and not state.deleted and node.checks.members:
                found.append((invariant, f"{which} gives another group than is in memory"))
        return tuple(found)

    def resolve(self, node: Coordinator, task: ResolveRegexes) -> CoordinatorStep:
        """A task that resolves regular expressions is done."""
        shard, teller = node.shard.copy(), _teller(node)
        outcome = shard.regexes_resolved(regexes.resolve(task, shard.image, NOW_MS), NOW_MS)
        teller.task(outcome)
        step = self._after(node, teller, shard, outcome)
        left = list(step.after.tasks)
        left.remove(task)
        step.after.tasks = tuple(left)
        return step

    def _loaded(self, node: Coordinator, log: list[Record]) -> Shard:
        old = node.shard
        shard = Shard(old.state.group, old.semantics, old.settings, old.image)
        shard.load(log)
        return shard

    def _after(
        self, node: Coordinator, teller: Teller, shard: Shard, outcome: Outcome[Answer | None]
    ) -> CoordinatorStep:
        """The coordinator after an operation, and what the checker finds in the entries that tell it."""
        checks = node.checks.copy()
        for entry in teller.log.fresh:
            checks.see(entry, shard.state)
        held, assigned = {}, {}
        for name, member in checks.members.items():
            if rules.is_known(member):
                held[name] = self._bits.of(member.held())
                assigned[name] = self._bits.of(member.assigned)
        after = Coordinator(
            shard=shard,
            checks=checks,
            timers=teller.timers,
            tasks=(*node.tasks, *outcome.tasks),
            last=teller.log.last,
            broker=node.broker,
            origin=node,
            records=outcome.records,
            held=held,
            assigned=assigned,
            converged=not checks.members or (checks.converged and checks.targets.is_of_now(checks.members)),
        )
        wrong = tuple((violation.invariant, violation.sentence) for violation in checks.take())
        answer = outcome.answer
        return CoordinatorStep(after, answer, wrong, tuple(teller.log.fresh))


def _teller(node: Coordinator) -> Teller:
    return Teller(node.shard.state, node.timers, node.last)


def compacted(log: list[Record]) -> list[Record]:
    """The last record of each key, where it stands; tombstones stay, as they do for a while."""
    last = {(record["type"], tuple(sorted(record["key"].items()))): at for at, record in enumerate(log)}
    return [log[at] for at in sorted(last.values())]
