"""Large maps of which a few entries change at a time, and of which older versions are still looked at.

``put`` and ``drop`` give a new version and leave the old one as it was, whatever the size, in the same short time. Small maps
are plain dicts, which are quicker to copy. Of a large one the newest version holds the entries; an older one holds what
differs in the next newer one (Baker's trick). So what changed between two versions is found without a look at the rest.

Reading an old version costs a step for each change since. Writing to one makes it the newest again, at the same cost.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar, overload

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

SMALL_MAX: Final = 64
"""Entries up to which a plain dict is copied as a whole: that takes less than a microsecond."""

PATCHED_LEAST: Final = 8
"""Changes from which on an old version sums up what they changed, instead of walking through them at each look."""

_ABSENT: Final[Any] = object()
"""Where there is no value. ``Any``, as it is among values of each map's own type."""


def put(mapping: Mapping[K, V], key: K, value: V) -> Mapping[K, V]:
    """The map with ``value`` at ``key``: in its place if the key is there, else at the end."""
    # Asked of the class itself: ``isinstance`` of a mapping asks a registry whenever the answer is no.
    if type(mapping) is VersionedMap:
        return mapping.put(key, value)
    if len(mapping) < SMALL_MAX:
        return {**mapping, key: value}
    return VersionedMap.of(mapping).put(key, value)


def merged(mapping: Mapping[K, V], puts: Mapping[K, V]) -> Mapping[K, V]:
    """The map after ``put`` of each of ``puts``, with one copy of a small map for all of them."""
    if type(mapping) is not VersionedMap:
        both = {**mapping, **puts}
        return both if len(both) <= SMALL_MAX else VersionedMap.of(both)
    for key, value in puts.items():
        mapping = mapping.put(key, value)
    return mapping


def drop(mapping: Mapping[K, V], key: K) -> Mapping[K, V]:
    """The map without ``key``; the same one if it is not there."""
    if key not in mapping:
        return mapping
    if type(mapping) is VersionedMap:
        return mapping.drop(key)
    if len(mapping) <= SMALL_MAX:
        left = dict(mapping)
        del left[key]
        return left
    return VersionedMap.of(mapping).drop(key)


def edited(mapping: Mapping[K, V], puts: Mapping[K, V], drops: Iterable[K]) -> Mapping[K, V]:
    """The map with all of ``puts``, then without ``drops``, which are there; the same one if nothing is another value."""
    fresh = {key: value for key, value in puts.items() if mapping.get(key, _ABSENT) != value}
    if type(mapping) is VersionedMap or len(mapping) + len(fresh) > SMALL_MAX:
        for key, value in fresh.items():
            mapping = put(mapping, key, value)
        for key in drops:
            mapping = drop(mapping, key)
        return mapping
    gone = list(drops)
    if not fresh and not gone:
        return mapping
    new = {**mapping, **fresh}
    for key in gone:
        del new[key]
    return new


class _Table(Generic[K, V]):
    """The entries of the newest version; ``places`` number the keys in the order in which they came."""

    __slots__ = ("items", "next_place", "places", "shuffled")

    def __init__(self, items: dict[K, V]) -> None:
        self.items = items
        self.places = {key: place for place, key in enumerate(items)}
        self.next_place = len(items)
        self.shuffled = False
        """Whether a key that was dropped came back in its old place, where a dict puts it at the end."""

    def in_order(self) -> dict[K, V]:
        if self.shuffled:
            ordered = sorted(self.places.items(), key=itemgetter(1))
            self.items = {key: self.items[key] for key, _ in ordered}
            self.shuffled = False
        return self.items


