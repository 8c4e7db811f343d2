"""``roundrobin``: members stand in a ring, partitions of the sorted topics go round, past those who do not subscribe.

Example: C0 subscribes to t0, C1 to t0 and t1, C2 to all; t0 has 1 partition, t1 2, t2 3: C0 t0{0}, C1 t1{0},
C2 t1{1} t2{0,1,2}.

Kafka: ``RoundRobinAssignor``. Cost: members × topics that they get something of.
"""

from __future__ import annotations

from simulations.protocol.assignors.classic.metadata import partition_counts
from simulations.protocol.assignors.explanation import Explanation
from simulations.protocol.assignors.interface import GroupAssignment, GroupSpec
from simulations.protocol.assignors.sharing import (
    Shares,
    deal,
    deals_explained,
    java_sorted,
    members_in_order,
    subscribers_of,
)


class RoundRobinAssignor:
    name = "roundrobin"

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        ring = members_in_order(spec.members)
        subscribers = subscribers_of(spec.members[member_id] for member_id in ring)
        counts = partition_counts(spec, java_sorted(subscribers))
        shares: Shares = [{} for _ in ring]
        deal(shares, counts, subscribers)
        if explain is not None:
            deals_explained(explain, ring, counts, subscribers)
        return GroupAssignment(members=dict(zip(ring, shares, strict=True)))
