"""The coordinator's side of a world with classic members: its shard, what it has parked, and the checkers beside it.

A step depends on nothing else, so each is taken and checked once for each state it is taken in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from groups.history.entries import Entry, Kind, NotedTopic
from groups.history.state.group import Protocol, Semantics
from simulations.invariants.classic_groups import ClassicGroupChecker
from simulations.invariants.classic_rounds import ASSIGNED_ONCE, assigned_by
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.mixed import KEPT, ONE_PROTOCOL
from simulations.invariants.model import Topics
from simulations.invariants.violations import Violations, named
from simulations.proof.exploration.canonical import as_they_are, canonical, frozen
from simulations.proof.exploration.classic.entries import ClassicTeller, GroupAnswer, Waiting
from simulations.proof.exploration.coordinator_entries import NOW_MS, Timer
from simulations.proof.exploration.coordinators import MEMORY, Wrongs, compacted, topics_note
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.client.classic.untimed import plain
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.classic.group import STABLE, Group
from simulations.protocol.coordinator.classic.join_requests import GivenId
from simulations.protocol.coordinator.classic.parking import (
    ClassicMemberAppended,
    FollowUp,
    ReplacementAppended,
)
from simulations.protocol.coordinator.consumer import regexes
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record, ResolveRegexes
from simulations.protocol.coordinator.consumer.subscriptions import all_names
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.shard import Shard
from simulations.world.engine.requests import APIS

TICKETS_MAX: Final = 16
"""Requests of one process that may be parked at once, those of broken connections among them: a ticket tells both."""

OF_BOTH: Final = tuple((name, judge) for name, judge in MEMORY.items() if name not in ("classic", "joining"))
"""What of the memory counts as in a group of the consumer protocol."""


@dataclass(slots=True)
class ClassicCoordinator:
    """One state. ``appends`` are records that were written and are not committed, each with what follows; the oldest first.

    ``held``: member of the consumer group → the bits that it is assigned or is to revoke; ``speaks_classic``: those of
    them that speak the classic protocol. ``assigned`` is what each member of either kind of group is to read.
    """

    shard: Shard
    checks: GroupChecks
    classic_checks: ClassicGroupChecker | None
    timers: Mapping[Timer, int | None] = field(default_factory=dict)
    tasks: tuple[ResolveRegexes, ...] = ()
    appends: tuple[FollowUp, ...] = ()
    waiting: Waiting = field(default_factory=dict)
    last: int = 0
    broker: int = 1
    origin: ClassicCoordinator | None = None
    records: tuple[Record, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    speaks_classic: frozenset[str] = frozenset()
    assigned: Mapping[str, int] = field(default_factory=dict)
    rests: bool = True
    """Whether nobody is waited for: a stable or an empty group."""
    parked: frozenset[int] = frozenset()
    """Tickets that something may still answer."""
    whole: bool = True
    """Whether all partitions that members subscribe to are assigned."""

    @property
    def group(self) -> Group | None:
        """The classic group, as it is in memory."""
        return self.shard.memory.classic

    @property
    def is_consumer(self) -> bool:
        return self.shard.state.protocol is Protocol.CONSUMER and not self.shard.state.deleted

    def still_parked(self) -> frozenset[int]:
        found = set()
        for member in self.group.members.values() if self.group is not None else ():
            found |= {each.ticket for each in (member.parked_join, member.parked_sync) if each is not None}
        for follow in self.appends:
            if isinstance(follow, ReplacementAppended | ClassicMemberAppended):
                found.add(follow.ticket)
        return frozenset(found)

    def log(self) -> list[Record]:
        """Every record that led here, in order."""
        written: list[tuple[Record, ...]] = []
        node: ClassicCoordinator | None = self
        while node is not None:
            written.append(node.records)
            node = node.origin
        return [record for records in reversed(written) for record in records]

    def key(self) -> Hashable:
        """All that decides the future but the partition's log, which gives the same state."""
        state, memory = self.shard.state, self.shard.memory
        consumer, recorded = state.consumer, state.classic
        return (
            state.protocol,
            state.deleted,
            canonical(consumer, as_they_are),
            tuple(timeline_order(consumer, memory.member_slots)),
            all_names(consumer, consumer.members),
            tuple(judge(memory, consumer) for _, judge in OF_BOTH),
            memory.joining,
            plain(memory.classic),
            (recorded.recorded, recorded.generation, recorded.leader, recorded.protocol_name),
            plain(recorded.members),
            tuple(sorted((name, member or "", epoch) for (name, member), epoch in self.timers.items())),
            frozen([(task.regexes, task.member_id) for task in self.tasks]),
            plain(self.appends),
            frozen({name: (t.topic_id, t.partitions) for name, t in self.shard.image.topics.items()}),
            self.checks.remembered(),
            self.classic_checks.remembered() if self.classic_checks is not None else None,
        )


@dataclass(frozen=True, slots=True)
class ClassicStep:
    """What a step led to: whom it answers, by ticket, what it broke, and the entries that tell it."""

    after: ClassicCoordinator
    answers: tuple[tuple[int, GroupAnswer], ...]
    wrong: Wrongs
    entries: tuple[Entry, ...]


