"""``range``: each topic is cut into runs of neighbours, one for each subscriber, in the same order for all topics.

Partitions of the same number in topics of the same size meet at one member, which is what joins of streams need
(co-partitioning). It looks at nothing that is owned, so it moves more than it must.

Example: members A, B and topics T1 (3 partitions), T3 (2) give A T1{0,1} T3{0} and B T1{2} T3{1}.

Kafka: ``org.apache.kafka.coordinator.group.assignor.RangeAssignor``. Cost: members × topics.
"""

from __future__ import annotations

from simulations.assignors.explanation import Explanation
from simulations.assignors.interface import Assignment, GroupAssignment, GroupSpec, MemberSpec
from simulations.assignors.java_orders import utf16


class RangeAssignor:
    name = "range"

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        ordered = sorted(
            spec.members, key=lambda member_id: _static_first(member_id, spec.members[member_id])
        )
        result: dict[str, dict[str, range]] = {member_id: {} for member_id in spec.members}
        subscribers: dict[str, list[str]] = {}
        for member_id in ordered:
            for topic in spec.members[member_id].topics:
                subscribers.setdefault(topic, []).append(member_id)
        for topic, sharing in subscribers.items():
            least, extra = divmod(spec.partitions(topic), len(sharing))
            start = 0
            for position, member_id in enumerate(sharing):
                size = least + (1 if position < extra else 0)
                if size == 0:
                    break
                result[member_id][topic] = range(start, start + size)
                start += size
        members: Assignment = {
            member_id: {topic: owned[topic] for topic in spec.members[member_id].topics if topic in owned}
            for member_id, owned in result.items()
        }
        return GroupAssignment(members=members)


def _static_first(member_id: str, member: MemberSpec) -> tuple[bool, bytes]:
    """Static members by instance id, then the others by member id."""
    if member.instance_id is not None:
        return False, utf16(member.instance_id)
    return True, utf16(member_id)
