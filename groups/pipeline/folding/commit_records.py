"""Offset commits as records, one by one, for what cannot be done by columns."""

from __future__ import annotations

import orjson

from groups.pipeline.folding.group_records import GroupRecord
from groups.pipeline.folding.merging import Run
from groups.pipeline.reading.group_blocks import Tables
from groups.wire.commit_payloads import commit_payload


def commit_records(run: Run, group: str, tables: Tables) -> list[GroupRecord]:
    records = []
    for row in run.commits.tolist():
        (
            offset,
            batch,
            at_ms,
            _,
            committed,
            commit_ms,
            expire_ms,
            leader_epoch,
            key,
            metadata,
            topic_id,
            version,
        ) = row
        topic, partition = tables.keys[key]
        payload = commit_payload(
            group=group, topic=topic, partition=partition, version=version, committed=committed,
            leader_epoch=leader_epoch, metadata=tables.texts[metadata], commit_ms=commit_ms, expire_ms=expire_ms,
            topic_id=tables.topic_ids[topic_id] if topic_id >= 0 else None,
        )  # fmt: skip
        records.append(GroupRecord(run.partition, offset, batch, at_ms, 1, payload, orjson.dumps(payload)))
    return records
