"""A client-side assignor of one's own: members on larger machines read more.

Each member tells its weight in its metadata, one byte. Partitions of a topic go, one after another, to the subscriber that
then has the least for its weight; of several such to the one that had the partition, else to the first.
"""

from __future__ import annotations

from simulations.protocol.assignors.client_side import (
    ClientAnswer,
    ClientAssignor,
    ClientGroup,
    MemberAnswer,
    Metadata,
)


class Assignor(ClientAssignor):
    name = "weighted"
    weight = 1

    def metadata(self) -> Metadata:
        return Metadata(version=0, data=bytes([self.weight]))

    def assign(self, group: ClientGroup) -> ClientAnswer:
        weights = {member_id: weight_in(member.metadata.data) for member_id, member in group.members.items()}
        given: dict[str, dict[str, list[int]]] = {member_id: {} for member_id in group.members}
        sizes = dict.fromkeys(group.members, 0)
        for topic_id, topic in group.topics.items():
            subscribers = [m for m, member in group.members.items() if topic_id in member.topics]
            before = {p: m for m in subscribers for p in group.members[m].target.get(topic_id, ())}
            for partition in range(topic.partitions if subscribers else 0):
                load = {m: (sizes[m] + 1) / weights[m] for m in subscribers}
                least = [m for m in subscribers if load[m] == min(load.values())]
                taker = before[partition] if before.get(partition) in least else least[0]
                given[taker].setdefault(topic_id, []).append(partition)
                sizes[taker] += 1
        return ClientAnswer(members={m: MemberAnswer(partitions=given[m]) for m in group.members})


def weight_in(data: bytes) -> int:
    return max(data[0], 1) if data else 1
