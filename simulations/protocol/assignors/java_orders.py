"""The orders in which Java walks its hash tables, so that records come out as a real broker writes them.

A broker's lists of members, topics and partitions stand in the order of ``java.util.HashMap``, ``HashSet`` or
Kafka's own ``TimelineHashMap``. The rules are those of OpenJDK (``HashMap.putVal``, ``computeIfAbsent``,
``resize``) and of Kafka's ``BaseHashTable``. What is left out: a bucket of eight and more keys becomes a tree in
Java, which moves its root to the front; no bucket here is walked in that order.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar, cast

K = TypeVar("K", bound=Hashable)

DEFAULT_TABLE = 16
"""Slots of a ``HashMap`` that was made without a capacity, from its first insertion on."""

LEAST_SLOTS = 2
"""Slots of a new ``TimelineHashMap``."""

HASHES_KEPT = 1 << 16
"""Hashes of texts that are kept at hand, as Java's strings keep theirs: more than a group has members and topics."""

_GOLDEN = 7046029254386353131
_MASK_32 = 0xFFFFFFFF
_MASK_64 = 0xFFFFFFFFFFFFFFFF


@lru_cache(maxsize=HASHES_KEPT)
def string_hash(text: str) -> int:
    """``String.hashCode`` as an unsigned 32-bit number: over UTF-16 units, factor 31."""
    units = utf16(text)
    result = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & _MASK_32
    return result


def utf16(text: str) -> bytes:
    """A sort key: Java compares strings by their UTF-16 units, which is not by code points."""
    return text.encode("utf-16-be", "surrogatepass")


def int_hash(number: int) -> int:
    """``Integer.hashCode`` as an unsigned 32-bit number: the number itself."""
    return number & _MASK_32


@lru_cache(maxsize=HASHES_KEPT)
def uuid_hash(text: str) -> int:
    """Hash of Kafka's ``Uuid``, given in its url-safe base64 form of 22 characters."""
    raw = base64.urlsafe_b64decode(text + "==")
    mixed = int.from_bytes(raw[:8], "big") ^ int.from_bytes(raw[8:], "big")
    return ((mixed >> 32) ^ mixed) & _MASK_32


def signed_32(number: int) -> int:
    """The number as Java's ``int`` shows it."""
    number &= _MASK_32
    return number - (1 << 32) if number >> 31 else number


def offsets_partition(group_id: str, partitions: int) -> int:
    """The partition of ``__consumer_offsets`` that holds a group: ``Math.abs(hash) % partitions``.

    ``Math.abs`` of the least ``int`` is negative in Java; Kafka's ``Utils.abs`` gives 0 for it.
    """
    number = signed_32(string_hash(group_id))
    return 0 if number == -(1 << 31) else abs(number) % partitions


def table_for(capacity: int) -> int:
    """The least power of two that is not below ``capacity`` (1 for 0)."""
    return 1 if capacity <= 1 else 1 << (capacity - 1).bit_length()