class VersionedMap(Mapping[K, V]):
    """One version. Equal to any mapping with the same entries; iteration is in the order of insertion."""

    __slots__ = ("_key", "_length", "_newer", "_old", "_patch", "_place", "_reach", "_table")

    _length: int
    _table: _Table[K, V] | None
    """Of the newest version alone; the others have what follows."""
    _newer: VersionedMap[K, V] | None
    _key: K
    _old: V
    """What this version has at ``_key``, or ``_ABSENT``; ``_place`` is its place."""
    _place: int
    _patch: dict[K, tuple[V, int]] | None
    """What was changed, up to the version ``_reach``: key → value and place in this version."""
    _reach: VersionedMap[K, V] | None

    @classmethod
    def of(cls, mapping: Mapping[K, V]) -> VersionedMap[K, V]:
        """A map with the same entries, of which there are no versions yet."""
        return cls._newest(_Table(dict(mapping)), len(mapping))

    @classmethod
    def _newest(cls, table: _Table[K, V], length: int) -> VersionedMap[K, V]:
        new = cls.__new__(cls)
        new._table, new._length = table, length
        new._newer = new._patch = new._reach = None
        return new

    def put(self, key: K, value: V) -> VersionedMap[K, V]:
        """A version with ``value`` at ``key``."""
        table = self._table or self._reclaimed()
        old = table.items.get(key, _ABSENT)
        length = self._length
        if old is _ABSENT:
            place = table.places[key] = table.next_place
            table.next_place += 1
            length += 1
        else:
            place = table.places[key]
        table.items[key] = value
        return self._followed(table, length, key, old, place)

    def drop(self, key: K) -> VersionedMap[K, V]:
        """A version without ``key``; ``KeyError`` if it is not there."""
        table = self._table or self._reclaimed()
        old, place = table.items.pop(key), table.places.pop(key)
        return self._followed(table, self._length - 1, key, old, place)

    def _followed(self, table: _Table[K, V], length: int, key: K, old: V, place: int) -> VersionedMap[K, V]:
        """Hands the table over to the next version, and keeps what differs."""
        newer = self._newest(table, length)
        self._table, self._newer = None, newer
        self._key, self._old, self._place = key, old, place
        return newer

    def _reclaimed(self) -> _Table[K, V]:
        """Makes this version the newest; those that were newer differ from it now."""
        chain: list[VersionedMap[K, V]] = []
        at = self
        while at._newer is not None:
            chain.append(at)
            at = at._newer
        table = at._table
        assert table is not None
        for older in reversed(chain):
            newer = older._newer
            assert newer is not None
            key = older._key
            newer._key, newer._old = key, table.items.get(key, _ABSENT)
            newer._place = table.places.get(key, older._place)
            if older._old is _ABSENT:
                del table.items[key], table.places[key]
            else:
                table.shuffled = table.shuffled or key not in table.items
                table.items[key], table.places[key] = older._old, older._place
            newer._newer, newer._table, newer._patch, newer._reach = older, None, None, None
        self._newer, self._table, self._patch, self._reach = None, table, None, None
        return table

    def _found(self, key: K) -> V:
        """The value at ``key``, or ``_ABSENT``."""
        at: VersionedMap[K, V] = self
        steps = 0
        if at._patch is not None:
            known = at._patch.get(key)
            if known is not None:
                return known[0]
            assert at._reach is not None
            at = at._reach
        while (newer := at._newer) is not None:
            if at._key == key:
                return at._old
            at = newer
            steps += 1
        if steps > PATCHED_LEAST:
            self._patched(at)
        assert at._table is not None
        value: V = at._table.items.get(key, _ABSENT)
        return value

    def _patched(self, reach: VersionedMap[K, V]) -> dict[K, tuple[V, int]]:
        """What this version has at every key that was changed between it and a newer one."""
        patch = self._patch if self._patch is not None else {}
        at: VersionedMap[K, V] = self._reach if self._reach is not None else self
        while at is not reach:
            patch.setdefault(at._key, (at._old, at._place))
            assert at._newer is not None
            at = at._newer
        self._patch, self._reach = patch, reach
        return patch

    def changed_in(self, new: VersionedMap[K, V]) -> list[K] | None:
        """Keys that came, went, or hold another object in ``new``: those of this version first, each part in order.

        ``None`` if ``new`` did not come of this version.
        """
        touched: dict[K, tuple[V, int]] = {}
        at: VersionedMap[K, V] = self
        while at is not new:
            if at._newer is None:
                return None
            touched.setdefault(at._key, (at._old, at._place))
            at = at._newer
        had: list[tuple[int, K]] = []
        came: list[tuple[int, K]] = []
        for key, (old, place) in touched.items():
            value = new._found(key)
            if value is old:
                continue
            if old is _ABSENT:
                came.append((new._place_of(key), key))
            else:
                had.append((place, key))
        had.sort(key=itemgetter(0))
        came.sort(key=itemgetter(0))
        return [key for _, key in (*had, *came)]

    def _place_of(self, key: K) -> int:
        at: VersionedMap[K, V] = self
        while at._newer is not None:
            if at._key == key:
                return at._place
            at = at._newer
        assert at._table is not None
        return at._table.places[key]

    def _whole(self) -> dict[K, V]:
        """The entries, in order, for somebody who does not change them and is done before the next version is made."""
        if self._table is not None:
            return self._table.in_order()
        at: VersionedMap[K, V] = self
        while at._newer is not None:
            at = at._newer
        table = at._table
        assert table is not None
        items, places = dict(table.items), dict(table.places)
        for key, (old, place) in self._patched(at).items():
            if old is _ABSENT:
                items.pop(key, None)
                places.pop(key, None)
            else:
                items[key], places[key] = old, place
        return {key: items[key] for key, _ in sorted(places.items(), key=itemgetter(1))}

    def __getitem__(self, key: K) -> V:
        table = self._table
        if table is not None:
            return table.items[key]
        value = self._found(key)
        if value is _ABSENT:
            raise KeyError(key)
        return value

    @overload
    def get(self, key: K, /) -> V | None: ...

    @overload
    def get(self, key: K, /, default: V | T) -> V | T: ...

    def get(self, key: K, /, default: V | T | None = None) -> V | T | None:
        table = self._table
        if table is not None:
            return table.items.get(key, default)
        value = self._found(key)
        return default if value is _ABSENT else value

    def __contains__(self, key: object) -> bool:
        table = self._table
        if table is not None:
            return key in table.items
        # Asked for a key of any type; ``Any``, as a cast is a call, and this is asked of every entry.
        known: Any = key
        return self._found(known) is not _ABSENT

    def __iter__(self) -> Iterator[K]:
        return iter(list(self._whole()))

    def __len__(self) -> int:
        return self._length

    def keys(self) -> KeysView[K]:
        return dict(self._whole()).keys()

    def values(self) -> ValuesView[V]:
        return dict(self._whole()).values()

    def items(self) -> ItemsView[K, V]:
        return dict(self._whole()).items()

    def __repr__(self) -> str:
        return repr(self._whole())

    def __reduce__(self) -> tuple[Callable[[dict[K, V]], VersionedMap[K, V]], tuple[dict[K, V]]]:
        return VersionedMap.of, (dict(self._whole()),)