class ClassicRuntime:
    """Takes the steps of the coordinator."""

    def __init__(self, semantics: Semantics, bits: Bits, names: Mapping[str, str], *, mixed: bool) -> None:
        self._semantics = semantics
        self._bits = bits
        self._names = names
        self._mixed = mixed

    def first(
        self,
        shard: Shard,
        topics: Mapping[str, NotedTopic | None],
        records: tuple[Record, ...] = (),
        group: Group | None = None,
    ) -> ClassicStep:
        """The coordinator of a group that the records tell of, if there are any."""
        told = Topics()
        told.there_are(topics)
        checks = GroupChecks(Violations(), told, self._semantics)
        checks.targets.judges_expressions = False
        node = ClassicCoordinator(shard, checks, None if self._mixed else ClassicGroupChecker())
        teller = self._teller(node, shard)
        shard.load(records)
        outcome: Outcome[None] = Outcome(answer=None, records=records)
        if group is not None:
            shard.adopt(group)
            outcome = replace(shard.loaded(NOW_MS), records=records)
        teller.effect(None, outcome, ())
        return self._after(node, teller, shard, outcome, ())

    def handle(self, node: ClassicCoordinator, request: Request, who: str, ticket: int) -> ClassicStep:
        """A request arrives, sent under the id ``who``."""
        shard = node.shard.copy()
        teller = self._teller(node, shard)
        asked = teller.request(request, who, ticket)
        api = APIS[type(request)]
        if api.park is not None:
            parking = api.park(shard, request, NOW_MS, ticket, GivenId(who))
            return self._done(node, teller, shard, parking, asked)
        outcome = api.handle(shard, request, NOW_MS)
        answers = ((ticket, cast(GroupAnswer, outcome.answer)),)
        return self._done(node, teller, shard, outcome, asked, answers)

    def append(self, node: ClassicCoordinator) -> ClassicStep:
        """The oldest records that something waits for are committed."""
        shard = node.shard.copy()
        teller = self._teller(node, shard)
        follow, *rest = node.appends
        outcome = shard.appended(follow, NOW_MS)
        step = self._done(node, teller, shard, outcome, None)
        step.after.appends = (*rest, *step.after.appends[len(node.appends) :])
        step.after.parked = step.after.still_parked()
        return step

    def expire(self, node: ClassicCoordinator, timer: Timer) -> ClassicStep:
        """A timer runs out."""
        shard = node.shard.copy()
        teller = self._teller(node, shard)
        outcome = shard.expired(*timer, node.timers[timer], NOW_MS)
        return self._done(node, teller, shard, outcome, teller.fired(timer))

    def resolve(self, node: ClassicCoordinator, task: ResolveRegexes) -> ClassicStep:
        """A task that resolves regular expressions is done."""
        shard = node.shard.copy()
        teller = self._teller(node, shard)
        outcome = shard.regexes_resolved(regexes.resolve(task, shard.image, NOW_MS), NOW_MS)
        step = self._done(node, teller, shard, outcome, None)
        left = list(step.after.tasks)
        left.remove(task)
        step.after.tasks = tuple(left)
        return step

    def metadata(self, node: ClassicCoordinator, image: Image, names: tuple[str, ...]) -> ClassicStep:
        """A new metadata image arrives, in which these topics are other ones."""
        shard = node.shard.copy()
        teller = self._teller(node, shard)
        outcome = shard.image_changed(image, names, NOW_MS)
        cause = teller.topics(topics_note(image, names))
        return self._done(node, teller, shard, outcome, cause)

    def fail_over(self, node: ClassicCoordinator) -> ClassicStep:
        """Another broker loads the log; one that loads the compacted log has to come to the same."""
        log = node.log()
        shard, wrong = self._loaded(node, log), self._of_log(node, log)
        teller = self._teller(node, node.shard)
        cause = teller.failed_over(node.broker + 1)
        outcome = shard.loaded(NOW_MS)
        step = self._done(node, teller, shard, outcome, cause)
        step.after.tasks, step.after.broker = outcome.tasks, node.broker + 1
        step.after.appends = step.after.appends[len(node.appends) :]
        step.after.parked = step.after.still_parked()
        return replace(step, wrong=wrong + step.wrong)

    def _of_log(self, node: ClassicCoordinator, log: list[Record]) -> Wrongs:
        """What the log, and what the cleaner may leave of it, must not differ in."""
        whole = self._durable(self._loaded(node, log))
        kept = compacted(log)
        found = []
        for which, records in (
            ("The compacted log", kept),
            ("The compacted log without tombstones", [r for r in kept if r["value"]]),
        ):
            try:
                other = self._loaded(node, records)
            except IllegalState as error:
                found.append(("compacted_log", f"{which} cannot be loaded: {error}"))
                continue
            if self._durable(other) != whole and not other.state.deleted and node.assigned:
                found.append(("compacted_log", f"{which} gives another group than the log"))
        return tuple(found)

    def _durable(self, shard: Shard) -> Hashable:
        state = shard.state
        return canonical(state.consumer, as_they_are), plain(state.classic.members), state.classic.generation

    def _loaded(self, node: ClassicCoordinator, log: list[Record]) -> Shard:
        old = node.shard
        shard = Shard(old.state.group, old.semantics, old.settings, old.image)
        shard.load(log)
        return shard

    def _teller(self, node: ClassicCoordinator, shard: Shard) -> ClassicTeller:
        return ClassicTeller(node.shard.state, node.timers, node.last, node.waiting)

    def _done(
        self,
        node: ClassicCoordinator,
        teller: ClassicTeller,
        shard: Shard,
        outcome: Outcome[object],
        cause: int | None,
        answers: tuple[tuple[int, GroupAnswer], ...] = (),
    ) -> ClassicStep:
        told = (*((each.ticket, each.answer) for each in outcome.parked_answers), *answers)
        teller.effect(cause, outcome, told)
        return self._after(node, teller, shard, outcome, told)

    def _after(
        self,
        node: ClassicCoordinator,
        teller: ClassicTeller,
        shard: Shard,
        outcome: Outcome[object],
        answers: tuple[tuple[int, GroupAnswer], ...],
    ) -> ClassicStep:
        """The coordinator after an operation, and what the checkers find in the entries that tell it."""
        checks = node.checks.copy()
        of_classic = node.classic_checks.copy() if node.classic_checks is not None else None
        wrong: list[tuple[str, str]] = []
        for entry in teller.log.fresh:
            if entry.kind in (Kind.RECORD, Kind.NOTE, Kind.FAULT) and _is_for_consumer_groups(entry):
                checks.see(entry, shard.state)
            if of_classic is not None:
                wrong += [(each.invariant, each.sentence) for each in of_classic.see(entry)]
        converts = any(record["type"] == 2 and record["value"] is None for record in outcome.records)
        for violation in checks.take():
            # The target of a conversion is what the classic members had.
            taken_over = converts and violation.invariant == "whole_target" and not violation.members
            if violation.invariant in KEPT and not taken_over:
                wrong.append((violation.invariant, violation.sentence))
        wrong += _of_assignments(outcome.records)
        after = ClassicCoordinator(
            shard=shard,
            checks=checks,
            classic_checks=of_classic,
            timers=teller.timers,
            tasks=(*node.tasks, *outcome.tasks),
            appends=(*node.appends, *((outcome.follow_up,) if outcome.follow_up is not None else ())),
            waiting=teller.waiting,
            last=teller.log.last,
            broker=node.broker,
            origin=node,
            records=outcome.records,
        )
        after.parked = parked = after.still_parked()
        after.waiting = {ticket: told for ticket, told in teller.waiting.items() if ticket in parked}
        self._sum_up(after)
        if after.is_consumer and after.group is not None and after.group.members:
            wrong.append((ONE_PROTOCOL, "The group is a classic one and a consumer group at once"))
        return ClassicStep(after, answers, tuple(wrong), tuple(teller.log.fresh))

    def _sum_up(self, node: ClassicCoordinator) -> None:
        """What worlds ask of the coordinator."""
        group, image = node.group, node.shard.image
        if group is not None:
            assigned = {who: _assigned(member.assignment) for who, member in group.members.items()}
            node.assigned = {who: self._bits.of(given) for who, given in assigned.items()}
            node.rests = not group.members or group.state is STABLE
            every = {each for given in assigned.values() for each in given}
            topics = [image.topics[name] for name in group.subscribed or () if name in image.topics]
            node.whole = every == {(t.name, number) for t in topics for number in range(t.partitions)}
            node.whole = node.whole or not group.members
            return
        checks, names = node.checks, self._names
        members = node.shard.state.consumer.members
        for who, member in checks.members.items():
            held = [(names.get(topic, topic), number) for topic, number in member.held()]
            node.held = {**node.held, who: self._bits.of(held)}
            given = [(names.get(topic, topic), number) for topic, number in member.assigned]
            node.assigned = {**node.assigned, who: self._bits.of(given)}
        node.speaks_classic = frozenset(who for who, each in members.items() if each.classic is not None)
        node.rests = not checks.members or checks.converged
        node.whole = not checks.members or checks.targets.is_of_now(checks.members)


def _is_for_consumer_groups(entry: Entry) -> bool:
    return entry.kind is not Kind.RECORD or entry.payload["type"] != 2


def _assigned(data: bytes) -> frozenset[tuple[str, int]]:
    from base64 import b64encode

    return assigned_by(b64encode(data).decode()) or frozenset()


def _of_assignments(records: tuple[Record, ...]) -> Wrongs:
    """A generation gives each partition to at most one member."""
    found = []
    for record in records:
        if record["type"] != 2 or record["value"] is None:
            continue
        owners: dict[tuple[str, int], str] = {}
        for member in record["value"]["members"]:
            for partition in sorted(assigned_by(member["assignment"]) or ()):
                other = owners.setdefault(partition, member["memberId"])
                if other != member["memberId"]:
                    what = named([partition])
                    found.append((ASSIGNED_ONCE, f"{what} is given to {other} and to {member['memberId']}"))
    return tuple(found)


Take = Callable[[ClassicCoordinator], ClassicStep]
