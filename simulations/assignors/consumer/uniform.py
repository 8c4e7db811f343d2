"""``uniform``: as even as can be, and as much as possible stays where it is.

Members of one subscription are served by the quota rule of this file (``UniformHomogeneousAssignmentBuilder``);
members whose subscriptions differ by the balancing of ``uniform_heterogeneous``.

The quota rule. Everybody may hold ``least = total // members``; ``total % members`` of them one more. Members in
turn keep what they had up to their quota and give up the rest. A member whose old target did not fill the one more
hands it back as long as there are more members to come than extras left, so extras stay with those who hold them
and fresh ones go to the last members. (Kafka 4.0 never handed back; every release since 4.1 does.)

Example: A, B, C are new and a topic has 2 partitions: A nothing, B {0}, C {1}.

Kafka: ``org.apache.kafka.coordinator.group.assignor.UniformAssignor``. Cost: partitions + members.
"""

from __future__ import annotations

from simulations.assignors.consumer.uniform_heterogeneous import assign_heterogeneous
from simulations.assignors.explanation import Explanation
from simulations.assignors.faults import TARGET_OVERLAPS
from simulations.assignors.interface import AssignorError, GroupAssignment, GroupSpec


class UniformAssignor:
    name = "uniform"

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        if not spec.members:
            return GroupAssignment(members={})
        members = assign_homogeneous(spec) if spec.homogeneous else assign_heterogeneous(spec)
        return GroupAssignment(members={**members})


def assign_homogeneous(spec: GroupSpec) -> dict[str, dict[str, list[int]]]:
    """The quota rule, for members that all subscribe to the same topics."""
    subscribed = set(next(iter(spec.members.values())).topics)
    if not subscribed:
        return {}
    topics = [topic for topic in spec.topics if topic in subscribed]
    total = sum(spec.partitions(topic) for topic in subscribed)
    taken = {
        (topic, partition)
        for member in spec.members.values()
        for topic, partitions in member.owned.items()
        for partition in partitions
    }
    free = [(t, p) for t in topics for p in range(spec.partitions(t)) if (t, p) not in taken]

    least, extras = divmod(total, len(spec.members))
    result: dict[str, dict[str, list[int]]] = {}
    unfilled: list[tuple[str, int]] = []
    for position, (member_id, member) in enumerate(spec.members.items()):
        with_extra = extras > 0
        quota = least + with_extra
        kept: dict[str, list[int]] = {}
        for topic, partitions in member.owned.items():
            if topic not in subscribed:
                continue
            if quota > 0 and partitions:
                kept[topic] = list(partitions[:quota])
            free += [(topic, partition) for partition in partitions[quota:]]
            quota -= min(quota, len(partitions))
        members_to_come = len(spec.members) - position
        if quota > 0 and with_extra and members_to_come > extras:
            quota -= 1
            with_extra = False
        extras -= with_extra
        result[member_id] = kept
        if quota > 0:
            unfilled.append((member_id, quota))

    next_free = 0
    for member_id, quota in unfilled:
        for topic, partition in free[next_free : next_free + quota]:
            result[member_id].setdefault(topic, []).append(partition)
        next_free += quota
    if next_free < len(free):
        raise AssignorError(
            "partitions are left over: what the members own does not fit the topics", TARGET_OVERLAPS
        )
    return result
