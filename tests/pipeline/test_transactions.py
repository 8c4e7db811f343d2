"""An open transaction holds partitions of its group: which, since when, by which producer; an aborted one leaves a note of what it held."""

from __future__ import annotations

import pytest

from groups.history.findings.log_notes import ABORTED_MOST
from groups.history.following.transactions import OPEN_LEAST_MS
from groups.wire.logs.control import ControlType
from tests.pipeline.folds import Folds, fold
from tests.pipeline.segments import FOO, Group, Segment


def held(rest: int, *, ends: ControlType | None = None) -> Segment:
    """Producer 4001 commits foo-1 at the third second, and 4002 foo-0 once a second from then on, ``rest`` times."""
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0, 1]})).add(group.commit(partition=1, offset=60))
    segment.transaction(4001, group.commit(partition=1, offset=70))
    for number in range(rest):
        segment.transaction(4002, group.commit(offset=number)).marker(4002, ControlType.COMMIT)
    if ends is not None:
        segment.marker(4001, ends)
    return segment


def notes(folds: Folds) -> list[dict[str, object]]:
    return [entry for entry in folds.entries() if entry["payload"].get("note") == "transaction"]


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("split_bytes", [60, 1 << 20])
def test_a_transaction_without_an_end_is_a_note_of_its_group_at_its_own_place(
    split_bytes: int, slow: bool
) -> None:
    segment = held(20)
    folds = fold(segment, split_bytes=split_bytes, slow=slow)
    [note] = notes(folds)
    begun_ms = segment.batches[2].records[0].timestamp_ms
    assert note["at_ms"] == begun_ms
    assert note["payload"] == {
        "note": "transaction",
        "producer": 4001,
        "from_ms": begun_ms,
        "from_offset": segment.batches[2].base_offset,
        "partition": 17,
        "partitions": {"foo": [1]},
        "committed": [70],
    }
    before, after = (
        [each["payload"]["value"]["offset"] for each in folds.entries() if each["payload"].get("type") == 1 and (each["sequence"] < note["sequence"]) is is_before]
        for is_before in (True, False)
    )  # fmt: skip
    assert (before, after) == ([60], [*range(20)])


@pytest.mark.parametrize("ends", [ControlType.COMMIT, ControlType.ABORT])
def test_a_transaction_that_ends_holds_nothing(ends: ControlType) -> None:
    assert notes(fold(held(20, ends=ends))) == []


def test_a_transaction_that_has_just_begun_when_the_log_ends_is_at_work() -> None:
    assert notes(fold(held(OPEN_LEAST_MS // 2_000 - 2))) == []


def aborted(folds: Folds) -> list[dict[str, object]]:
    return [entry for entry in folds.entries() if entry["payload"].get("note") == "aborted"]


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("split_bytes", [60, 1 << 20])
def test_each_request_whose_commits_were_aborted_is_a_note_at_its_own_place(
    split_bytes: int, slow: bool
) -> None:
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0, 1]})).add(group.commit(partition=1, offset=60))
    for offset in (70, 80):
        segment.transaction(4001, group.commit(partition=1, offset=offset)).marker(4001, ControlType.ABORT)
    segment.transaction(4001, group.commit(partition=1, offset=90)).marker(4001, ControlType.COMMIT)
    folds = fold(segment, split_bytes=split_bytes, slow=slow)
    notes = aborted(folds)
    assert [(each["payload"]["committed"], each["payload"]["of"]) for each in notes] == [([70], 2), ([80], 2)]  # type: ignore[index]
    assert [each["payload"]["partitions"] for each in notes] == [{"foo": [1]}] * 2  # type: ignore[index]
    committed = [
        each["payload"]["value"]["offset"] for each in folds.entries() if each["payload"].get("type") == 1
    ]
    assert committed == [60, 90]
    [found] = [one for one in folds.index()["summary"]["findings"] if one["kind"] == "aborted_transactions"]
    assert (found["producer"], found["count"], found["partitions"]) == (4001, 2, ["foo-1"])
    assert found["says"] == (
        "2 commits of foo-1 by producer 4001 were aborted with their transactions: never in force"
    )


def test_of_many_aborted_requests_the_first_are_notes_and_all_are_counted() -> None:
    group = Group()
    segment = Segment().add(group.join("A", {FOO: [0, 1]}))
    for number in range(ABORTED_MOST + 20):
        segment.transaction(4001, group.commit(offset=number)).marker(4001, ControlType.ABORT)
    folds = fold(segment)
    assert len(aborted(folds)) == ABORTED_MOST
    [found] = [one for one in folds.index()["summary"]["findings"] if one["kind"] == "aborted_transactions"]
    assert found["says"].startswith(
        "100 commits of foo-0 by producer 4001 were aborted with their transactions, of 120 in all"
    )
