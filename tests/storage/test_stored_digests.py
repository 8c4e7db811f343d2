"""Digests of imports: chunks that nobody opened are told as unknown, and once all are open the digest is that of all frames."""

from __future__ import annotations

import orjson
import pytest

from groups import storage
from groups.history.digests import values as v
from groups.history.digests.coarse import MEMBERS_LEAST, coarse_members, read_coarse
from groups.history.frames.frame import frame
from groups.history.frames.shapes import Frame
from groups.history.state.group import initial_state
from groups.storage.digests import Wanted
from groups.storage.stored_log import OPENED_FOR_ONE_ANSWER, StoredLog
from tests.history.naive_digest import Naive, unrolled
from tests.pipeline.segments import Group, Segment, hash_of
from tests.storage.test_stored_logs import FOO, Kept, _none_made, busy, folded, kept, made

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


def crowd() -> Segment:
    """As many members as a map is drawn of, and a few more; some leave between commits."""
    group, segment, known = Group(), Segment(), hash_of({"foo": (FOO, 3)})
    names = [f"m{number:02}" for number in range(MEMBERS_LEAST + 2)]
    for name in names:
        segment.add(group.join(name, {FOO: [0] if name == names[0] else []}, known))
    for offset in range(8):
        segment.add(group.commit(partition=offset % 3, offset=offset))
    for name in names[:5]:
        segment.add(group.leave(name))
    return segment


def test_a_chunk_that_nobody_has_opened_shows_each_member_as_its_ends_say(kept: Kept) -> None:
    """The map of an import has a row for each member at once, before more than a few chunks are opened."""
    timeline = kept(crowd())
    frames = {each["sequence"]: each for each in folded(timeline)}
    digest = StoredLog(timeline).digest(0, timeline.last, 800, EVERYTHING)
    assert digest is not None
    assert len(made) == OPENED_FOR_ONE_ANSWER < len(storage.chunks(timeline))
    shown = 0
    for at, (rows, _) in enumerate(unrolled(digest)):
        first, last = digest.columns.first[at], digest.columns.last[at]
        ends = [frames[sequence] for sequence in (first - 1, last) if sequence in frames]
        if not digest.columns.unknown[at] or any(len(end["members"]) < MEMBERS_LEAST for end in ends):
            continue
        before, after = [Naive().state(end)[0] for end in ends]
        assert rows == {
            member: before.get(member, v.NOBODY).merged(after.get(member, v.NOBODY))
            for member in {**before, **after}
        }
        shown += 1
    assert shown
    assert any(len(rows) >= MEMBERS_LEAST for rows, _ in unrolled(digest))


def test_rows_of_an_index_come_back_as_they_were_and_an_index_without_them_has_nobody() -> None:
    members = {f"m{number}": {"assigned": {"foo": [number]}, "epoch": 1} for number in range(MEMBERS_LEAST)}
    told: Frame = {**initial_frame(), "members": members}
    rows = read_coarse(coarse_members(told))
    assert rows == dict.fromkeys(members, v.MemberValue(v.MEMBER | v.BEHIND, 1, 0, 0))
    assert read_coarse(None) == {}


def initial_frame() -> Frame:
    return {**frame(initial_state("orders")), "group_epoch": 2}
