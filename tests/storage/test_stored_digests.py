"""Digests of imports: chunks that nobody opened are told as unknown, and once all are open the digest is that of all frames."""

from __future__ import annotations

import orjson
import pytest

from groups import storage
from groups.history.frames.frame import frame
from groups.history.state.group import initial_state
from groups.storage.digests import Wanted
from groups.storage.stored_log import OPENED_FOR_ONE_ANSWER, StoredLog
from tests.history.naive_digest import Naive, unrolled
from tests.pipeline.segments import Group
from tests.storage.test_stored_logs import Kept, _none_made, busy, folded, kept, made

__all__ = ["_none_made", "kept"]

pytestmark = pytest.mark.django_db(transaction=True)

EVERYTHING = Wanted(members=True, partitions=True)


def test_what_nobody_has_opened_is_told_as_unknown_and_opened_a_few_at_a_time(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    chunks = len(storage.chunks(timeline))
    unknown = []
    for asked in range(1, chunks):
        text, lasting = storage.digest_answer(timeline, "members", 0, timeline.last, 800)
        unknown.append(sum(orjson.loads(text)["columns"]["unknown"]))
        assert len(made) == min(chunks, asked * OPENED_FOR_ONE_ANSWER)
        assert lasting is (unknown[-1] == 0)
    assert unknown == sorted(unknown, reverse=True)
    assert unknown[0] == chunks - OPENED_FOR_ONE_ANSWER
    assert unknown[-1] == 0


def test_chunks_that_were_opened_by_themselves_say_together_what_all_frames_say(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    log = StoredLog(timeline)
    for chunk in reversed(storage.chunks(timeline)):
        log.opened(chunk.first)
    digest = log.digest(0, timeline.last, 10_000, EVERYTHING)
    assert digest is not None
    moments = [
        moment["sequence"]
        for chunk in storage.chunks(timeline)
        for moment in orjson.loads(storage.chunk_text(timeline, chunk.first)[0])["moments"]  # type: ignore[index]
    ]
    assert digest.columns.first == [0, *moments]
    naive, states = Naive(), {}
    for each in [frame(initial_state("orders")), *folded(timeline)]:
        naive.see(each)
        states[each["sequence"]] = naive.state(each)
    for sequence, told in zip(digest.columns.first, unrolled(digest), strict=True):
        assert told == states[sequence]


def test_a_timeline_knows_how_many_members_it_had_before_it_is_opened(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    assert storage.members_most(timeline) >= 1
    assert not made
