"""``cooperative-sticky``: the plan of ``sticky``, reached in two rounds so that members need not stop reading.

A partition that another member may still hold is withheld from its new owner. The old owner misses it, gives it up and
joins again; the second round then assigns it. ``intended`` is the plan, ``members`` what is sent now.

Kafka: ``CooperativeStickyAssignor`` (KIP-429).
"""

from __future__ import annotations

from groups.wire.embedded.user_data import COOPERATIVE_STICKY
from simulations.protocol.assignors.classic.sticky import AbstractStickyAssignor
from simulations.protocol.assignors.classic.sticky.ownership import TopicPartition
from simulations.protocol.assignors.explanation import Explanation, named
from simulations.protocol.assignors.interface import Assignment, GroupAssignment, GroupSpec


class CooperativeStickyAssignor(AbstractStickyAssignor):
    name = COOPERATIVE_STICKY

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        plan = self.plan(spec, explain)
        transferring = plan.transferring
        if transferring is None:
            transferring = in_transfer(spec, plan.assignment)
        sent = dict(plan.assignment)
        withheld: dict[str, dict[str, set[int]]] = {}
        for (topic, partition), member_id in transferring.items():
            withheld.setdefault(member_id, {}).setdefault(topic, set()).add(partition)
        for member_id, by_topic in withheld.items():
            sent[member_id] = {
                topic: [p for p in partitions if p not in by_topic[topic]]
                if topic in by_topic
                else partitions
                for topic, partitions in sent[member_id].items()
            }
            if explain is not None:
                kept_back = named((topic, p) for topic, ps in by_topic.items() for p in sorted(ps))
                explain.say(
                    "withhold",
                    f"{member_id} is to get {', '.join(kept_back)} in the next round: another member may still hold it",
                    member=member_id,
                    partitions=kept_back,
                )
        return GroupAssignment(members=sent, intended=plan.assignment, faults=tuple(plan.faults))


def in_transfer(spec: GroupSpec, assignment: Assignment) -> dict[TopicPartition, str]:
    """Partitions that some member is to get and did not claim, and that another claims and is not to get."""
    added: dict[TopicPartition, str] = {}
    given_up: set[TopicPartition] = set()
    for member_id, assigned in assignment.items():
        owned = spec.members[member_id].owned
        if assigned is owned:
            continue
        for topic, partitions in assigned.items():
            before = owned.get(topic, ())
            if before is not partitions:
                held = frozenset(before)
                added.update(((topic, p), member_id) for p in partitions if p not in held)
        for topic, partitions in owned.items():
            after = assigned.get(topic, ())
            if after is not partitions:
                kept = frozenset(after)
                given_up.update((topic, p) for p in partitions if p not in kept)
    return {taken: member_id for taken, member_id in added.items() if taken in given_up}
