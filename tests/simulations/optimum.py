"""The least number of moves with which an assignment's own balance can be had.

An assignor is as sticky as can be if nobody could give the members as many partitions as it does and move fewer.
Which of the members of one subscription gets which of their sizes is free, where sizes differ by one at most; and
where all members subscribe alike, always. Two ways to compute it:

* All subscribe alike and no partition is claimed twice: by counting. Of its ``c`` claims a member of size ``s`` keeps
  ``min(c, s)``; the most are kept when the members with the most claims are the largest.
* Otherwise by cancelling negative cycles, from the assignment itself: a partition handed round a ring of members leaves
  all sizes as they are; as long as some ring saves a move, it is taken (Klein's method for flows of least cost; no ring
  left means least). Only for small groups: each ring costs members × arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from simulations.protocol.assignors.interface import GroupSpec, Owned, all_subscribe_alike
from simulations.protocol.assignors.measures import Claims

MEMBERS_MAX: Final = 30
"""Members up to which rings are searched: with the partitions below it takes a second at worst, and grows with the cube."""

PARTITIONS_MAX: Final = 300
"""Partitions up to which rings are searched: there may be a ring for each."""

_Pool = tuple[str, frozenset[int]]
"""A topic, and the members that claim these partitions of it: what is alike in both is interchangeable."""


def least_moves(spec: GroupSpec, assigned: Mapping[str, Owned], claims: Claims | None = None) -> int | None:
    """How many partitions must change hands to be as balanced as ``assigned``, a sound assignment.

    None where it is not computed: the subscriptions differ, or claims overlap, in a group that is not small.
    """
    members = list(spec.members)
    if claims is None:
        claims = {member_id: member.owned for member_id, member in spec.members.items()}
    claimers: dict[tuple[str, int], frozenset[int]] = {}
    for index, member_id in enumerate(members):
        for topic, partitions in claims.get(member_id, {}).items():
            for partition in partitions:
                claimers[topic, partition] = claimers.get((topic, partition), frozenset()) | {index}
    if all_subscribe_alike(spec.members) and all(len(of) == 1 for of in claimers.values()):
        return _by_counting(spec, members, assigned, claimers)
    total = sum(len(partitions) for owned in assigned.values() for partitions in owned.values())
    if len(members) > MEMBERS_MAX or total > PARTITIONS_MAX:
        return None
    return _Rings(spec, members, assigned, claimers).least()


def _by_counting(
    spec: GroupSpec,
    members: list[str],
    assigned: Mapping[str, Owned],
    claimers: Mapping[tuple[str, int], frozenset[int]],
) -> int:
    claimed = [0] * len(members)
    sizes = [0] * len(members)
    for index, member_id in enumerate(members):
        for topic, partitions in assigned.get(member_id, {}).items():
            sizes[index] += len(partitions)
            for partition in partitions:
                for claimer in claimers.get((topic, partition), ()):
                    claimed[claimer] += 1
    keepable = sum(map(min, sorted(claimed), sorted(sizes)))
    return sum(claimed) - keepable


class _Rings:
    """Members as nodes; an arc from one to another for each partition that could change hands, at what it would cost."""

    def __init__(
        self,
        spec: GroupSpec,
        members: list[str],
        assigned: Mapping[str, Owned],
        claimers: Mapping[tuple[str, int], frozenset[int]],
    ) -> None:
        self.topics = [frozenset(spec.members[member_id].topics) for member_id in members]
        self.held: list[Counter[_Pool]] = [Counter() for _ in members]
        for index, member_id in enumerate(members):
            for topic, partitions in assigned.get(member_id, {}).items():
                for partition in partitions:
                    self.held[index][topic, claimers.get((topic, partition), frozenset())] += 1
        self.sizes = [held.total() for held in self.held]
        alike: dict[frozenset[str], set[int]] = {}
        for topics, size in zip(self.topics, self.sizes, strict=True):
            alike.setdefault(topics, set()).add(size)
        self.even = {topics for topics, sizes in alike.items() if max(sizes) - min(sizes) <= 1}

    def least(self) -> int:
        while (ring := self._saving_ring()) is not None:
            for giver, taker, pool in ring:
                if pool is None:
                    self.sizes[giver] += 1
                    self.sizes[taker] -= 1
                    continue
                self.held[giver][pool] -= 1
                if not self.held[giver][pool]:
                    del self.held[giver][pool]
                self.held[taker][pool] += 1
        return sum(
            count
            for index, held in enumerate(self.held)
            for (_, by), count in held.items()
            if by and index not in by
        )

    def _arcs(self) -> dict[tuple[int, int], tuple[int, _Pool | None]]:
        """The cheapest partition for each pair; None as the partition where two members change their sizes instead."""
        arcs: dict[tuple[int, int], tuple[int, _Pool | None]] = {}
        everybody = range(len(self.held))
        for giver in everybody:
            for pool in self.held[giver]:
                topic, by = pool
                now = bool(by) and giver not in by
                for taker in everybody:
                    if taker != giver and topic in self.topics[taker]:
                        cost = (bool(by) and taker not in by) - now
                        if (giver, taker) not in arcs or cost < arcs[giver, taker][0]:
                            arcs[giver, taker] = cost, pool
        for small in everybody:
            for large in everybody:
                one_more = self.sizes[large] == self.sizes[small] + 1
                alike = self.topics[small] == self.topics[large] and self.topics[small] in self.even
                if one_more and alike and arcs.get((small, large), (1, None))[0] > 0:
                    arcs[small, large] = 0, None
        return arcs

    def _saving_ring(self) -> list[tuple[int, int, _Pool | None]] | None:
        """Bellman and Ford from everywhere at once; a distance that still shrinks in the last round is on a ring."""
        arcs = self._arcs()
        count = len(self.held)
        distance = [0] * count
        before = [-1] * count
        shrunk = -1
        for _ in range(count):
            shrunk = -1
            for (giver, taker), (cost, _pool) in arcs.items():
                if distance[giver] + cost < distance[taker]:
                    distance[taker] = distance[giver] + cost
                    before[taker] = giver
                    shrunk = taker
            if shrunk < 0:
                return None
        for _ in range(count):
            shrunk = before[shrunk]
        ring: list[tuple[int, int, _Pool | None]] = []
        at = shrunk
        while not ring or at != shrunk:
            ring.append((before[at], at, arcs[before[at], at][1]))
            at = before[at]
        return ring
