"""Recorders of groups that changed a moment ago; those of the others are made again from what is stored of their timelines."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Final

from groups import storage
from groups.cluster_models import WatchedGroup
from groups.history.entries import Entry, EntryLine
from groups.history.frames.shapes import Frame
from groups.history.passes.recorder import Recorder
from groups.models import Timeline

log = logging.getLogger(__name__)

WARM_MOST: Final = 200
"""Groups of one cluster whose recorder is kept, those that changed last: it holds 0.2 MB of a group of 20 members."""

Epochs = tuple[int | None, int | None, Mapping[str, int | None]]
"""Group epoch, assignment epoch, and each member's."""


def epochs_of(frame: Frame) -> Epochs:
    members = frame.get("members") or {}
    return (
        frame.get("group_epoch"),
        frame.get("assignment_epoch"),
        {name: each.get("epoch") for name, each in members.items()},
    )


def restored(row: WatchedGroup) -> Recorder:
    """The recorder of a group's timeline as it is stored: its last checkpoint, and the entries behind it."""
    assert row.timeline_id is not None
    recorder, after = Recorder(group=row.group), 0
    if row.checkpoint is not None:
        try:
            recorder = Recorder.from_checkpoint(bytes(row.checkpoint))
            after = recorder.frame["sequence"]
        except (LookupError, TypeError, ValueError):
            log.info("The checkpoint of %s is of another version: its entries are folded again.", row.group)
    for entry in entries_after(storage.get(row.timeline_id), after):
        recorder.add(Entry.from_json(entry))
    recorder.flush(final=True)
    return recorder


def read_anew(row: WatchedGroup) -> None:
    """The row's timeline as it is stored now; its summary is read when somebody looks at it, and not before."""
    row.timeline = Timeline.objects.defer("summary").filter(pk=row.timeline_id).first() or row.timeline


def entries_after(timeline: Timeline, sequence: int) -> Iterator[EntryLine]:
    """The entries behind a sequence, as they are stored."""
    if sequence == 0:
        yield from storage.every_entry(timeline)
        return
    while sequence < timeline.last:
        some = storage.entries_between(timeline, sequence + 1, timeline.last)
        if not some:
            return
        yield from some
        sequence = some[-1]["sequence"]
