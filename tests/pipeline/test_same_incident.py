"""One incident in each form in which it is sent: at every settled moment the frame has whatever the form carries.

``checkout`` is a classic group and ``billing`` one of the consumer protocol; see ``test_pasted_texts``. That the topic itself gives the
broker's segments byte for byte is ``tests/clusters/test_archiving``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groups.archiving.segments import LOG, PartitionArchive, Piece
from groups.history.entries import Entry
from groups.history.passes.recorder import Recorder
from groups.texts.requests import REQUEST_LOG
from tests.pipeline.folds import Folds, fold_paths
from tests.pipeline.test_pasted_texts import BILLING, CHECKOUT, PASTED, fold_text, text_of

pytestmark = pytest.mark.once

SEGMENTS = PASTED / "segments"
Frame = dict[str, Any]


def frames(folds: Folds, timeline: str) -> Iterator[Frame]:
    """The frame after each settled entry."""
    recorder = Recorder(group=timeline.partition("#")[0], digests=False)
    for line in folds.entries(timeline):
        recorder.add(Entry.from_json(line))
        if line["settled"]:
            recorder.flush(final=True)
            yield dict(recorder.frame)


@pytest.fixture(scope="module")
def recorded() -> Folds:
    return fold_paths(str(SEGMENTS))


def archive(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder / "sent"), "gztar", SEGMENTS))


def topic(folder: Path) -> Path:
    """As ``archive_log`` writes what it reads of the topic, in small segments."""
    for path in SEGMENTS.glob("__consumer_offsets-*"):
        data = b"".join(segment.read_bytes() for segment in sorted(path.glob("*.log")))
        with PartitionArchive(folder, int(path.name.rpartition("-")[2]), segment_bytes=1000) as into:
            into.append(Piece(0, 0, data))
    shutil.copytree(SEGMENTS / "__cluster_metadata-0", folder / LOG / "__cluster_metadata-0")
    return folder / LOG


def dump(folder: Path) -> Path:
    (folder / "dump.txt").write_text(text_of("dump"))
    return folder / "dump.txt"


@pytest.mark.parametrize("form", [archive, topic, dump])
@pytest.mark.parametrize("timeline", [CHECKOUT, BILLING])
def test_an_archive_a_topic_and_a_dump_have_the_frames_of_the_segments(
    tmp_path: Path, recorded: Folds, form: Callable[[Path], Path], timeline: str
) -> None:
    folds = fold_paths(str(form(tmp_path)), scratch=str(tmp_path / "scratch"))

    assert list(frames(folds, timeline)) == list(frames(recorded, timeline))
    assert folds.told(timeline)["digest"] == recorded.told(timeline)["digest"]


def without(frame: Frame, *names: str) -> Frame:
    """The frame without its place on the axis, and without these parts of it."""
    return {name: part for name, part in frame.items() if name not in ("sequence", "at_ms", *names)}


def test_console_text_has_the_frames_of_a_classic_group_but_for_what_the_metadata_log_says_of_topics(
    tmp_path: Path, recorded: Folds
) -> None:
    folds = fold_text(tmp_path, text_of("console-groups", "console-offsets"))

    # The records alone: of the segments the first entry is what the metadata log says.
    assert list(map(settled, frames(folds, CHECKOUT))) == list(map(settled, frames(recorded, CHECKOUT)))[1:]
    assert committed(folds, CHECKOUT) == committed(recorded, CHECKOUT)
    assert committed(folds, BILLING) == committed(recorded, BILLING)


def settled(frame: Frame) -> Frame:
    return without(frame, "topics")


def committed(folds: Folds, timeline: str) -> list[Any]:
    records = [entry["payload"] for entry in folds.entries(timeline) if entry["kind"] == "record"]
    return [(each["key"], each["value"]) for each in records if each["type"] == 1]


def stable(folds: Folds, timeline: str) -> list[Frame]:
    """Each state in which all members have what the generation or epoch gives them, if it differs from the one before."""
    found: list[Frame] = []
    for frame in frames(folds, timeline):
        members = frame["members"].values()
        reached = all(
            (each.get("state"), each.get("epoch")) == ("STABLE", frame.get("group_epoch")) for each in members
        )
        if members and (reached if frame["protocol"] == "consumer" else frame["state"] == "Stable"):
            now = without(frame, "topics", "target", "assignment_epoch", "clients")
            if not found or found[-1] != now:
                found.append(now)
    return found


def test_a_request_log_has_the_frames_of_the_generations_whose_requests_it_has(
    tmp_path: Path, recorded: Folds
) -> None:
    folds = fold_text(tmp_path, text_of("requests"))

    assert stable(folds, CHECKOUT) == stable(recorded, CHECKOUT)


def test_a_request_log_has_each_settled_state_of_a_consumer_group_with_topics_by_their_ids(
    tmp_path: Path, recorded: Folds
) -> None:
    """It has more states: no request shows that a member waits for partitions that another one still has."""
    folds = fold_text(tmp_path, text_of("requests"))

    def members(of: Folds) -> list[Any]:
        return [
            {
                name: (each["client_id"], each["host"], each["epoch"], *each["assigned"].values())
                for name, each in frame["members"].items()
            }
            for frame in stable(of, BILLING)
        ]

    later = iter(members(folds))
    assert len(members(recorded)) == 3
    assert all(state in later for state in members(recorded))
    [topic] = next(frames(recorded, BILLING))["topics"].values()
    assert {
        name
        for frame in stable(folds, BILLING)
        for each in frame["members"].values()
        for name in each["assigned"]
    } == {topic["id"]}
    assert "the names of topics that heartbeats have by id" in REQUEST_LOG.lacks
    assert "whether a member waits for partitions" in REQUEST_LOG.lacks