class HashOrder(Generic[K]):
    """The keys of a ``java.util.HashMap`` or ``HashSet``, walked as Java walks them.

    Keys that were only put stand by bucket, and in a bucket in the order in which they came, however often the table
    grew meanwhile: as long as nothing else happens to them there is nothing to keep but their order.
    """

    __slots__ = ("_buckets", "_hash", "_keys", "_table")

    def __init__(self, hash_of: Callable[[K], int], *, table: int = DEFAULT_TABLE) -> None:
        self._hash = hash_of
        self._table = table
        self._keys: dict[K, None] = {}
        self._buckets: dict[int, list[K]] | None = None

    @classmethod
    def filled(cls, hash_of: Callable[[K], int], keys: Iterable[K]) -> HashOrder[K]:
        """A fresh table that grew while the keys were put in."""
        return cls._with(hash_of, DEFAULT_TABLE, keys)

    @classmethod
    def with_capacity(
        cls, hash_of: Callable[[K], int], capacity: int, keys: Iterable[K] = ()
    ) -> HashOrder[K]:
        """``new HashMap<>(capacity)``, then the keys put."""
        return cls._with(hash_of, table_for(capacity), keys)

    @classmethod
    def map_copy(cls, hash_of: Callable[[K], int], keys: Iterable[K]) -> HashOrder[K]:
        """``new HashMap<>(map)``: a table sized by the number of entries."""
        listed = list(keys)
        return cls._with(hash_of, table_for(int(len(listed) / 0.75 + 1)) if listed else DEFAULT_TABLE, listed)

    @classmethod
    def set_copy(cls, hash_of: Callable[[K], int], keys: Iterable[K]) -> HashOrder[K]:
        """``new HashSet<>(collection)``: as a map's copy, but never below 16 slots."""
        listed = list(keys)
        return cls._with(hash_of, table_for(max(int(len(listed) / 0.75) + 1, DEFAULT_TABLE)), listed)

    @classmethod
    def _with(cls, hash_of: Callable[[K], int], table: int, keys: Iterable[K]) -> HashOrder[K]:
        order = cls(hash_of, table=table)
        order._keys = dict.fromkeys(keys)
        while len(order._keys) > order._limit():
            order._table *= 2
        return order

    def put(self, key: K) -> None:
        """``put`` or ``add``: a new key goes to the back of its bucket; the table grows afterwards."""
        if key in self._keys:
            return
        self._keys[key] = None
        if self._buckets is not None:
            self._bucket(self._buckets, key).append(key)
        if len(self._keys) > self._limit():
            self._grow()

    def compute(self, key: K) -> None:
        """``computeIfAbsent``: the table grows first, even for a known key; a new key goes to the front."""
        if len(self._keys) > self._limit():
            self._grow()
        if key not in self._keys:
            self._bucket(self._in_buckets(), key).insert(0, key)
            self._keys[key] = None

    def remove(self, key: K) -> None:
        """Takes a key out, if it is there; a table never shrinks."""
        if key in self._keys:
            del self._keys[key]
            if self._buckets is not None:
                self._bucket(self._buckets, key).remove(key)

    def _slot(self, key: K) -> int:
        h = self._hash(key)
        return (h ^ h >> 16) & (self._table - 1)

    def _in_buckets(self) -> dict[int, list[K]]:
        """The buckets, which are needed once a key goes to the front of one."""
        if self._buckets is None:
            self._buckets = {}
            for key in self._keys:
                self._bucket(self._buckets, key).append(key)
        return self._buckets

    def _bucket(self, buckets: dict[int, list[K]], key: K) -> list[K]:
        return buckets.setdefault(self._slot(key), [])

    def _limit(self) -> int:
        return int(self._table * 0.75)

    def _grow(self) -> None:
        keys = list(self) if self._buckets is not None else []
        self._table *= 2
        if self._buckets is not None:
            self._buckets = {}
            for key in keys:
                self._bucket(self._buckets, key).append(key)

    def _has_small_numbers(self) -> bool:
        """Whether the slot of each key is what its low bits say, as of nearly all partitions."""
        if self._hash is not int_hash or not self._keys:
            return False
        numbers = cast("dict[int, None]", self._keys)
        return min(numbers) >= 0 and max(numbers) < 1 << 16

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[K]:
        if self._buckets is None:
            key = (self._table - 1).__and__ if self._has_small_numbers() else self._slot
            return iter(sorted(self._keys, key=cast("Callable[[K], int]", key)))
        buckets = self._buckets
        return (key for slot in sorted(buckets) for key in buckets[slot])


def grown(slots: int, size: int) -> int:
    """Slots of a ``TimelineHashMap`` of ``size`` keys after one more put, be it of a known key."""
    return 2 * slots if (size + 1) * 0.75 > slots else slots


class TimelineOrder(Generic[K]):
    """The keys of Kafka's ``TimelineHashMap``: two slots at first, last inserted first within a slot."""

    __slots__ = ("_hash", "_size", "_slots")

    def __init__(
        self, hash_of: Callable[[K], int], keys: Iterable[K] = (), *, slots: int = LEAST_SLOTS
    ) -> None:
        """``slots``: those of a table that has held more keys than now."""
        self._hash = hash_of
        self._slots: list[list[K]] = [[] for _ in range(slots)]
        self._size = 0
        for key in keys:
            self.put(key)

    def put(self, key: K) -> None:
        """Inserts or replaces; the table doubles before, a replaced entry keeps its place."""
        if grown(len(self._slots), self._size) > len(self._slots):
            self._grow()
        slot = self._slots[self._slot(key)]
        if key not in slot:
            slot.append(key)
            self._size += 1

    def remove(self, key: K) -> None:
        """Takes a key out, if it is there; the table never shrinks."""
        slot = self._slots[self._slot(key)]
        if key in slot:
            slot.remove(key)
            self._size -= 1

    def _slot(self, key: K) -> int:
        bits = len(self._slots).bit_length() - 1
        return (signed_32(self._hash(key)) * -_GOLDEN & _MASK_64) >> (64 - bits)

    def _grow(self) -> None:
        old = self._slots
        self._slots = [[] for _ in range(2 * len(old))]
        for slot in old:
            for key in slot:
                self._slots[self._slot(key)].append(key)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[K]:
        for slot in self._slots:
            yield from reversed(slot)
