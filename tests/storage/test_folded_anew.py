"""Stored logs that are folded anew, small ones that share a compression among them."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from groups import storage
from groups.history.replay.fold import FOLD_VERSION
from groups.imports import lifecycle
from groups.models import Timeline
from groups.packs.files import Folder
from groups.packs.packs import PackWriter, Place, read_blob
from groups.storage import NotReady, importing
from groups.storage.stored_log import StoredLog
from tests.pipeline.folds import fold_paths
from tests.pipeline.segments import FOO, Group, Segment, hash_of
from tests.storage.test_stored_logs import Kept, _none_made, busy, folded, kept

__all__ = ["_none_made", "kept"]


pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", ["orders", "or\0ders", "o" * 600])
def test_a_stored_log_that_is_folded_anew_is_the_same(kept: Kept, name: str) -> None:
    timeline = kept(busy(Group(name)))
    index = StoredLog(timeline).index
    frames = [storage.frame_at(timeline, at) for at in range(1, timeline.last, 9)]
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    with pytest.raises(NotReady):
        storage.frame_at(storage.get(timeline.id), 1)

    assert storage.refold(timeline.id, "the test")

    again = storage.get(timeline.id)
    fresh = StoredLog(again).index
    assert (fresh["summary"], fresh["commits"]) == (index["summary"], index["commits"])
    assert [(c["first"], c["last"], c["entries"], c["digest"]) for c in fresh["chunks"]] == [
        (c["first"], c["last"], c["entries"], c["digest"]) for c in index["chunks"]
    ]
    assert (again.summary, again.digest, again.last) == (timeline.summary, timeline.digest, timeline.last)
    assert [storage.frame_at(again, at) for at in range(1, timeline.last, 9)] == frames
    assert not storage.refold(timeline.id, "another")


def test_what_is_folded_anew_a_second_time_leaves_no_pack_that_nobody_needs(
    kept: Kept, tmp_path: Path
) -> None:
    timeline = kept(busy(Group()))
    sizes = []
    for _ in range(3):
        Timeline.objects.update(fold_version=FOLD_VERSION - 1)
        assert storage.refold(timeline.id, "the test")
        sizes.append(len(list((tmp_path / "store").rglob("*.*"))))

    assert sizes == [2, 2, 2]
    storage.delete(timeline.id)
    assert list((tmp_path / "store").rglob("*.pack")) == []


def test_packs_that_somebody_writes_are_left_alone(kept: Kept, tmp_path: Path) -> None:
    timeline = kept(busy(Group()))
    Timeline.objects.update(lease_until="2999-01-01T00:00:00Z", lease_owner="a fold")
    under_way = tmp_path / "store" / timeline.folder / ".writing-1"
    under_way.write_bytes(b"half a pack")

    storage.collect(timeline.folder)
    assert under_way.exists()

    Timeline.objects.update(lease_until=None)
    storage.collect(timeline.folder)
    assert not under_way.exists()


# -- small timelines


def small_ones(tmp_path: Path) -> list[Timeline]:
    """Three groups of one import, each of one small chunk."""
    found = lifecycle.create(title="log", paths=["log"])
    segment = Segment()
    for name in ("orders", "payments", "returns"):
        group = Group(name)
        segment.add(group.join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)})))
        segment.add(group.commit(partition=1, offset=7))
        segment.add(group.leave("A"))
    folds = fold_paths(
        str(segment.write(tmp_path / found.id)), files=Folder(tmp_path / "store"), folder=found.id
    )
    told = importing.store(found.id, folds.of("timeline"))
    return [storage.get(row["id"]) for row in told]


def test_small_timelines_are_compressed_together_and_read_and_folded_anew_each_by_itself(
    kept: Kept, tmp_path: Path
) -> None:
    timelines = small_ones(tmp_path)

    assert len({tuple(timeline.index_place[:3]) for timeline in timelines}) == 1
    for timeline in timelines:
        frames = folded(timeline)
        assert [frame["group"] for frame in frames] == [timeline.group] * timeline.last
        assert [storage.frame_at(timeline, at) for at in range(1, timeline.last + 1)] == frames
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    assert storage.refold(timelines[1].id, "the test")
    again = storage.get(timelines[1].id)
    assert storage.frame_at(again, again.last) == folded(again)[-1]
    storage.delete_all([timelines[0].id, timelines[2].id])
    assert storage.frame_at(again, again.last) == folded(again)[-1]


def test_a_row_has_the_verdict_packed_and_tells_it_whole(kept: Kept, tmp_path: Path) -> None:
    for timeline in small_ones(tmp_path):
        assert "verdict" not in timeline.summary
        assert timeline.in_short()["verdict"] == storage.summary(timeline)["verdict"]
        assert storage.describe(timeline)["summary"]["verdict"]["text"]


def test_a_timeline_of_the_release_before_blobs_were_shared_is_read_as_before(
    kept: Kept, tmp_path: Path
) -> None:
    """Its places end with the length, its entries have a blob of their own, and its verdict stands in the summary."""
    timeline = small_ones(tmp_path)[0]
    files = Folder(tmp_path / "store")
    index, frames = StoredLog(timeline).index, folded(timeline)
    packs = PackWriter(files, timeline.folder)
    for chunk in index["chunks"]:
        entries = packs.add(read_blob(files, Place.of(chunk["entries"])))
        checkpoint = packs.nothing()
        chunk["entries"], chunk["checkpoint"] = entries[:3], checkpoint[:3]  # type: ignore[typeddict-item]
    place = packs.add(orjson.dumps(index | {"format": 2}))
    index_place = [packs.close().name, *place[1:3]]
    summary = timeline.in_short()
    Timeline.objects.filter(pk=timeline.pk).update(index_place=index_place, packs=index_place[:1], summary=summary, verdict=None)  # fmt: skip

    old = storage.get(timeline.id)
    assert [storage.frame_at(old, at) for at in range(1, old.last + 1)] == frames
    assert storage.describe(old)["summary"] == storage.describe(timeline)["summary"]
    Timeline.objects.filter(pk=timeline.pk).update(fold_version=FOLD_VERSION - 1)
    assert storage.refold(old.id, "the test")
    again = storage.get(old.id)
    assert again.in_short() == summary
    assert "verdict" not in again.summary
    assert storage.frame_at(again, again.last) == frames[-1]
