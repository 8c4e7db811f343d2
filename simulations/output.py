"""The forms in which ``simulate`` reports a run: frames, changes, entries, records, a segment that Kafka reads, a summary, descriptions of the group."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

import orjson

from groups.history.entries import Entry, EntryLine, Kind
from groups.history.frames.changes import diff
from groups.history.frames.frame import FrameMaker
from groups.history.frames.shapes import Frame
from groups.history.passes.record_lines import record_line
from groups.history.passes.recorder import Recorder
from groups.history.passes.summaries import Summary
from groups.history.replay.fold import replay
from groups.history.state.group import Protocol, Semantics, State, initial_state
from groups.wire.logs.batches import write_segment
from groups.wire.logs.record_batch import RecordBatch, coordinator_batch
from groups.wire.records import encode_record
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.shard import Shard
from simulations.world.scenario import Scenario

FORMATS: Final = ("frames", "changes", "entries", "records", "segment", "summary", "described")
BY: Final = ("entry", "unit", "step")

WHOLE_FRAMES_MEMBERS_MAX: Final = 100
"""Members up to which each line of frames is whole. A frame grows with the group, and so does the number of its entries:
whole frames of 400 members were 1.9 GB in 20 s."""


def frame_lines(entries: Iterable[Entry], state: State, by: str) -> Iterator[dict[str, Any]]:
    """A frame for each entry, for each settled one, or for each step with its number and what it contains."""
    maker = FrameMaker()
    for entry in entries:
        state = replay(state, entry)
        if by == "step":
            if entry.kind is Kind.NOTE and entry.payload["note"] == "step":
                step = {"step": entry.payload["step"], "says": entry.payload["says"]}
                yield {**step, **maker.frame(state), "settled": True}
        elif entry.settled or by == "entry":
            yield {**maker.frame(state), "settled": entry.settled}


def change_lines(entries: Iterable[Entry], state: State, by: str) -> Iterator[bytes]:
    """A line of JSON for each entry, or each settled one: a whole frame, or the changes from the line before to this one.

    The first line is whole, and then each that comes when the changes since weigh as much as the last whole one: all lines
    together weigh twice the changes at most, and a reader who looks for a moment reads back for one frame's weight.
    """
    maker = FrameMaker()
    before: Frame | None = None
    whole_bytes = bytes_since = 0
    for entry in entries:
        state = replay(state, entry)
        if not (entry.settled or by == "entry"):
            continue
        frame = maker.frame(state)
        known: dict[str, object] = {**frame, "settled": entry.settled}
        is_whole = before is None or bytes_since >= whole_bytes
        if before is not None and not is_whole:
            known = {
                "sequence": entry.sequence,
                "at_ms": entry.at_ms,
                "settled": entry.settled,
                "changes": diff(before, frame),
            }
        line = orjson.dumps(known, option=orjson.OPT_APPEND_NEWLINE)
        whole_bytes, bytes_since = (len(line), 0) if is_whole else (whole_bytes, bytes_since + len(line))
        before = frame
        yield line


def entry_lines(entries: Iterable[Entry], by: str) -> Iterator[EntryLine]:
    """The entries; by unit those that settle one, by step the notes that end one."""
    for entry in entries:
        ends_step = entry.kind is Kind.NOTE and entry.payload["note"] == "step"
        if by == "entry" or (by == "unit" and entry.settled) or (by == "step" and ends_step):
            yield entry.to_json()


def record_lines(entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    """The records alone, with their place in the log."""
    for entry in entries:
        if entry.kind is not Kind.RECORD:
            continue
        yield record_line(entry.to_json())


def described_lines(
    entries: Iterable[Entry], scenario: Scenario, semantics: Semantics
) -> Iterator[dict[str, Any]]:
    """The group at each narrated step and at the end, as a broker that has read the log so far describes it."""
    state, records, at_ms = initial_state(scenario.group, semantics), list[Record](), 0
    for entry in entries:
        state, at_ms = replay(state, entry), entry.at_ms
        if entry.kind is Kind.RECORD:
            payload = entry.payload
            records.append(cast(Record, {key: payload[key] for key in ("type", "key", "version", "value")}))
        elif entry.kind is Kind.NOTE and entry.payload["note"] == "step":
            step = {"step": entry.payload["step"], "says": entry.payload["says"], "at_ms": at_ms}
            yield {**step, **_described(scenario, state, records)}
    yield {"step": None, "says": "", "at_ms": at_ms, **_described(scenario, state, records)}


def _described(scenario: Scenario, state: State, records: list[Record]) -> dict[str, Any]:
    """``api`` is ConsumerGroupDescribe, or DescribeGroups for a group of the classic protocol."""
    topics = {
        name: ImageTopic(name=name, topic_id=topic.topic_id, partitions=topic.partitions)
        for name, topic in state.topics.items()
        if topic.topic_id is not None and topic.partitions
    }
    shard = Shard(scenario.group, state.semantics, scenario.settings, Image(topics=topics, version=1))
    shard.load(records)
    if state.protocol is Protocol.CLASSIC:
        return {"api": "DescribeGroups", "group": shard.describe_classic()}
    return {"api": "ConsumerGroupDescribe", "group": shard.describe()}


def summary(entries: Iterable[Entry], group: str, semantics: Semantics) -> Summary:
    """The run as lists and heads of pages show it: cast, epochs, findings, verdict, and what it cost its records."""
    recorder = Recorder(group=group, semantics=semantics, digests=False)
    # A run contains at least its topics.
    return deque(recorder.batches(entries), maxlen=1).pop().summary


def segment(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The records as a segment file of ``__consumer_offsets``: the bytes that a broker would have written."""
    return write_segment(_batches(entries))


def _batches(entries: Iterable[Entry]) -> Iterator[RecordBatch]:
    held: list[Entry] = []
    for entry in entries:
        if entry.kind is not Kind.RECORD:
            continue
        if held and entry.batch != held[0].batch:
            yield _batch(held)
            held = []
        held.append(entry)
    if held:
        yield _batch(held)


def _batch(entries: list[Entry]) -> RecordBatch:
    first = entries[0]
    assert first.offset is not None
    return coordinator_batch(
        base_offset=first.offset,
        timestamp_ms=first.at_ms,
        records=[encode_record(entry.payload) for entry in entries],
    )
