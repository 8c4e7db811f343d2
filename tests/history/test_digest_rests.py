"""Digests over an axis of time: what is drawn through a long rest is what was so during it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groups.history.digests import Digest, coarsened
from groups.history.digests.part import Columns
from groups.history.digests.values import BEHIND, MEMBER, MemberValue
from tests.history.naive_digest import unrolled

GAPS_MS = st.lists(st.integers(0, 50) | st.integers(1_000, 60_000), min_size=1, max_size=120)


def digest_of_gaps(gaps_ms: list[int], *, behind: set[int]) -> Digest:
    """A moment after each gap; one member, which is behind at some of them."""
    digest = Digest(begins=True)
    at_ms = 0
    digest.columns = Columns()
    for index, gap_ms in enumerate([0, *gaps_ms]):
        at_ms += gap_ms
        for held, value in zip(
            digest.columns.lists(), (index, index, at_ms, at_ms, min(1, index), 0, 1, 0), strict=True
        ):
            held.append(value)
        flags = MEMBER | (BEHIND if index in behind else 0)
        digest.members.changes.append((index, "a", MemberValue(flags, 0, 0, 0)))
    digest.members.start = {"a": MemberValue(MEMBER, 0, 0, 0)}
    digest.partitions.start = {}
    return digest


@given(GAPS_MS, st.sets(st.integers(1, 120)), st.integers(5, 60))
def test_before_the_longest_rests_a_column_says_what_was_so_and_not_what_led_there(
    gaps_ms: list[int], behind: set[int], columns_most: int
) -> None:
    fine = digest_of_gaps(gaps_ms, behind=behind)
    coarse = coarsened(fine, columns_most)
    columns = coarse.columns
    assert len(columns) <= columns_most
    assert sum(columns.moments) == len(gaps_ms)
    if len(coarse.columns) == len(fine.columns):
        return
    shown = [members["a"].flags for members, _ in unrolled(coarse)]
    seen_ms = sum(gaps_ms) / (columns_most - 1)
    rests = sorted(
        ((gap_ms, at) for at, gap_ms in enumerate(gaps_ms) if at and gap_ms > seen_ms), reverse=True
    )
    for gap_ms, at in rests[: (columns_most - 1) // 4]:
        if [gap for gap, _ in rests].count(gap_ms) > 1:
            continue
        assert at in columns.last
        column = columns.last.index(at)
        assert columns.moments[column] == 1
        assert bool(shown[column] & BEHIND) is (at in behind)


@given(GAPS_MS, st.integers(5, 60))
def test_the_last_column_says_how_it_ended(gaps_ms: list[int], columns_most: int) -> None:
    fine = digest_of_gaps(gaps_ms, behind=set(range(len(gaps_ms))))
    last = [members["a"].flags for members, _ in unrolled(coarsened(fine, columns_most))][-1]
    assert last == MEMBER
