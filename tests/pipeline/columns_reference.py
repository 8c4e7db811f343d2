"""The records and the damage of a segment in one form, read by columns and read one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson

from groups.pipeline.reading.columns import STRETCH_BYTES, Damage, Stretch, read_stretches
from groups.pipeline.reading.columns.values import Commits
from groups.wire.commit_payloads import commit_payload
from groups.wire.logs.batches import BatchProblem, read_batches
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record


class Told(NamedTuple):
    """A record, its payload as JSON."""

    offset: int
    batch: int
    at_ms: int
    producer: int | None
    payload: bytes


class Reading(NamedTuple):
    """``records`` by offset, and those of one offset by the rest, as no honest log has them."""

    records: list[Told]
    controls: list[RecordBatch]
    damage: list[Damage]
    count: int


def one_by_one(data: bytes) -> Reading:
    records: list[Told] = []
    controls: list[RecordBatch] = []
    damage: list[Damage] = []
    waiting: BatchProblem | None = None
    reached: int | None = None
    count = 0
    for found in read_batches(data):
        if waiting is not None:
            after = None if isinstance(found, BatchProblem) else found.base_offset
            damage.append(Damage(waiting, reached, after))
            waiting = None
        if isinstance(found, BatchProblem):
            waiting = found
            continue
        reached = found.last_offset
        count += len(found.records)
        if found.is_control:
            controls.append(found)
            continue
        producer = found.producer_id if found.is_transactional else None
        records += (
            told(record.offset, found.base_offset, record.timestamp_ms, producer, record.key, record.value)
            for record in found.records
        )
    if waiting is not None:
        damage.append(Damage(waiting, reached, None))
    return Reading(sorted(records, key=order), controls, damage, count)


def told(
    offset: int, batch: int, at_ms: int, producer: int | None, key: bytes | None, value: bytes | None
) -> Told:
    return Told(offset, batch, at_ms, producer, orjson.dumps(decode_record(key, value)))


def order(record: Told) -> tuple[Any, ...]:
    return (*record[:3], record.producer is None, *record[3:])


def by_columns(data: bytes, stretch_bytes: int = STRETCH_BYTES) -> Reading:
    stretches = list(read_stretches(data, stretch_bytes=stretch_bytes))
    assert sum(stretch.bytes for stretch in stretches) == len(data)
    return Reading(
        sorted((record for stretch in stretches for record in records_of(stretch)), key=order),
        [batch for stretch in stretches for batch in stretch.controls],
        [damage for stretch in stretches for damage in stretch.damage],
        sum(stretch.records for stretch in stretches),
    )


def payloads_of(commits: Commits) -> Iterator[dict[str, Any]]:
    """The entry payload of each, as ``decode_record`` gives it."""
    rows = zip(
        commits.key.tolist(), commits.version.tolist(), commits.committed.tolist(), commits.leader_epoch.tolist(),
        commits.commit_ms.tolist(), commits.expire_ms.tolist(), commits.metadata.tolist(), commits.topic_id.tolist(),
        strict=True,
    )  # fmt: skip
    for number, version, committed, leader_epoch, commit_ms, expire_ms, metadata, topic_id in rows:
        key = commits.keys[number]
        yield commit_payload(
            group=key.group,
            topic=key.topic,
            partition=key.partition,
            version=version,
            committed=committed,
            leader_epoch=leader_epoch,
            metadata=commits.texts[metadata],
            commit_ms=commit_ms,
            expire_ms=expire_ms,
            topic_id=None if topic_id < 0 else commits.topic_ids[topic_id],
        )


def records_of(stretch: Stretch) -> list[Told]:
    commits = stretch.commits
    found = [told(*other) for other in stretch.others]
    rows = zip(
        commits.offset.tolist(),
        commits.batch.tolist(),
        commits.at_ms.tolist(),
        commits.producer.tolist(),
        payloads_of(commits),
        strict=True,
    )
    for offset, batch, at_ms, producer, payload in rows:
        found.append(Told(offset, batch, at_ms, None if producer == -1 else producer, orjson.dumps(payload)))
    return found
