"""The coordinator's side of a world: a shard, its timers and tasks, what it has not answered, and the checkers.

A step of the coordinator depends on nothing else, so each is taken and checked once for each state it is taken in,
however many worlds share that state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Generic, TypeVar, cast

from groups.history.entries import Entry
from groups.history.state.consumer import ConsumerGroup, ResolvedRegex
from groups.history.state.group import Semantics
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.model import Topics
from simulations.invariants.violations import Violations
from simulations.proof.exploration.canonical import Rename, as_they_are, canonical, frozen
from simulations.proof.exploration.coordinator_entries import NOW_MS, Answer, Answers, Teller, Timer, Waiting
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.client.classic.untimed import plain
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.classic.group import Group
from simulations.protocol.coordinator.classic.join_requests import GivenId
from simulations.protocol.coordinator.consumer import regexes
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record, ResolveRegexes, VolatileState
from simulations.protocol.coordinator.consumer.subscriptions import all_names
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import TimerCommand
from simulations.world.engine.initial_state import topics_note
from simulations.world.engine.requests import APIS, handled

Wrongs = tuple[tuple[str, str], ...]
"""Broken invariants with their sentences."""


def _matched(regexes: Mapping[str, ResolvedRegex] | None) -> Hashable:
    return None if regexes is None else frozen({regex: found.topics for regex, found in regexes.items()})


MEMORY: Final[Mapping[str, Callable[[VolatileState, ConsumerGroup], Hashable]]] = {
    "refresh": lambda memory, group: memory.refresh.expired(NOW_MS, group.group_epoch),
    "resolving": lambda memory, _: memory.resolving,
    "new_topics_version": lambda memory, _: memory.new_topics_version,
    "rebalancing": lambda *_: None,  # The timers that run report it.
    "joining": lambda *_: None,  # Of classic members alone, whose coordinator has it in its own key.
    "member_slots": lambda memory, _: memory.member_slots,
    "offset_slots": lambda *_: (
        None
    ),  # Nobody fetches or deletes all offsets there, which alone shows their order.
    "pending_offsets": lambda *_: None,  # Nobody commits in transactions there.
    "regexes_counted": lambda memory, _: _matched(memory.regexes_counted),
    "chosen": lambda *_: None,  # Has epochs: the coordinator's own key renames them.
    "forgotten": lambda memory, _: memory.forgotten,
    "classic": lambda memory, _: (
        memory.classic is not None
    ),  # Without classic members an empty one of offsets alone; with them it is in the coordinator's own key.
}
"""Each field of the coordinator's memory, and what of it decides its future."""


@dataclass(slots=True, kw_only=True)
class Coordinator(ABC):
    """One state. ``timers`` are those that run, with the epoch that they are bound to.

    ``broker`` counts the coordinators that there have been. ``origin`` and ``records`` lead back to the log: what the coordinator wrote to come here from ``origin``.
    ``waiting`` are requests that it has not answered.
    """

    shard: Shard
    checks: GroupChecks
    timers: Mapping[Timer, int | None] = field(default_factory=dict)
    tasks: tuple[ResolveRegexes, ...] = ()
    waiting: Waiting = field(default_factory=dict)
    last: int = 0
    broker: int = 1
    origin: Coordinator | None = None
    records: tuple[Record, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    """Member of a consumer group → the bits of what is assigned to it or pending its revocation."""
    assigned: Mapping[str, int] = field(default_factory=dict)
    """Member → the bits of what it is to read."""

    @property
    @abstractmethod
    def rests(self) -> bool:
        """Whether it waits for nobody and nothing is left to be done."""

    @property
    @abstractmethod
    def members(self) -> Set[str]:
        """Ids of those that the group has."""

    @property
    def epoch(self) -> int:
        """The epoch of a consumer group."""
        return self.shard.state.consumer.group_epoch

    def log(self) -> list[Record]:
        """Every record that led here, in order."""
        written: list[tuple[Record, ...]] = []
        node: Coordinator | None = self
        while node is not None:
            written.append(node.records)
            node = node.origin
        return [record for records in reversed(written) for record in records]

    def key(self, rename: Rename) -> Hashable:
        """All that decides the future but the partition's log, which gives the same state."""
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
            # Two orders outlive the set that they are of: keys of one slot of a hash table, and names as first reported.
            tuple(timeline_order(group, memory.member_slots)),
            all_names(group, group.members),
            tuple(judge(memory, group) for judge in MEMORY.values()),
            canonical(memory.chosen, rename),
            timers,
            frozen([(task.regexes, task.member_id) for task in self.tasks]),
            frozen({name: (t.topic_id, t.partitions) for name, t in self.shard.image.topics.items()}),
            self.checks.remembered(),
        )


