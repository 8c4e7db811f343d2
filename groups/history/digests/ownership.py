"""Who holds, gives up and should hold each partition, kept up to date change by change.

What a change costs follows the partitions that it names, never the size of the group. The rules are those by which the
board draws a frame (``static/js/frame/view.js``):

* a partition is held by the member that it is assigned to (while a classic group's joining phase is known: by the member whose
  client reads it), and by the one that was asked to revoke it and has not confirmed;
* one that two members hold is held *twice*, one that is being revoked is *revoking*, one whose holder is not its target
  owner is *leaving* (of several target owners the last id counts); in a share group, where any number may hold one, none of this is wrong;
* the target counts while it belongs to the group epoch (``known``);
* one that exists and that nobody holds is *free*. It exists if somebody subscribed to its topic, held it or should
  hold it, and the topic has as many partitions; no source contains the number of a streams group's tasks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from groups.history.digests.values import (
    FREE,
    LEAVING,
    MODE_LEAVING,
    MODE_REVOKING,
    MODE_TWICE,
    NOWHERE,
    OWN,
    REVOKING,
    TWICE,
    WAITS,
    PartitionKey,
    PartitionValue,
)

ASSIGNED: Final = 1
PENDING: Final = 2
"""Asked to revoke it, by the records."""
CLIENT: Final = 4
"""Asked to revoke it, by what its client was answered: the proposal's own machine has no such state in its records."""

_GIVING_UP: Final = PENDING | CLIENT


class _Place:
    """One partition: its holders with what each of them holds of it, and whose target has it."""

    __slots__ = ("holders", "wanted")

    def __init__(self) -> None:
        self.holders: dict[str, int] = {}
        self.wanted: dict[str, None] = {}


class _Counts:
    """Of one member, without regard to whether the target counts."""

    __slots__ = ("astray", "held", "revoking", "twice", "wanted")

    def __init__(self) -> None:
        self.held = self.revoking = self.twice = self.astray = self.wanted = 0


