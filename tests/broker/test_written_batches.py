"""Kafka's own classes read the batches that are written here, where its jars and a Java are at hand."""

import json
import subprocess

import pytest

from groups.wire.logs.compression import Compression
from groups.wire.logs.record_batch import (
    Header,
    Record,
    RecordBatch,
    TimestampType,
    coordinator_batch,
    write_batch,
)
from tests.broker.java import java
from tests.wire import kafka_program
from tests.wire.test_kafka_made import shown


def kinds_of_batches() -> list[RecordBatch]:
    plain = coordinator_batch(
        base_offset=42,
        timestamp_ms=1_795_224_375_134,
        records=[(b"key", b"value" * 20_000), (b"gone", None), (None, bytes(range(256)) * 300)],
    )
    with_headers = Record(
        offset=42,
        timestamp_ms=1_795_224_375_000,
        key=None,
        value=None,
        headers=(Header(key="größe", value=b"1"), Header(key="none", value=None)),
    )
    return [
        *(plain._replace(compression=compression) for compression in Compression),
        plain._replace(records=(with_headers, *plain.records[1:])),
        plain._replace(is_transactional=True, producer_id=4007, producer_epoch=3, base_sequence=12),
        plain._replace(
            timestamp_type=TimestampType.LOG_APPEND_TIME,
            max_timestamp_ms=1_795_224_375_999,
            records=tuple(record._replace(timestamp_ms=1_795_224_375_999) for record in plain.records),
        ),
    ]


@pytest.mark.broker
@pytest.mark.usefixtures("released_jars")
def test_kafka_reads_every_batch_that_is_written_here() -> None:
    batches = kinds_of_batches()
    answer = subprocess.run(
        [*java(kafka_program.class_path()), "KafkaFixtures", "read"],
        input="\n".join(write_batch(batch).hex() for batch in batches) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert [json.loads(line) for line in answer.stdout.splitlines()] == [shown(batch) for batch in batches]
