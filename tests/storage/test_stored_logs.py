"""Timelines whose entries stand in packs: any moment is read through its chunk alone, and folded anew they are the same."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from groups import storage
from groups.history.entries import Entry
from groups.history.frames.changes import apply
from groups.history.frames.frame import frame
from groups.history.metrics import Metrics
from groups.history.passes import checkpoints
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from groups.imports import lifecycle
from groups.incidents.pieces import Stretch
from groups.models import Timeline
from groups.packs.files import Folder
from groups.packs.index import StoredChunk
from groups.packs.opening import open_chunk
from groups.pipeline.folding import timelines as timeline_folding
from groups.storage import CannotOpen, handing_on, importing, opened
from groups.storage.stored_log import StoredLog, index_at
from tests.pipeline.folds import fold_paths
from tests.pipeline.segments import FOO, Group, Segment, hash_of

pytestmark = pytest.mark.django_db(transaction=True)

Kept = Callable[[Segment], Timeline]


def busy(group: Group) -> Segment:
    """Members come and go between many commits."""
    segment = Segment()
    for turn in range(6):
        segment.add(group.join("A", {FOO: [0, 1, 2]}, hash_of({"foo": (FOO, 3)})))
        for offset in range(8):
            segment.add(group.commit(partition=offset % 3, offset=100 * turn + offset))
        segment.add(group.leave("A"))
    return segment


@pytest.fixture
def kept(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Imports a segment into a store of the test's own, in small chunks, which are opened in this process."""
    settings.VAR = tmp_path / "var"
    settings.STORE_URL = str(tmp_path / "store")
    monkeypatch.setattr(opened, "_open", in_this_process)
    index_at.cache_clear()

    def run(segment: Segment) -> Timeline:
        found = lifecycle.create(title="log", paths=["log"])
        with (
            mock.patch.object(timeline_folding, "CHUNK_BYTES_LEAST", 800),
            mock.patch.object(checkpoints, "CHUNK_BYTES_GREATEST", 1600),
        ):
            folds = fold_paths(
                str(segment.write(tmp_path / found.id)),
                files=Folder(tmp_path / "store"),
                folder=found.id,
                earlier=importing.earlier(),
            )
        [told] = importing.store(found.id, folds.of("timeline"))
        return storage.get(told["id"])

    return run


made: list[Path] = []
"""Chunks that were opened, by the place of their cache."""


@pytest.fixture(autouse=True)
def _none_made() -> None:
    made.clear()


