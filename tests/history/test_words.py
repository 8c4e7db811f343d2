"""How numbers, partitions and members are written."""

from __future__ import annotations

import pytest

from groups.history.evidence.display_names import DisplayNames
from groups.history.words import duration, listed, partitions

THIN = "\u202f"


@pytest.mark.parametrize(
    ("length_ms", "says"),
    [
        (0, f"0.0{THIN}s"),
        (4, f"4{THIN}ms"),
        (50, f"0.1{THIN}s"),
        (640, f"0.6{THIN}s"),
        (6100, f"6.1{THIN}s"),
        (59_949, f"59.9{THIN}s"),
        (59_960, f"1{THIN}min 0{THIN}s"),
        (242_000, f"4{THIN}min 2{THIN}s"),
        (7_500_000, f"2{THIN}h 5{THIN}min"),
    ],
)
def test_durations(length_ms: int, says: str) -> None:
    assert duration(length_ms) == says


def test_partitions_are_named_in_order_and_counted_when_there_are_too_many() -> None:
    assert partitions([("foo", 10), ("foo", 2), ("bar", 0)]) == "bar-0, foo-2, foo-10"
    assert partitions([("foo", number) for number in range(12)]) == "12 partitions of foo"
    assert (
        partitions([("foo", 1), ("bar", 1), *(("foo", n) for n in range(2, 9))]) == "9 partitions of 2 topics"
    )


def test_lists_end_with_and() -> None:
    assert [listed(names) for names in (["A"], ["A", "B"], ["A", "B", "C"])] == ["A", "A and B", "A, B and C"]


def test_a_scenarios_ids_are_names_and_a_restart_stays_in_its_lane() -> None:
    cast = DisplayNames()
    assert [cast.meet("A", 1), cast.meet("B", 4), cast.meet("A~2", 9)] == ["A", "B", "A~2"]
    assert [(one["id"], one["lane"]) for one in cast.members()] == [("A", "A"), ("B", "B"), ("A~2", "A")]


def test_a_real_member_is_called_by_its_client_until_that_name_is_taken() -> None:
    cast = DisplayNames()
    ids = [
        "kPMDEqDHQNiLqjiFU6TzLg",
        "Xx0DEqDHQNiLqjiFU6TzLg",
        "Yy0DEqDHQNiLqjiFU6TzLg",
        "YyzDEqDHQNiLqjiFU6TzLg",
    ]
    names = [cast.meet(member, n, client_id="app", host="/10.0.0.1") for n, member in enumerate(ids)]
    assert names == ["app", "app@10.0.0.1", "app Yy0D", "app YyzD"]
    # A name once given stays.
    assert cast.meet(ids[0], 9, client_id="other") == "app"


def test_a_classic_id_that_begins_with_its_client_is_told_by_its_own_letters() -> None:
    cast = DisplayNames()
    for number, tail in enumerate(("a1b2c3d4", "ffee0011", "99887766")):
        cast.meet(f"consumer-1-{tail}", number, client_id="consumer-1", host="/h")
    assert [one["name"] for one in cast.members()] == ["consumer-1", "consumer-1@h", "consumer-1 9988"]


def test_a_static_member_is_called_by_its_instance_and_keeps_its_lane() -> None:
    cast = DisplayNames()
    first = cast.meet("kPMDEqDHQNiLqjiFU6TzLg", 1, client_id="app", instance_id="orders-0")
    cast.meet("Xx0DEqDHQNiLqjiFU6TzLg", 5, client_id="app", instance_id="orders-0")
    assert first == "orders-0"
    assert {one["lane"] for one in cast.members()} == {"kPMDEqDHQNiLqjiFU6TzLg"}


def test_a_stranger_is_called_by_the_first_letters_of_its_id() -> None:
    assert DisplayNames().name("kPMDEqDHQNiLqjiFU6TzLg") == "kPMDEqDH"
