"""What stands in the store: blocks give back what was written, packs and files are whole or not there."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.evidence.committed import committed_in
from groups.packs.blocks import committed_of, entries_of
from groups.pipeline.folding.commit_columns import PlacedCommits, block
from groups.pipeline.folding.commit_runs import Progress
from groups.pipeline.reading.group_blocks import (
    BLOCK_OTHERS_BYTES_MOST,
    COMMIT,
    GroupBlock,
    OtherRecord,
    Tables,
    cut,
)
from groups.wire.commit_payloads import commit_payload

int64s = st.one_of(st.integers(-3, 300), st.sampled_from((-(2**63), 2**63 - 1, 2**31, -(2**40))))
"""Every width of a column."""

KEYS = [("foo", 0), ("foo", 2**31 - 1), ("b\0r", 1)]
TEXTS = ["", "m", "ä\0"]
TOPIC_IDS = ["cLledStpRu6ixDUvA4jVgA", "AAAAAAAAAAAAAAAAAAAAAA"]

rows = st.lists(
    st.tuples(
        st.integers(0, 2**63 - 1),
        st.integers(0, 2**63 - 1),
        int64s,
        st.just(-1),
        int64s,
        int64s,
        int64s,
        st.integers(-(2**31), 2**31 - 1),
        st.integers(0, len(KEYS) - 1),
        st.integers(0, len(TEXTS) - 1),
        st.integers(-1, len(TOPIC_IDS) - 1),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=30,
)


def entry_of(row: tuple[Any, ...], sequence: int, unit: int, *, settled: bool) -> dict[str, Any]:
    """The entry of a commit, made value by value."""
    (
        offset, batch, at_ms, _, committed, commit_ms, expire_ms, leader_epoch, key, metadata, topic_id, version,
    ) = row  # fmt: skip
    topic, partition = KEYS[key]
    return {
        "sequence": sequence,
        "at_ms": at_ms,
        "kind": "record",
        "actor": "coordinator",
        "cause": None,
        "provenance": "recorded",
        "partition": 17,
        "offset": offset,
        "batch": batch,
        "unit": unit,
        "settled": settled,
        "payload": commit_payload(
            group="orders", topic=topic, partition=partition, version=version, committed=committed,
            leader_epoch=leader_epoch, metadata=TEXTS[metadata], commit_ms=commit_ms, expire_ms=expire_ms,
            topic_id=None if topic_id < 0 else TOPIC_IDS[topic_id],
        ),
    }  # fmt: skip


@given(data=st.data(), some=rows)
def test_a_block_gives_back_every_entry_at_its_place(
    data: st.DataObject, some: list[tuple[Any, ...]]
) -> None:
    tables = Tables(KEYS, TEXTS, TOPIC_IDS)
    placed: list[PlacedCommits] = []
    expected: list[dict[str, Any]] = []
    others: list[bytes] = []
    sequence = first = data.draw(st.integers(1, 2**40))
    run, begins = np.array(some, COMMIT), np.zeros(len(some), bool)
    at = 0
    while at < len(some):
        if data.draw(st.booleans()):
            other = {"sequence": sequence, "kind": "note", "payload": {"note": "ü"}}
            others.append(orjson.dumps(other))
            expected.append(other)
            sequence += 1
        count = data.draw(st.integers(1, len(some) - at))
        starts = sorted({0, *data.draw(st.sets(st.integers(0, count - 1)))})
        mine = some[at : at + count]
        begins[[at + start for start in starts]] = True
        if placed and data.draw(st.booleans()):
            # It goes on with the same run, behind another entry or not.
            placed[-1].end += count
        else:
            placed.append(PlacedCommits(run, begins, 17, at, at + count, [], []))
        placed[-1].firsts.append(sequence)
        placed[-1].lengths.append(count)
        for number, row in enumerate(mine):
            unit = sequence + max(start for start in starts if start <= number)
            settled = number + 1 in starts or number + 1 == count
            expected.append(entry_of(row, sequence + number, unit, settled=settled))
        sequence += count
        at += count

    text = block("orders", first, sequence - 1, placed, tables, others)

    assert entries_of(text) == expected
    # Walked by columns, the commits are those that the entries tell, of all partitions and of one.
    assert committed_of(text, None) == list(committed_in(expected))
    one = frozenset(KEYS[:1])
    assert committed_of(text, one) == [each for each in committed_in(expected) if each[0] in one]


def test_a_block_of_another_format_is_refused_in_one_line() -> None:
    text = block("orders", 1, 0, (), Tables(), ()).replace(b'"format":1', b'"format":9')

    with pytest.raises(ValueError, match=r"stored in format 9; this version reads format 1$"):
        entries_of(text)


@given(some=rows, others=st.lists(st.integers(0, 2**62), unique=True, max_size=9))
def test_a_groups_block_goes_through_the_shuffle_unchanged(
    some: list[tuple[Any, ...]], others: list[int]
) -> None:
    told = [OtherRecord(offset, offset, 5, -1, 3, b"{}") for offset in sorted(others)]
    tables = Tables(KEYS, TEXTS, TOPIC_IDS)
    mine = GroupBlock("orders", 17, 2, 4, np.array(some, COMMIT), tables, told)

    found = GroupBlock.unpack("orders", 17, 2, 4, mine.pack())

    assert found.commits.tolist() == some
    assert (found.tables, found.others, found.records) == (tables, told, len(some) + len(told))


@pytest.mark.parametrize("requests_a_batch", [1, 7, 9_000])
def test_a_large_block_is_cut_between_batches_and_loses_nothing(requests_a_batch: int) -> None:
    count = 20_000
    commits = np.zeros(count, COMMIT)
    commits["offset"] = np.arange(count)
    commits["batch"] = np.arange(count) // requests_a_batch * requests_a_batch
    others = [OtherRecord(offset, offset, 0, -1, 3, b"{}") for offset in range(count, count + 5)]

    parts = list(cut(GroupBlock("orders", 17, 0, 0, commits, Tables(), others)))

    assert np.concatenate([part.commits for part in parts]).tolist() == commits.tolist()
    assert [other for part in parts for other in part.others] == others
    batches = [set(part.commits["batch"].tolist()) for part in parts]
    assert sum(map(len, batches)) == len(set().union(*batches))
    assert len(parts) > 1


def test_a_block_of_large_records_is_cut_between_batches_too() -> None:
    payload = b"x" * (BLOCK_OTHERS_BYTES_MOST // 5)
    others = [OtherRecord(offset, offset // 3 * 3, 0, -1, 7, payload) for offset in range(40)]
    commits = np.zeros(40, COMMIT)
    commits["offset"] = commits["batch"] = np.arange(40) // 3 * 3

    parts = list(cut(GroupBlock("orders", 17, 0, 0, commits, Tables(), others)))

    assert [other for part in parts for other in part.others] == others
    assert np.concatenate([part.commits for part in parts]).tolist() == commits.tolist()
    for part, following in pairwise(parts):
        assert len(part.others) == 6
        last = max(part.others[-1].batch, int(part.commits["batch"][-1]))
        assert last < min(following.others[0].batch, int(following.commits["batch"][0]))


progress_rows = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from((0, 1, 5, 5, 900)), st.integers(0, 9)), max_size=40
)


@given(some=progress_rows, sizes=st.lists(st.integers(1, 5), max_size=40))
def test_commits_in_sum_are_the_commits_counted_one_by_one(
    some: list[tuple[int, int, int]], sizes: list[int]
) -> None:
    """Whatever pieces they are added in: single ones and many go different ways."""
    keys = [("foo", number) for number in range(4)]
    commits = np.zeros(len(some), COMMIT)
    now = 0
    for at, (key, pause_ms, committed) in enumerate(some):
        now += pause_ms
        commits["key"][at], commits["at_ms"][at], commits["committed"][at] = key, now, committed

    progress = Progress()
    at = 0
    for size in [*sizes, len(some)]:
        if at < len(some):
            progress.add(commits[at : at + size], len(keys))
        at += size

    assert progress.of_partitions(Tables(keys=keys)) == counted(commits, keys)


def counted(commits: Any, keys: list[tuple[str, int]]) -> list[dict[str, Any]]:
    found = []
    for number, (topic, partition) in enumerate(keys):
        mine = commits[commits["key"] == number]
        if not len(mine):
            continue
        times = mine["at_ms"].tolist()
        gaps = [(later - one, one) for one, later in pairwise(times)]
        silence_ms, since_ms = max(gaps, key=lambda gap: gap[0], default=(0, 0))
        found.append(
            {
                "topic": topic,
                "partition": partition,
                "commits": len(mine),
                "first_ms": times[0],
                "last_ms": times[-1],
                "first_offset": int(mine["committed"][0]),
                "last_offset": int(mine["committed"][-1]),
                "silence_ms": silence_ms,
                "silence_from_ms": since_ms if silence_ms else 0,
            }
        )
    return found