def in_this_process(path: Path, chunk: StoredChunk) -> None:
    made.append(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(open_chunk(Folder(Path(opened.settings.STORE_URL)), chunk).pack())


def folded(timeline: Timeline) -> list[dict[str, Any]]:
    """The frame after each entry, from the first one on."""
    state, frames = initial_state(timeline.group), []
    for entry in storage.every_entry(timeline):
        state = replay(state, Entry.from_json(entry))
        frames.append(frame(state))
    return frames


def test_the_frame_at_any_moment_is_that_of_the_whole_fold(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    frames = folded(timeline)
    sequences = list(range(1, timeline.last + 1))
    Random(3).shuffle(sequences)

    assert len(storage.chunks(timeline)) > 3
    for sequence in sequences:
        assert storage.frame_at(timeline, sequence) == frames[sequence - 1]
    assert storage.frame_at(timeline, 0) == frame(initial_state("orders"))
    assert storage.frame_at(timeline, timeline.last + 1) is None


def test_summaries_and_metrics_at_a_moment_are_those_of_the_log_up_to_there(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    entries = [Entry.from_json(entry) for entry in storage.every_entry(timeline)]
    frames = folded(timeline)
    for at in range(5, timeline.last, 7):
        recorder, metrics = Recorder(group="orders"), Metrics()
        for entry in entries[:at]:
            recorder.add(entry)
            metrics.add(entry)
        batch = recorder.flush(final=True)

        assert batch is not None
        assert storage.metrics_at(timeline, at) == metrics.values(frames[at - 1])
        if entries[at - 1].settled:
            assert storage.summary_at(timeline, at) == batch.summary


def test_entries_are_read_between_any_two_and_backwards(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    every = list(storage.every_entry(timeline))

    assert [entry["sequence"] for entry in every] == list(range(1, timeline.last + 1))
    for first, last in ((1, 1), (5, 40), (30, 10_000), (40, 5)):
        assert storage.entries_between(timeline, first, last) == every[first - 1 : last]
    assert list(storage.entries_before(timeline, 33)) == every[:32][::-1]


def test_a_chunk_is_opened_once_and_kept(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    for _ in range(2):
        storage.frame_at(timeline, timeline.last)

    assert len(made) == 1


def test_who_asks_for_the_same_chunk_at_once_waits_for_it(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = kept(busy(Group()))
    chunk = StoredLog(timeline).index["chunks"][1]
    begun = threading.Event()

    def slow(path: Path, chunk: StoredChunk) -> None:
        begun.wait(0.2)
        in_this_process(path, chunk)

    monkeypatch.setattr(opened, "_open", slow)
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(opened.opened(timeline, chunk))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 1
    assert found == [found[0]] * 5


def test_the_cache_is_bounded_and_keeps_what_was_looked_at_last(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    chunks = storage.chunks(timeline)
    for chunk in chunks:
        storage.chunk_text(timeline, chunk.first)
    for age_s, path in enumerate(reversed(made)):
        os.utime(path, (1_000_000 - age_s, 1_000_000 - age_s))
    storage.chunk_text(timeline, chunks[0].first)
    room = made[0].stat().st_size + made[-1].stat().st_size

    opened.sweep(room)

    assert set(opened.folder().glob("*/*")) == {made[0], made[-1]}


def test_the_cache_is_looked_at_every_so_many_chunks(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = kept(busy(Group()))
    swept: list[int] = []
    monkeypatch.setattr(opened, "SWEEP_EVERY", 2)
    monkeypatch.setattr(opened, "sweep", lambda: swept.append(len(made)))
    monkeypatch.setattr(opened, "_opened", 0)
    for chunk in storage.chunks(timeline)[:4]:
        storage.chunk_text(timeline, chunk.first)

    assert swept == [2, 4]


@pytest.mark.parametrize(
    "damage", [lambda data: data[:20], lambda data: b"", lambda data: data[:32] + b"?" * 50]
)
def test_a_chunk_whose_cache_was_damaged_is_made_anew(kept: Kept, damage: Callable[[bytes], bytes]) -> None:
    timeline = kept(busy(Group()))
    before = storage.frame_at(timeline, 1)
    made[0].write_bytes(damage(made[0].read_bytes()))

    assert storage.frame_at(timeline, 1) == before
    assert len(made) == 2


def test_a_pack_that_is_gone_or_damaged_is_told_in_one_line(
    kept: Kept, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    timeline = kept(busy(Group()))
    storage.summary(timeline)
    monkeypatch.undo()
    [pack] = (tmp_path / "store").rglob("*.pack")

    pack.write_bytes(b"\0" * pack.stat().st_size)
    with pytest.raises(
        CannotOpen, match=rf"^{pack.parent.name}/\w+\.pack is damaged at byte \d+: import its log again\.$"
    ):
        storage.frame_at(timeline, 1)
    with pytest.raises(CannotOpen, match="is damaged"):
        list(storage.every_entry(timeline))
    pack.unlink()
    with pytest.raises(CannotOpen, match=r"is not in the store: its file was removed from outside\.$"):
        storage.frame_at(timeline, 1)


def test_a_chunk_is_opened_by_a_process_of_its_own(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = kept(busy(Group()))
    here = storage.frame_at(timeline, timeline.last)
    opened.forget(timeline.id)
    monkeypatch.undo()

    assert storage.frame_at(timeline, timeline.last) == here
    [path] = opened.folder().glob("*/*")
    assert path.stat().st_mode & 0o777 == 0o600


# -- releases before packs


def test_timelines_of_releases_before_packs_stay_listed_by_their_import() -> None:
    executor = MigrationExecutor(connection)
    leaves = executor.loader.graph.leaf_nodes()
    executor.migrate([("groups", "0002_imports")])
    try:
        apps = executor.loader.project_state([("groups", "0002_imports")]).apps
        made_by = apps.get_model("groups", "Import").objects.create(id="import-1", title="log")
        facts = {"entry_format": 1, "fold_version": 1, "source": "import"}
        for number in range(3):
            apps.get_model("groups", "Timeline").objects.create(id=f"t{number}", made_by=made_by, **facts)
        apps.get_model("groups", "Timeline").objects.create(id="alone", **facts)
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(leaves)

    listed = lifecycle.get("import-1").timelines.values_list("pk", flat=True)
    assert sorted(listed) == ["t0", "t1", "t2"]
    assert set(Timeline.objects.values_list("index_place", "folder", "digest")) == {(None, "", "")}


def test_a_stretch_of_a_stored_log_is_handed_on_as_it_is_and_with_names_hidden(kept: Kept) -> None:
    timeline = kept(busy(Group()))
    frames = folded(timeline)
    asked = Stretch(first=timeline.last // 3, last=2 * timeline.last // 3)
    found = handing_on.incident(timeline, asked)
    assert len(found.pieces) > 1
    for piece in found.pieces:
        assert piece.frame == (frames[piece.first - 2] if piece.first > 1 else frame(initial_state("orders")))
        assert apply(piece.frame, piece.changes) == frames[piece.last - 1]
        assert piece.entries == storage.entries_between(timeline, piece.first, piece.last)
    hidden = handing_on.incident(timeline, asked, key=bytes(32))
    assert [moment["sequence"] for piece in hidden.pieces for moment in piece.moments] == [
        moment["sequence"] for piece in found.pieces for moment in piece.moments
    ]
    told = repr([piece.frame for piece in hidden.pieces] + [dict(hidden.summary)])
    assert "orders" not in told
    assert "foo" not in told
