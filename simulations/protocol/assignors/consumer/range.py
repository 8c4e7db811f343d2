"""``range``: each topic is cut into runs of neighbours, one for each subscriber, in the same order for all topics.

Partitions of the same number in topics of the same size meet at one member, which is what joins of streams need
(co-partitioning). It looks at nothing that is owned, so it moves more than it must.

Example: members A, B and topics T1 (3 partitions), T3 (2) give A T1{0,1} T3{0} and B T1{2} T3{1}.

Kafka: ``org.apache.kafka.coordinator.group.assignor.RangeAssignor``. Cost: members × kinds of topics, where topics of
the same subscribers and size are one kind; members × topics in the answer, where those get something.
"""

from __future__ import annotations

from simulations.protocol.assignors.explanation import Explanation
from simulations.protocol.assignors.interface import GroupAssignment, GroupSpec
from simulations.protocol.assignors.sharing import (
    Shares,
    alike,
    cut,
    cuts_explained,
    members_in_order,
    subscribers_of,
)


class RangeAssignor:
    name = "range"

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        ordered = members_in_order(spec.members)
        subscribers = subscribers_of(spec.members[member_id] for member_id in ordered)
        counts = {topic: spec.partitions(topic) for topic in subscribers}
        shares: Shares = [{} for _ in ordered]
        for places, count, topics in alike(counts, subscribers):
            cut(shares, places, count, topics)
        if explain is not None:
            cuts_explained(explain, ordered, counts, subscribers)
        return GroupAssignment(members=dict(zip(ordered, shares, strict=True)))
