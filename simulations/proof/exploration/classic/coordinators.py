"""The coordinator of a group with classic members: what it has parked, and the checkers of classic groups."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Hashable, Mapping, Set
from dataclasses import dataclass
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.state.group import Protocol, Semantics
from simulations.invariants.classic_groups import ClassicGroupChecker
from simulations.invariants.classic_rounds import ASSIGNED_ONCE
from simulations.invariants.consumer_protocol import assigned_by
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.mixed import KEPT, ONE_PROTOCOL
from simulations.invariants.violations import named
from simulations.proof.exploration.canonical import Rename, as_they_are
from simulations.proof.exploration.coordinator_entries import NOW_MS
from simulations.proof.exploration.coordinators import (
    Coordinator,
    CoordinatorRuntime,
    CoordinatorStep,
    Wrongs,
    teller_of,
)
from simulations.proof.exploration.partition_bits import Bits
from simulations.protocol.client.classic.untimed import plain
from simulations.protocol.coordinator.classic.group import STABLE, Group
from simulations.protocol.coordinator.classic.parking import (
    ClassicMemberAppended,
    FollowUp,
    ReplacementAppended,
)
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record
from simulations.protocol.coordinator.shard import Shard

TICKETS_MAX: Final = 16
"""Requests of one process that may be parked at once, those of broken connections among them: a ticket reports both."""


@dataclass(slots=True, kw_only=True)
class ClassicCoordinator(Coordinator):
    """One state. ``appends`` are records that were written and are not committed, each with what follows; the oldest first.

    ``held`` is of the members of a consumer group; ``speaks_classic``: those of them that speak the classic protocol.
    """

    classic_checks: ClassicGroupChecker | None
    appends: tuple[FollowUp, ...] = ()
    speaks_classic: frozenset[str] = frozenset()
    stable: bool = True
    """Whether nobody is waited for: a stable or an empty group."""
    parked: frozenset[int] = frozenset()
    """Tickets that something may still answer."""
    whole: bool = True
    """Whether all partitions that members subscribe to are assigned."""

    @property
    def rests(self) -> bool:
        return self.stable and self.whole and not self.appends

    @property
    def members(self) -> Set[str]:
        return self.assigned.keys()

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

    def key(self, _rename: Rename) -> Hashable:
        """Generations and epochs as they are."""
        memory, recorded = self.shard.memory, self.shard.state.classic
        return (
            Coordinator.key(self, as_they_are),
            memory.joining,
            plain(memory.classic),
            (recorded.recorded, recorded.generation, recorded.leader, recorded.protocol_name),
            plain(recorded.members),
            plain(self.appends),
            self.classic_checks.remembered() if self.classic_checks is not None else None,
        )


class ClassicRuntime(CoordinatorRuntime[ClassicCoordinator]):
    """Takes the steps of the coordinator."""

    memory_is_replay = False

    def __init__(self, semantics: Semantics, bits: Bits, names: Mapping[str, str], *, mixed: bool) -> None:
        super().__init__(semantics, bits, names)
        self._mixed = mixed

    def fresh(self, shard: Shard, checks: GroupChecks) -> ClassicCoordinator:
        of_classic = None if self._mixed else ClassicGroupChecker()
        return ClassicCoordinator(shard=shard, checks=checks, classic_checks=of_classic)

    def append(self, node: ClassicCoordinator) -> CoordinatorStep[ClassicCoordinator]:
        """The oldest records that something waits for are committed."""
        shard, teller = node.shard.copy(), teller_of(node)
        follow, *rest = node.appends
        outcome = shard.appended(follow, NOW_MS)
        step = self._done(node, teller, shard, outcome, None)
        return _with_appends(step, (*rest, *step.after.appends[len(node.appends) :]))

    def fail_over(self, node: ClassicCoordinator) -> CoordinatorStep[ClassicCoordinator]:
        """Another broker loads the log; what was not committed is lost with the one before."""
        step = super().fail_over(node)
        return _with_appends(step, step.after.appends[len(node.appends) :])

    def judge(
        self,
        before: ClassicCoordinator,
        after: ClassicCoordinator,
        entries: tuple[Entry, ...],
        outcome: Outcome[object],
    ) -> Wrongs:
        wrong = self._seen(before, after, entries)
        converts = any(record["type"] == 2 and record["value"] is None for record in outcome.records)
        for violation in after.checks.take():
            # The target of a conversion is what the classic members had.
            taken_over = converts and violation.invariant == "whole_target" and not violation.members
            if violation.invariant in KEPT and not taken_over:
                wrong.append((violation.invariant, violation.sentence))
        wrong += _of_assignments(outcome.records)
        if outcome.follow_up is not None:
            after.appends = (*before.appends, outcome.follow_up)
        after.parked = parked = after.still_parked()
        after.waiting = {ticket: known for ticket, known in after.waiting.items() if ticket in parked}
        self._sum_up(after)
        if after.is_consumer and after.group is not None and after.group.members:
            wrong.append((ONE_PROTOCOL, "The group is a classic one and a consumer group at once"))
        return tuple(wrong)

    def _seen(
        self, before: ClassicCoordinator, after: ClassicCoordinator, entries: tuple[Entry, ...]
    ) -> list[tuple[str, str]]:
        """What the checker of classic groups finds; that of consumer groups sees what concerns it."""
        wrong: list[tuple[str, str]] = []
        if before.classic_checks is not None:
            after.classic_checks = before.classic_checks.copy()
        for entry in entries:
            if entry.kind in (Kind.RECORD, Kind.NOTE, Kind.FAULT) and _is_for_consumer_groups(entry):
                after.checks.see(entry, after.shard.state)
            if after.classic_checks is not None:
                wrong += [(each.invariant, each.sentence) for each in after.classic_checks.see(entry)]
        return wrong

    def _sum_up(self, node: ClassicCoordinator) -> None:
        """What worlds ask of the coordinator."""
        group, image = node.group, node.shard.image
        node.speaks_classic = frozenset()
        if group is not None:
            assigned = {who: _assigned(member.assignment) for who, member in group.members.items()}
            node.assigned = {who: self._bits.of(given) for who, given in assigned.items()}
            node.stable = not group.members or group.state is STABLE
            every = {each for given in assigned.values() for each in given}
            topics = [image.topics[name] for name in group.subscribed or () if name in image.topics]
            node.whole = every == {(t.name, number) for t in topics for number in range(t.partitions)}
            node.whole = node.whole or not group.members
            return
        checks, names = node.checks, self._names
        members = node.shard.state.consumer.members
        for who, member in checks.members.items():
            held = [(names.get(topic, topic), number) for topic, number in member.held()]
            given = [(names.get(topic, topic), number) for topic, number in member.assigned]
            node.held = {**node.held, who: self._bits.of(held)}
            node.assigned = {**node.assigned, who: self._bits.of(given)}
        node.speaks_classic = frozenset(who for who, each in members.items() if each.classic is not None)
        node.stable = not checks.members or checks.converged
        node.whole = not checks.members or checks.targets.is_of_now(checks.members)


def _with_appends(
    step: CoordinatorStep[ClassicCoordinator], appends: tuple[FollowUp, ...]
) -> CoordinatorStep[ClassicCoordinator]:
    """The step, with these records that are not committed."""
    step.after.appends = appends
    step.after.parked = step.after.still_parked()
    return step


def _is_for_consumer_groups(entry: Entry) -> bool:
    return entry.kind is not Kind.RECORD or entry.payload["type"] != 2


def _assigned(data: bytes) -> frozenset[tuple[str, int]]:
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
