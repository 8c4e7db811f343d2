"""Members of one subscription, by quota.

With ``P`` partitions and ``C`` members everybody gets ``P // C``, and ``P % C`` members one more. Members keep what they
own up to that; those who own more may keep the one more as long as there are such places, in the order of Java's
``HashMap``. What is free then goes round those who have too little, in the order of their ids, and the last ones to
those who may have one more. Where racks can help, free partitions that few members share a rack with are given first,
to the next member in a replica's rack.

Example: c1 owns t1{0} t2{0}, c2 t1{1} t2{1}, c3 is new: c1 keeps both, c2 t1{1}, c3 t2{1}.

Kafka: ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``. Cost: claims, and members × topics that they get
something of.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence

from simulations.protocol.assignors.classic.sticky.ownership import (
    NOBODY,
    Ownership,
    TopicPartition,
    free_partitions,
)
from simulations.protocol.assignors.explanation import Explanation, explain_drop, explain_quota, listed, named
from simulations.protocol.assignors.faults import BEYOND_COUNT
from simulations.protocol.assignors.interface import AssignorError, Owned
from simulations.protocol.assignors.java_orders import HashOrder, string_hash, utf16
from simulations.protocol.assignors.sharing import Shares, deal, deals_explained, java_sorted


def assign_constrained(
    found: Ownership, explain: Explanation | None
) -> tuple[list[Owned], dict[TopicPartition, int]]:
    """What each member gets, and the partitions in transfer with the place of their new owner."""
    builder = _Builder(found, explain)
    builder.keep_owned()
    topics = java_sorted(found.counts)
    if builder.nothing_kept and not found.racks:
        builder.deal_all(topics)
    else:
        builder.give_free(topics)
    return builder.shares, builder.transferring


class _Builder:
    def __init__(self, found: Ownership, explain: Explanation | None) -> None:
        self.found = found
        self.explain = explain
        members = len(found.members)
        self.total = sum(found.counts.values())
        self.least, self.with_more = divmod(self.total, members)
        self.most = self.least + (self.with_more > 0)
        self.having_more = 0
        self.shares: list[Owned] = []
        self.sizes: list[int] = []
        self.under: list[int] = []
        self.exact: list[int] = []
        self.transferring: dict[TopicPartition, int] = {}
        self.maybe_revoked: dict[TopicPartition, int] = {}
        self.nothing_kept = False
        if explain is not None:
            explain_quota(explain, self.total, members, self.least, self.with_more)

    def keep_owned(self) -> None:
        found = self.found
        enough: list[int] = []
        for place, owned in enumerate(found.owned):
            kept = self._allowed(place, owned) if found.racks or found.twice else owned
            size = sum(map(len, kept.values())) if kept else 0
            self.shares.append(kept)
            self.sizes.append(size)
            (self.under if size < self.least else enough).append(place)
        full = [place for place in enough if self.sizes[place] >= self.most] if self.with_more else []
        if len(full) > self.with_more:
            full = self._first_in_java(full, self.with_more)
        self.having_more = len(full)
        with_more = set(full)
        for place in enough:
            self._cut_to(place, self.most if place in with_more else self.least)
        if self.having_more < self.with_more:
            self.exact = [place for place in enough if place not in with_more]
        self.nothing_kept = not any(self.sizes)

    def _allowed(self, place: int, owned: Owned) -> Owned:
        """What a member owns without what its rack or a second claim forbids."""
        found = self.found
        kept: dict[str, Sequence[int]] = {}
        elsewhere: list[TopicPartition] = []
        claimed_twice: list[TopicPartition] = []
        for topic, partitions in owned.items():
            staying = []
            for partition in partitions:
                if not found.matches(place, topic, partition):
                    self.maybe_revoked[topic, partition] = place
                    elsewhere.append((topic, partition))
                elif (topic, partition) not in found.twice:
                    staying.append(partition)
                    continue
                else:
                    claimed_twice.append((topic, partition))
                self._free(place, topic, partition)
            kept[topic] = staying
        if self.explain is not None:
            member_id = found.member_ids[place]
            explain_drop(
                self.explain,
                member_id,
                elsewhere,
                f"no replica stands in its rack, {found.racks[place]}" if elsewhere else "",
            )
            explain_drop(self.explain, member_id, claimed_twice, "two members of one generation claim it")
        return kept

    def _free(self, place: int, topic: str, partition: int) -> None:
        holding = self.found.holders[topic]
        if 0 <= partition < len(holding) and holding[partition] == place:
            holding[partition] = NOBODY

    def _first_in_java(self, places: Iterable[int], count: int) -> list[int]:
        """The first of some members in the order of a ``HashMap`` by id that holds all of them."""
        ids = self.found.member_ids
        wanted = {ids[place]: place for place in places}
        order = HashOrder.filled(string_hash, ids)
        return [wanted[member_id] for member_id in order if member_id in wanted][:count]

    def _cut_to(self, place: int, quota: int) -> None:
        """Keeps the first ``quota`` by partition number, then topic; the rest is free."""
        if self.sizes[place] == quota:
            return
        kept = self.shares[place]
        flat = sorted(
            ((p, topic) for topic, partitions in kept.items() for p in partitions),
            key=lambda owned: (owned[0], utf16(owned[1])),
        )
        gone = flat[quota:]
        lost: dict[str, set[int]] = {}
        for partition, topic in gone:
            self.maybe_revoked[topic, partition] = place
            self._free(place, topic, partition)
            lost.setdefault(topic, set()).add(partition)
        self.shares[place] = {
            topic: [p for p in partitions if p not in lost[topic]] if topic in lost else partitions
            for topic, partitions in kept.items()
        }
        self.sizes[place] = quota
        if self.explain is not None and gone:
            names = named((topic, partition) for partition, topic in gone)
            self.explain.say(
                "over-quota",
                f"{self.found.member_ids[place]} owns {len(flat)}, its quota is {quota}: it gives up {listed(names)}",
                member=self.found.member_ids[place],
                owned=len(flat),
                quota=quota,
                partitions=names,
            )

    def deal_all(self, topics: Sequence[str]) -> None:
        """Nobody keeps anything: partition after partition to the next member by id."""
        ids = self.found.member_ids
        places = {member_id: place for place, member_id in enumerate(ids)}
        order = [places[member_id] for member_id in java_sorted(ids)]
        shares: Shares = [{} for _ in ids]
        everybody = list(range(len(ids)))
        counts = {topic: self.found.counts[topic] for topic in topics}
        deal(shares, counts, dict.fromkeys(topics, everybody))
        for place, share in zip(order, shares, strict=True):
            self.shares[place] = share
        if self.explain is not None:
            deals_explained(self.explain, java_sorted(ids), counts, dict.fromkeys(topics, everybody))
        if self.maybe_revoked or self.found.twice:
            self._note_transfers()

    def _note_transfers(self) -> None:
        for place, share in enumerate(self.shares):
            for topic, partitions in share.items():
                for partition in partitions:
                    self._note_transfer((topic, partition), place)

    def _note_transfer(self, taken: TopicPartition, place: int) -> None:
        if self.maybe_revoked.get(taken, place) != place or taken in self.found.twice:
            self.transferring[taken] = place

    def give_free(self, topics: Sequence[str]) -> None:
        odd = self._kept_beyond() if self.found.beyond else ()
        free = [
            (topic, partition)
            for topic, partitions in free_partitions(self.found.holders, topics, odd).items()
            for partition in partitions
        ]
        ids = self.found.member_ids
        rank = {member_id: number for number, member_id in enumerate(java_sorted(ids))} if free else {}
        self.under.sort(key=lambda place: rank.get(ids[place], 0))
        self.exact.sort(key=lambda place: rank.get(ids[place], 0))
        exact = deque(self.exact)
        # Lists that members gave are theirs: what grows is a copy.
        self.grown: list[tuple[dict[str, Sequence[int]], dict[str, list[int]]] | None] = [None] * len(ids)
        if self.found.racks:
            free = self._in_racks(free, exact)
        self._go_round(free, exact)
        if self.under and (
            self.having_more != self.with_more or any(self.sizes[p] != self.least for p in self.under)
        ):
            raise AssignorError("members are left with too little", BEYOND_COUNT)

    def _kept_beyond(self) -> list[TopicPartition]:
        counts = self.found.counts
        return [
            (topic, partition)
            for share in self.shares
            for topic, partitions in share.items()
            for partition in partitions
            if not 0 <= partition < counts[topic]
        ]

    def _in_racks(self, free: list[TopicPartition], exact: deque[int]) -> list[TopicPartition]:
        """Gives what it can to members in a replica's rack; returns the rest."""
        found, under = self.found, self.under
        of_rack = Counter(rack for rack in found.racks if rack is not None)
        wanted = {each: sum(of_rack[rack] for rack in each) for of in found.on.values() for each in of}
        free = sorted(free, key=lambda taken: wanted[found.on[taken[0]][taken[1]]])
        left: list[TopicPartition] = []
        short = Counter(found.racks[place] for place in under)
        at_least = Counter(found.racks[place] for place in exact)
        turn = 0
        for taken in free:
            each = found.on[taken[0]][taken[1]]
            if any(short[rack] for rack in each):
                index = turn
                while found.racks[under[index]] not in each:
                    index = (index + 1) % len(under)
                place = under[index]
                size = self._give(taken, place, "the next with too little that is in a replica's rack")
                if size >= self.least:
                    del under[index]
                    short[found.racks[place]] -= 1
                    if size < self.most and self.having_more < self.with_more:
                        exact.append(place)
                        at_least[found.racks[place]] += 1
                else:
                    index += 1
                turn = index % len(under) if under else 0
            elif any(at_least[rack] for rack in each):
                index = next(i for i, place in enumerate(exact) if found.racks[place] in each)
                place = exact[index]
                if (
                    self._give(taken, place, "which may have one more and is in a replica's rack")
                    == self.most
                ):
                    del exact[index]
                    at_least[found.racks[place]] -= 1
                    self.having_more += 1
                    if self.having_more == self.with_more:
                        exact.clear()
                        at_least.clear()
            else:
                left.append(taken)
        return left

    def _go_round(self, free: Iterable[TopicPartition], exact: deque[int]) -> None:
        under = self.under
        index = 0
        for taken in free:
            if not under:
                if not exact:
                    raise AssignorError("more partitions are free than members may have", BEYOND_COUNT)
                place, why = exact.popleft(), "the next that may have one more"
            else:
                index = 0 if index >= len(under) else index
                place, why = under[index], "the next with too little"
            size = self._give(taken, place, why)
            if size == self.least and under:
                del under[index]
                exact.append(place)
            else:
                index += 1
                if size == self.most:
                    self.having_more += 1

    def _give(self, taken: TopicPartition, place: int, why: str) -> int:
        """Gives a partition to a member; returns how much that has then."""
        topic, partition = taken
        grown = self.grown[place]
        if grown is None:
            grown = self.grown[place] = (dict(self.shares[place]), {})
            self.shares[place] = grown[0]
        share, lists = grown
        if topic not in lists:
            share[topic] = lists[topic] = [*share.get(topic, ())]
        lists[topic].append(partition)
        self.sizes[place] += 1
        self._note_transfer(taken, place)
        if self.explain is not None:
            member_id = self.found.member_ids[place]
            self.explain.say(
                "give",
                f"{topic}-{partition} goes to {member_id}, {why}: {self.sizes[place]} with it",
                partitions=[f"{topic}-{partition}"],
                member=member_id,
                size=self.sizes[place],
            )
        return self.sizes[place]
