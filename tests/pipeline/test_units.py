"""Units: one batch can hold several requests; each is told by its time and its pattern."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.passes.units import units
from groups.pipeline.folding.group_records import GroupRecord
from tests.pipeline.segments import FOO, Group, Payload, record


def in_one_batch(*requests: Sequence[Payload], at_ms: int = 0) -> list[GroupRecord]:
    payloads = [payload for request in requests for payload in request]
    return [
        GroupRecord(0, offset, 0, at_ms, payload["type"], payload, b"")
        for offset, payload in enumerate(payloads)
    ]


def cut(*requests: Sequence[Payload]) -> list[list[int | None]]:
    return [[one.type for one in unit] for unit in units(in_one_batch(*requests))]


group = Group()
join_a, join_b = group.join("A", {FOO: [0]}), group.join("B", {FOO: [1]})
leave_a, leave_b = group.leave("A"), group.leave("B")
moves_a, moves_b = group.advance("A", {FOO: [0]}), group.advance("B", {FOO: [1]})
commit = group.commit()
key = group.key
tombstones = {n: record(n, key(memberId="A"), None) for n in (8, 7, 5)} | {
    n: record(n, key(), None) for n in (6, 4, 3)
}


@pytest.mark.parametrize(
    ("requests"),
    [
        [join_a, join_b],
        [join_a, leave_a],
        [leave_a, leave_b],
        [leave_a, join_b],
        [moves_a, moves_b, moves_a],
        [join_a, moves_a],
        [moves_a, join_b],
        [commit, join_a, commit],
        [leave_a, commit],
        [[join_a[0], join_a[4]], [join_b[0], join_b[4]]],
        [[join_a[0], join_a[4]], join_b],
        [[join_a[2], join_a[3], join_a[4]], moves_b],
        [[join_a[0], join_a[4]], [record(16, key(regularExpression="f.*"), {"topics": ["foo"]}), join_a[1]]],
        [group.classic(1), group.classic(2)],
        [group.delete(), join_a],
    ],
    ids=lambda requests: "+".join(str(len(one)) for one in requests),
)
def test_requests_in_one_batch_and_one_millisecond_are_told_apart(requests: list[list[Payload]]) -> None:
    assert cut(*requests) == [[payload["type"] for payload in request] for request in requests]


def test_a_static_member_that_is_replaced_is_one_request() -> None:
    gone = [tombstones[8], tombstones[7], tombstones[5]]
    copied = [join_b[0], join_b[2], join_b[4], join_b[0], join_b[4]]

    assert cut([*gone, *copied], moves_a) == [[8, 7, 5, 5, 7, 8, 5, 8], [8]]


def test_a_deletion_takes_its_offsets_with_it() -> None:
    offsets = [record(1, commit[0]["key"], None)]

    assert cut([*offsets, *group.delete()]) == [[1, 6, 4, 3]]


def test_another_millisecond_is_another_request() -> None:
    records = in_one_batch([join_a[2]], at_ms=1) + in_one_batch([join_a[3]], at_ms=2)

    assert len(list(units(records))) == 2


@given(
    st.lists(st.sampled_from([*join_a, *leave_a, *commit, *group.classic(1), *group.delete()]), max_size=12)
)
def test_every_record_is_in_exactly_one_unit_in_its_order(payloads: list[Payload]) -> None:
    records = in_one_batch(payloads)

    assert [one for unit in units(records) for one in unit] == records
