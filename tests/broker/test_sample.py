"""The bundled sample log against what the broker, and Kafka's own tools, said of it when it was recorded.

No broker is needed: what they said stands in ``fixtures/`` (see ``record_sample``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from groups.wire.records import decode_record, encode_record

from .comparison import disagreements, untrue_tables
from .dump import as_kafka_prints
from .record_sample import AUDIT, DUMPED, ENRICH, FIXTURE, SAMPLE
from .segments import batches, group_hashes, hash_of, partition_counts, settled_frames

SEGMENTS = SAMPLE / "segments"
COMMITTED_BYTES_MOST = 400 * 1024


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    """What the broker said while the sample was recorded."""
    return dict(json.loads(FIXTURE.read_text()))


@pytest.fixture(scope="module")
def topics() -> dict[str, str]:
    """Topic ids with their names, as the broker gave them out."""
    return dict(json.loads((SAMPLE / "manifest.json").read_text())["topics"])


def test_every_record_is_decoded_as_kafka_prints_it() -> None:
    decoded = [
        {"partition": partition, "offset": record.offset, "at_ms": record.timestamp_ms}
        | as_kafka_prints(decode_record(record.key, record.value))
        for partition, batch in batches(SEGMENTS)
        for record in batch.records
    ]
    assert decoded == [json.loads(line) for line in DUMPED.read_text().splitlines()]


def test_every_record_is_encoded_to_the_bytes_that_kafka_wrote() -> None:
    for _, batch in batches(SEGMENTS):
        for record in batch.records:
            assert encode_record(decode_record(record.key, record.value)) == (record.key, record.value)


@pytest.mark.parametrize("group", [ENRICH, AUDIT])
def test_frames_equal_what_the_broker_described_at_those_moments(
    group: str, said: dict[str, Any], topics: dict[str, str]
) -> None:
    frames = settled_frames(SEGMENTS, group, topics)
    assert disagreements(frames, said["snapshots"], group) == []


def test_frames_equal_the_tables_of_kafka_consumer_groups(
    said: dict[str, Any], topics: dict[str, str]
) -> None:
    frames = {group: settled_frames(SEGMENTS, group, topics) for group in (ENRICH, AUDIT)}
    assert len(said["tables"]) == 6
    assert untrue_tables(frames, said["tables"]) == []


def test_the_metadata_log_names_the_topics_and_tells_how_one_grew(topics: dict[str, str]) -> None:
    counts = {
        topics[topic_id]: told[-2:]
        for topic_id, told in partition_counts(SEGMENTS).items()
        if topic_id in topics
    }
    assert counts == {"orders": [7, 8], "payments": [2, 3]}


def test_the_metadata_hash_follows_from_the_topic_and_its_partitions(topics: dict[str, str]) -> None:
    (orders,) = (topic_id for topic_id, name in topics.items() if name == "orders")
    assert group_hashes(SEGMENTS, ENRICH) == [hash_of(orders, "orders", 6), hash_of(orders, "orders", 8)]


def test_the_sample_is_small_and_names_no_machine() -> None:
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < COMMITTED_BYTES_MOST
    hosts = {
        member["host"]
        for snapshot in json.loads(FIXTURE.read_text())["snapshots"]
        for member in members(snapshot)
    }
    assert hosts == {"/127.0.0.1"}
    folder_of_a_machine = re.compile(
        rb"/(tmp|home|root|var|opt|usr|Users)/|" + re.escape(str(Path.cwd()).encode())
    )
    assert [path.name for path in files if folder_of_a_machine.search(path.read_bytes())] == []


def members(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    return list(snapshot["said"]["members"].values())
