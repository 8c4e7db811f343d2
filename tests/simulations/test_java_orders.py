"""Java's orders, each expectation printed by a JDK."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.assignors.java_orders import (
    HashOrder,
    TimelineOrder,
    int_hash,
    offsets_partition,
    string_hash,
    uuid_hash,
)


@pytest.mark.parametrize(
    ("keys", "walked"),
    [
        ("c1 c2 c3", "c3 c1 c2"),
        ("A B C", "A B C"),
        ("C3 A B member-b member-a", "C3 A B member-a member-b"),
        (" ".join(f"consumer{n}" for n in range(1, 12)), " ".join(f"consumer{n}" for n in range(11, 0, -1))),
        (
            " ".join(f"consumer{n}" for n in range(1, 21)),
            "consumer12 consumer11 consumer10 consumer20 consumer9 consumer8 consumer7 consumer6 consumer19 "
            "consumer18 consumer17 consumer16 consumer15 consumer14 consumer13 consumer5 consumer4 consumer3 "
            "consumer2 consumer1",
        ),
    ],
)
def test_a_hash_map_of_names_is_walked_as_java_walks_it(keys: str, walked: str) -> None:
    assert list(HashOrder.filled(string_hash, keys.split())) == walked.split()


def test_a_copied_map_is_sized_by_its_entries() -> None:
    assert list(HashOrder.filled(int_hash, [3, 4])) == [3, 4]
    assert list(HashOrder.map_copy(int_hash, [3, 4])) == [4, 3]
    assert list(HashOrder.set_copy(int_hash, [3, 4])) == [3, 4]


def test_numbers_below_zero_stand_where_their_spread_bits_say() -> None:
    """Owned partitions of user data may be any number: -1 is in the first bucket, -2 in the second."""
    assert list(HashOrder.filled(int_hash, [5, -2, -1])) == [-1, -2, 5]


def test_compute_puts_new_keys_in_front_and_grows_before() -> None:
    order = HashOrder(int_hash)
    for number in (16, 0, 32, 5, 21, 48):
        order.compute(number)
    assert list(order) == [48, 32, 0, 16, 21, 5]


def test_a_removed_key_leaves_the_others_where_they_are() -> None:
    order = HashOrder.filled(int_hash, [0, 16, 32])
    order.remove(16)
    order.remove(99)
    assert list(order) == [0, 32]
    assert len(order) == 2
    assert 16 not in order


def test_a_timeline_map_forgets_no_key_while_it_grows() -> None:
    names = [f"member-{n}" for n in range(40)]
    order = TimelineOrder(string_hash, names)
    assert sorted(order) == sorted(names)
    order.put("member-3")
    order.remove("member-7")
    assert len(order) == len(list(order)) == 39


def test_a_later_key_of_the_same_slot_is_walked_first_in_a_timeline_map() -> None:
    assert list(TimelineOrder(lambda _: 0, ["first", "second"])) == ["second", "first"]


def test_a_group_lies_in_the_partition_of_the_absolute_hash() -> None:
    assert string_hash("kip848-basic") >> 31 == 1, "a negative hash, or the test proves nothing"
    assert offsets_partition("kip848-basic", 58) == 51


def test_a_topic_id_hashes_as_kafkas_uuid() -> None:
    # Uuid(0, 5): the high half is zero, the low half is 5.
    assert uuid_hash("AAAAAAAAAAAAAAAAAAAABQ") == 5


class Table:
    """A hash map as Java builds it, a key at a time: what ``HashOrder`` has to come to without doing so."""

    def __init__(self, slots: int) -> None:
        self.slots: list[list[int]] = [[] for _ in range(slots)]

    def keys(self) -> list[int]:
        return [key for slot in self.slots for key in slot]

    def slot(self, key: int) -> list[int]:
        return self.slots[(key ^ key >> 16) & (len(self.slots) - 1)]

    def grow_beyond_the_limit(self) -> None:
        if len(self.keys()) > int(len(self.slots) * 0.75):
            keys = self.keys()
            self.slots = [[] for _ in range(2 * len(self.slots))]
            for key in keys:
                self.slot(key).append(key)

    def put(self, key: int) -> None:
        if key not in self.keys():
            self.slot(key).append(key)
            self.grow_beyond_the_limit()

    def compute(self, key: int) -> None:
        self.grow_beyond_the_limit()
        if key not in self.keys():
            self.slot(key).insert(0, key)

    def remove(self, key: int) -> None:
        if key in self.keys():
            self.slot(key).remove(key)


NUMBERS = st.one_of(st.integers(0, 40), st.integers(0, 1 << 20))


@given(
    capacity=st.integers(0, 20),
    first=st.lists(NUMBERS, max_size=30),
    then=st.lists(st.tuples(st.sampled_from(["put", "compute", "remove"]), NUMBERS), max_size=30),
)
def test_keys_stand_as_if_they_had_been_put_one_after_the_other(
    capacity: int, first: list[int], then: list[tuple[str, int]]
) -> None:
    order, table = HashOrder.with_capacity(int_hash, capacity, first), Table(1)
    while len(table.slots) < capacity:
        table.slots = [[] for _ in range(2 * len(table.slots))]
    for key in first:
        table.put(key)
    assert list(order) == table.keys()
    for call, key in then:
        getattr(order, call)(key)
        getattr(table, call)(key)
        assert list(order) == table.keys()
        assert len(order) == len(table.keys())