C = TypeVar("C", bound=Coordinator)


@dataclass(frozen=True, slots=True)
class CoordinatorStep(Generic[C]):
    """What a step led to: whom it answers, what it broke, and the entries that report it.

    These are numbered behind the ``last`` of the coordinator that took it.
    """

    after: C
    answers: Answers
    wrong: Wrongs
    entries: tuple[Entry, ...]


Take = Callable[[C], CoordinatorStep[C]]
"""A way to take a step of the coordinator."""


class CoordinatorRuntime(ABC, Generic[C]):
    """Takes the steps of the coordinator."""

    memory_is_replay: ClassVar[bool]
    """Whether memory holds nothing that the log does not: no generation that waits for its records."""

    def __init__(self, semantics: Semantics, bits: Bits, names: Mapping[str, str]) -> None:
        self._semantics = semantics
        self._bits = bits
        self._names = names

    @abstractmethod
    def fresh(self, shard: Shard, checks: GroupChecks) -> C:
        """A coordinator that nobody has asked anything."""

    @abstractmethod
    def judge(self, before: C, after: C, entries: tuple[Entry, ...], outcome: Outcome[object]) -> Wrongs:
        """What the step broke; what worlds ask of the coordinator after it is summed up in there."""

    def first(
        self,
        shard: Shard,
        names: tuple[str, ...],
        records: tuple[Record, ...] = (),
        timers: tuple[TimerCommand, ...] = (),
        group: Group | None = None,
    ) -> CoordinatorStep[C]:
        """The coordinator of a group that the records report, if there are any; ``group`` is a classic one as it is in memory."""
        known = Topics()
        known.there_are(topics_note(shard.image, names, {})["topics"])
        node = self.fresh(shard, GroupChecks(Violations(), known, self._semantics))
        node.checks.targets.judges_expressions = False
        teller = teller_of(node)
        shard.load(records)
        outcome: Outcome[None] = Outcome(answer=None, records=records, timers=timers)
        if group is not None:
            shard.adopt(group)
            outcome = replace(shard.loaded(NOW_MS), records=records)
        return self._done(node, teller, shard, outcome, None)

    def handle(self, node: C, request: Request, who: str, ticket: int) -> CoordinatorStep[C]:
        """A request arrives, sent under the id ``who``."""
        shard, teller = node.shard.copy(), teller_of(node)
        asked = teller.request(request, who, ticket)
        api = APIS[type(request)]
        if api.park is not None:
            parking = api.park(shard, request, NOW_MS, ticket, GivenId(who))
            return self._done(node, teller, shard, parking, asked)
        outcome = handled(shard, request, NOW_MS, who)
        return self._done(node, teller, shard, outcome, asked, ((ticket, cast(Answer, outcome.answer)),))

    def expire(self, node: C, timer: Timer) -> CoordinatorStep[C]:
        """A timer runs out."""
        shard, teller = node.shard.copy(), teller_of(node)
        outcome = shard.expired(*timer, node.timers[timer], NOW_MS)
        return self._done(node, teller, shard, outcome, teller.fired(timer))

    def metadata(self, node: C, image: Image, names: tuple[str, ...]) -> CoordinatorStep[C]:
        """A new metadata image arrives, in which these topics are other ones."""
        shard, teller = node.shard.copy(), teller_of(node)
        outcome = shard.image_changed(image, names, NOW_MS)
        return self._done(node, teller, shard, outcome, teller.topics(topics_note(image, names, {})))

    def resolve(self, node: C, task: ResolveRegexes) -> CoordinatorStep[C]:
        """A task that resolves regular expressions is done."""
        shard, teller = node.shard.copy(), teller_of(node)
        outcome = shard.regexes_resolved(regexes.resolve(task, shard.image, NOW_MS), NOW_MS)
        step = self._done(node, teller, shard, outcome, None)
        left = list(step.after.tasks)
        left.remove(task)
        step.after.tasks = tuple(left)
        return step

    def fail_over(self, node: C) -> CoordinatorStep[C]:
        """Another broker loads the log; one that loads the compacted log has to come to the same."""
        log = node.log()
        shard, wrong = self._loaded(node, log), self._of_log(node, log)
        teller = teller_of(node)
        cause = teller.failed_over(node.broker + 1)
        outcome = shard.loaded(NOW_MS)
        step = self._done(node, teller, shard, outcome, cause)
        step.after.tasks, step.after.broker = outcome.tasks, node.broker + 1
        return replace(step, wrong=wrong + step.wrong)

    def _of_log(self, node: C, log: list[Record]) -> Wrongs:
        """What the log, and what the cleaner may leave of it, must not differ in."""
        kept = compacted(log)
        logs = [
            ("compacted_log", "The compacted log", kept),
            ("compacted_log", "The compacted log without tombstones", [r for r in kept if r["value"]]),
        ]
        if self.memory_is_replay:
            logs.insert(0, ("memory_is_replay", "The log", log))
            whole, other = _durable(node.shard), "is in memory"
        else:
            whole, other = _durable(self._loaded(node, log)), "the log"
        found = []
        for invariant, which, records in logs:
            try:
                shard = self._loaded(node, records)
            except IllegalState as error:
                found.append((invariant, f"{which} cannot be loaded: {error}"))
                continue
            if _durable(shard) != whole and not shard.state.deleted and node.members:
                found.append((invariant, f"{which} gives another group than {other}"))
        return tuple(found)

    def _loaded(self, node: C, log: list[Record]) -> Shard:
        old = node.shard
        shard = Shard(old.state.group, old.semantics, old.settings, old.image)
        shard.load(log)
        return shard

    def _done(
        self,
        node: C,
        teller: Teller,
        shard: Shard,
        outcome: Outcome[object],
        cause: int | None,
        answers: Answers = (),
    ) -> CoordinatorStep[C]:
        """The coordinator after an operation, and what the checkers find in the entries that report it."""
        known: Answers = (*((each.ticket, each.answer) for each in outcome.parked_answers), *answers)
        teller.effect(cause, outcome, known)
        after = replace(
            node,
            shard=shard,
            checks=node.checks.copy(),
            timers=teller.timers,
            tasks=(*node.tasks, *outcome.tasks),
            waiting=teller.waiting,
            last=teller.log.last,
            origin=node,
            records=outcome.records,
            held={},
            assigned={},
        )
        entries = tuple(teller.log.fresh)
        return CoordinatorStep(after, known, self.judge(node, after, entries, outcome), entries)


def teller_of(node: Coordinator) -> Teller:
    """Reports the coordinator's next step."""
    return Teller(node.shard.state, node.timers, node.last, node.waiting)


def _durable(shard: Shard) -> Hashable:
    """What of a group its records have to give."""
    state = shard.state
    return canonical(state.consumer, as_they_are), plain(state.classic.members), state.classic.generation


def compacted(log: list[Record]) -> list[Record]:
    """The last record of each key, where it is; tombstones stay, as they do for a while."""
    last = {(record["type"], tuple(sorted(record["key"].items()))): at for at, record in enumerate(log)}
    return [log[at] for at in sorted(last.values())]
