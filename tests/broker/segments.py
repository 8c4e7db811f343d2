"""From a broker's segments to settled frames by the pure packages alone: no Spark, no Django, no import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groups.history.entries import Entry, Kind, Provenance
from groups.history.fold import replay
from groups.history.frames import FrameMaker
from groups.history.state import initial_state
from groups.wire.batches import RecordBatch, read_batches
from groups.wire.records import decode_record


def batches(data: Path) -> Iterator[tuple[int, RecordBatch]]:
    """Every batch of the ``__consumer_offsets`` folders in ``data``, with its partition."""
    for segment in sorted(data.glob("__consumer_offsets-*/*.log")):
        partition = int(segment.parent.name.rpartition("-")[2])
        for batch in read_batches(segment.read_bytes()):
            assert isinstance(batch, RecordBatch), f"{segment.name} of partition {partition}: {batch}"
            yield partition, batch


def payloads(data: Path, group: str) -> list[list[tuple[int, int, dict[str, Any]]]]:
    """For each batch with records of a group: their offsets, times and payloads."""
    out = []
    for _, batch in batches(data):
        if batch.is_control:
            continue
        records = [(r.offset, r.timestamp_ms, decode_record(r.key, r.value)) for r in batch.records]
        own = [
            each for each in records if group in (each[2]["key"].get("groupId"), each[2]["key"].get("group"))
        ]
        if own:
            out.append(own)
    return out


def settled_frames(data: Path, group: str, topics: Mapping[str, str]) -> list[dict[str, Any]]:
    """The frames of a group at the end of each batch: the states that the broker itself ever showed.

    ``topics`` is id → name, as the broker gave them out.
    """
    state = initial_state(group)
    sequence = 1
    named = {name: {"id": topic_id, "partitions": None} for topic_id, name in topics.items()}
    note = {"note": "topics", "topics": named, "source": "the test"}
    state = replay(
        state,
        Entry(
            sequence=sequence,
            at_ms=0,
            kind=Kind.NOTE,
            actor="coordinator",
            provenance=Provenance.RECORDED,
            payload=note,
        ),
    )
    maker = FrameMaker()
    frames = []
    for batch in payloads(data, group):
        first = sequence + 1
        for offset, at_ms, payload in batch:
            sequence += 1
            entry = Entry(
                sequence=sequence,
                at_ms=at_ms,
                kind=Kind.RECORD,
                actor="coordinator",
                provenance=Provenance.RECORDED,
                payload=payload,
                offset=offset,
                unit=first,
                settled=offset == batch[-1][0],
            )
            state = replay(state, entry)
        frames.append(maker.frame(state))
    return frames
