"""From a broker's segments to settled frames by the pure packages alone: no Spark, no Django, no import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groups.history.entries import Entry, Kind, Provenance
from groups.history.frames.frame import FrameMaker
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from groups.wire.logs.batches import read_batches
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.metadata_hash import group_hash, topic_hash
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


def partition_counts(data: Path) -> dict[str, list[int]]:
    """By topic id, the partition counts that ``__cluster_metadata`` tells one after another."""
    counts: dict[str, list[int]] = {}
    for segment in sorted(data.glob("__cluster_metadata-0/*.log")):
        for batch in read_batches(segment.read_bytes()):
            assert isinstance(batch, RecordBatch), f"{segment.name}: {batch}"
            if batch.is_control:
                continue
            grown = [decode_metadata_record(record.value) for record in batch.records]
            for record in grown:
                if record is not None and record["type"] == "PartitionRecord":
                    fields = record["value"]
                    known = counts.setdefault(fields["topicId"], [0])
                    known.append(max(known[-1], fields["partitionId"] + 1))
    return {topic_id: sorted(set(known) - {0}) for topic_id, known in counts.items()}


def group_hashes(data: Path, group: str) -> list[int]:
    """The metadata hashes that a group's epoch records carry, each once, in order."""
    hashes = [
        payload["value"].get("metadataHash", 0)
        for batch in payloads(data, group)
        for _, _, payload in batch
        if payload["type"] == 3 and payload["value"] is not None
    ]
    return list(dict.fromkeys(hashes))


def hash_of(topic_id: str, name: str, partitions: int) -> int:
    """The metadata hash of a group that reads one topic, whose brokers have no racks."""
    return group_hash({name: topic_hash(topic_id, name, partitions)})


def without_ids_and_times(payload: Mapping[str, Any], topics: Mapping[str, str]) -> dict[str, Any]:
    """A record's payload without what only its writer could know: topic ids, timestamps, host and metadata hash.

    Partitions come in the coordinator's hash order, so they are told as maps, each with its assignment epoch.
    """

    def partitions(rows: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            topics[row["topicId"]]: dict(
                sorted(zip(row["partitions"], row.get("assignmentEpochs", row["partitions"]), strict=True))
            )
            for row in rows
        }

    plain = {
        "type": payload["type"],
        "key": payload["key"],
        "version": payload["version"],
        "value": payload["value"],
    }
    if payload["value"] is None:
        return plain
    value = {
        name: partitions(field)
        if name in ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation")
        else field
        for name, field in payload["value"].items()
        if name not in ("assignmentTimestamp", "commitTimestamp", "clientHost", "topicId", "metadataHash")
    }
    if payload["type"] == 5:
        # Kafka writes it even when it is null.
        value.setdefault("classicMemberMetadata", None)
    return plain | {"value": value}
