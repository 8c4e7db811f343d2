"""The frame around both builders, and ``sticky`` itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from groups.wire.embedded.user_data import NO_GENERATION, STICKY
from simulations.protocol.assignors.classic.sticky.constrained import assign_constrained
from simulations.protocol.assignors.classic.sticky.general import assign_general
from simulations.protocol.assignors.classic.sticky.ownership import (
    Ownership,
    TopicPartition,
    explain_claims,
    ownership,
)
from simulations.protocol.assignors.explanation import Explanation
from simulations.protocol.assignors.faults import BEYOND_COUNT, FIRST_WITHOUT_TOPICS
from simulations.protocol.assignors.interface import Assignment, AssignorError, GroupAssignment, GroupSpec


@dataclass(slots=True)
class Plan:
    """What a builder planned. ``transferring`` are partitions that another member may still hold, with their new
    owner; ``None`` if the general builder planned, which does not explain."""

    assignment: Assignment
    transferring: dict[TopicPartition, str] | None = None
    faults: list[str] = field(default_factory=list)


class AbstractStickyAssignor:
    """Plans an assignment; an object remembers the highest generation that it has seen, so each group has its own."""

    name: str

    def __init__(self) -> None:
        self.max_generation = NO_GENERATION

    def plan(self, spec: GroupSpec, explain: Explanation | None) -> Plan:
        """The balanced plan. ``AssignorError`` where Kafka throws."""
        found = ownership(self.name, spec, self.max_generation)
        self.max_generation = found.max_generation
        if not found.members:
            return Plan({}, {})
        if explain is not None:
            explain_claims(explain, found)
        if found.alike:
            shares, transferring = assign_constrained(found, explain)
            plan = Plan(
                dict(zip(found.member_ids, shares, strict=True)),
                {taken: found.member_ids[place] for taken, place in transferring.items()},
            )
            if any(share and not member.topics for share, member in zip(shares, found.members, strict=True)):
                plan.faults.append(FIRST_WITHOUT_TOPICS)
        else:
            shares, faults = assign_general(found, explain)
            plan = Plan(dict(zip(found.member_ids, shares, strict=True)), faults=faults)
        if found.beyond:
            _refuse_twice_to_one(found, plan)
        return plan


class StickyAssignor(AbstractStickyAssignor):
    name = STICKY

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        plan = self.plan(spec, explain)
        return GroupAssignment(members=plan.assignment, faults=tuple(plan.faults))


def _refuse_twice_to_one(found: Ownership, plan: Plan) -> None:
    """Names what partitions beyond the count lead to; Kafka's lists may even hold a partition twice, which no
    assignment can say."""
    given: set[TopicPartition] = set()
    unsound = False
    for member_id, owned in plan.assignment.items():
        for topic, partitions in owned.items():
            numbers = set(partitions)
            if len(numbers) < len(partitions):
                twice = next(p for p in partitions if list(partitions).count(p) > 1)
                raise AssignorError(f"{topic}-{twice} is twice in the list of {member_id}", BEYOND_COUNT)
            keys = {(topic, partition) for partition in numbers}
            unsound = unsound or bool(keys & given) or max(numbers, default=0) >= found.counts[topic]
            unsound = unsound or min(numbers, default=0) < 0
            given |= keys
    if unsound:
        plan.faults.append(BEYOND_COUNT)