class Ownership:
    """Has ``value`` of any partition, and counts of any member; ``dirty_*`` collect what may have changed."""

    def __init__(self) -> None:
        self._places: dict[PartitionKey, _Place] = {}
        self._counts: defaultdict[str, _Counts] = defaultdict(_Counts)
        self._astray: set[PartitionKey] = set()
        self._waiting: set[str] = set()
        self._subscribers: dict[str, set[str]] = {}
        self._exist: dict[str, int] = {}
        self._partitions_of: dict[str, int | None] = {}
        self._unsettled: set[str] = set()
        self._free: set[PartitionKey] = set()
        self.known = False
        self.share = False
        self.streams = False
        self.dirty_members: set[str] = set()
        self.dirty_partitions: set[PartitionKey] = set()

    @property
    def unassigned(self) -> int:
        """How many partitions are free."""
        return len(self._free)

    def value(self, key: PartitionKey) -> PartitionValue:
        place = self._places.get(key)
        if place is None or not place.holders:
            free = (place is not None and place.wanted) or self._exists(key)
            return PartitionValue(None, FREE) if free else NOWHERE
        return PartitionValue(self._owner(place), self._mode(place))

    def partitions(self) -> Iterable[PartitionKey]:
        """Every partition that exists, is held or should be."""
        seen = {key for key, place in self._places.items() if place.holders or place.wanted}
        return seen | self._free

    def of(self, member_id: str) -> tuple[int, int, int, int]:
        """Bits, and how many partitions it holds, revokes, and should hold and does not."""
        counts = self._counts.get(member_id)
        if counts is None:
            return 0, 0, 0, 0
        wanted = counts.wanted if self.known else 0
        flags = (
            (LEAVING if self.known and counts.astray else 0)
            | (WAITS if wanted else 0)
            | (REVOKING if counts.revoking else 0)
            | (TWICE if counts.twice else 0)
        )
        return flags, counts.held, counts.revoking, wanted

    def know(self, known: bool) -> None:
        """Whether the target belongs to the group epoch."""
        if known is not self.known:
            self.known = known
            self.dirty_partitions |= self._astray
            for topic, partition in self._astray:
                self.dirty_members.update(self._places[topic, partition].holders)
            self.dirty_members |= self._waiting

    def become(self, *, share: bool, streams: bool) -> None:
        """Which protocol the group speaks: it decides what counts as wrong."""
        if (share, streams) == (self.share, self.streams):
            return
        for place in self._places.values():
            self._tally(place, -1)
        self.share, self.streams = share, streams
        for key, place in self._places.items():
            self._after(key, place)
        for topic in list(self._exist):
            self._size(topic)

    def hold(
        self,
        member_id: str,
        bit: int,
        old: Mapping[str, Sequence[int]] | None,
        new: Mapping[str, Sequence[int]] | None,
    ) -> None:
        """What a member has assigned or reads (or is asked to revoke) was ``old`` and is ``new``, by topic."""
        for key, there in _moved(old, new):
            place = self._before(key)
            held = place.holders.get(member_id, 0)
            held = held | bit if there else held & ~bit
            if held:
                place.holders[member_id] = held
            else:
                place.holders.pop(member_id, None)
            self._after(key, place)

    def want(
        self, member_id: str, old: Mapping[str, Sequence[int]] | None, new: Mapping[str, Sequence[int]] | None
    ) -> None:
        """A member's target was ``old`` and is ``new``."""
        for key, there in _moved(old, new):
            place = self._before(key)
            if there:
                place.wanted[member_id] = None
            else:
                place.wanted.pop(member_id, None)
            self._after(key, place)

    def subscribe(self, member_id: str, old: Iterable[str] | None, new: Iterable[str] | None) -> None:
        before, after = set(old or ()), set(new or ())
        for topic in before - after:
            self._subscribers[topic].discard(member_id)
        for topic in after - before:
            self._subscribers.setdefault(topic, set()).add(member_id)
            self._unsettled.add(topic)

    def meet(self, topics: Iterable[str]) -> None:
        """The group had to do with these before now."""
        for topic in topics:
            self._exist.setdefault(topic, 0)

    def count(self, topic: str, partitions: int | None) -> None:
        """How many partitions a topic has, if the source reports it."""
        self._partitions_of[topic] = partitions
        self._unsettled.add(topic)

    def settle(self) -> None:
        """All changes of an entry were given: for topics in them, the state after the last change counts."""
        for topic in self._unsettled:
            if topic in self._exist or (self._subscribers.get(topic) and self._partitions_of.get(topic)):
                self._size(topic)
        self._unsettled.clear()

    def _size(self, topic: str) -> None:
        before = self._exist.get(topic, 0)
        after = 0 if self.streams else self._partitions_of.get(topic) or 0
        self._exist[topic] = after
        for partition in range(min(before, after), max(before, after)):
            key = (topic, partition)
            self.dirty_partitions.add(key)
            self._freed(key)

    def _exists(self, key: PartitionKey) -> bool:
        return key[1] < self._exist.get(key[0], 0)

    def _freed(self, key: PartitionKey) -> None:
        place = self._places.get(key)
        held = place is not None and place.holders
        if not held and ((place is not None and place.wanted) or self._exists(key)):
            self._free.add(key)
        else:
            self._free.discard(key)

    def _before(self, key: PartitionKey) -> _Place:
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = _Place()
            if key[0] not in self._exist:
                self._size(key[0])
        else:
            self._tally(place, -1)
        return place

    def _after(self, key: PartitionKey, place: _Place) -> None:
        self._tally(place, +1)
        self.dirty_partitions.add(key)
        if self._is_astray(place):
            self._astray.add(key)
        else:
            self._astray.discard(key)
        self._freed(key)

    def _tally(self, place: _Place, by: int) -> None:
        """Takes a partition into the counts of all whom it concerns, or out of them."""
        holders = place.holders
        twice = len(holders) > 1 and not self.share
        astray = self._is_astray(place)
        for member_id, held in holders.items():
            counts = self._counts[member_id]
            counts.held += by
            counts.revoking += by if held & _GIVING_UP else 0
            counts.twice += by if twice else 0
            counts.astray += by if astray else 0
            self.dirty_members.add(member_id)
        for member_id in self._wanting(place):
            if member_id not in holders:
                counts = self._counts[member_id]
                counts.wanted += by
                if counts.wanted:
                    self._waiting.add(member_id)
                else:
                    self._waiting.discard(member_id)
                self.dirty_members.add(member_id)

    def _wanting(self, place: _Place) -> Iterable[str]:
        """Whose target has it; outside a share group one of them, should there be several."""
        return place.wanted if self.share or len(place.wanted) < 2 else (max(place.wanted),)

    def _is_astray(self, place: _Place) -> bool:
        if self.share or len(place.holders) != 1:
            return False
        ((member_id, held),) = place.holders.items()
        return not held & _GIVING_UP and next(iter(self._wanting(place)), None) != member_id

    def _owner(self, place: _Place) -> str:
        if len(place.holders) == 1:
            return next(iter(place.holders))
        return min(place.holders, key=lambda member_id: (not place.holders[member_id] & ASSIGNED, member_id))

    def _mode(self, place: _Place) -> int:
        if len(place.holders) > 1 and not self.share:
            return MODE_TWICE
        if any(held & _GIVING_UP for held in place.holders.values()):
            return MODE_REVOKING
        return MODE_LEAVING if self.known and self._is_astray(place) else OWN


def _moved(
    old: Mapping[str, Sequence[int]] | None, new: Mapping[str, Sequence[int]] | None
) -> Iterable[tuple[PartitionKey, bool]]:
    """Partitions that went and came, and whether they are there now. Where both sides hold one, it stays."""
    old, new = old or {}, new or {}
    for topic in {**old, **new}:
        before, after = old.get(topic) or (), new.get(topic) or ()
        if before is after or before == after:
            continue
        gone, come = set(before).difference(after), set(after).difference(before)
        for partition in sorted(gone):
            yield (topic, partition), False
        for partition in sorted(come):
            yield (topic, partition), True
