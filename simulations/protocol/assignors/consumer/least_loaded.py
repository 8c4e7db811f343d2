"""Who takes partitions one by one if always the least loaded does, members of one size in their order.

Subscribers are in *levels*: all of one size together. A subscriber that takes one partition goes to the next level, so that a topic that
deals many partitions moves whole levels, and sorts nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class Levels:
    """The subscribers of some topics by how many partitions they hold; ``sizes`` is read once, and never changed here.

    It holds for as long as nobody else gives or takes what its subscribers hold: see ``are_apart``.
    """

    __slots__ = ("_levels", "_lowest")

    def __init__(self, subscribers: Sequence[int], sizes: Sequence[int]) -> None:
        self._levels: dict[int, list[int]] = {}
        for member in subscribers:
            self._levels.setdefault(sizes[member], []).append(member)
        self._lowest = min(self._levels)

    def take(self, count: int) -> list[int]:
        """Who takes ``count`` partitions of a topic, in order. Subscribers ascend, and so do the members of each level between topics.

        Within a topic, those that came up to a level go before those that were on it: Kafka sorts once a topic.
        """
        takers: list[int] = []
        levels = self._levels
        while (room := count - len(takers)) > 0:
            front = levels.pop(self._lowest)
            taken = front[:room]
            takers += taken
            levels[self._lowest + 1] = taken + levels.get(self._lowest + 1, [])
            if room < len(front):
                levels[self._lowest] = front[room:]
            else:
                self._lowest += 1
        for level in (self._lowest, self._lowest + 1):
            if level in levels:
                # Few ascending runs: Python's sort merges them.
                levels[level].sort()
        return takers


def are_apart(classes: Iterable[Sequence[int]]) -> bool:
    """Whether no member subscribes to topics of two classes: then what one takes does not change another's levels."""
    all_places = [place for places in classes for place in places]
    return len(set(all_places)) == len(all_places)


def least_first(subscribers: Sequence[int], sizes: Sequence[int], count: int) -> list[int]:
    """The same for one topic alone: level after level, each level's members in their order."""
    members = sorted(subscribers, key=sizes.__getitem__)
    level = sizes[members[0]]
    end = 0
    takers: list[int] = []
    while len(takers) < count:
        while end < len(members) and sizes[members[end]] == level:
            end += 1
        takers += members[: min(end, count - len(takers))]
        level += 1
    return takers
