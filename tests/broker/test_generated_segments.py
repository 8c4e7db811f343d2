"""Kafka's own ``kafka-dump-log`` reads every record of the generated logs, with the fields that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record
from tests.benchmarks.generated.mixes import MIXES
from tests.broker.dump import as_kafka_prints, dump

SIZES = {"typical": 3_000, "churn": 3_000, "many-groups": 20, "large-group": 60}


@pytest.mark.broker
@pytest.mark.usefixtures("released_jars")
@pytest.mark.parametrize("mix", sorted(MIXES))
def test_kafka_reads_every_record_of_a_generated_log(tmp_path: Path, mix: str) -> None:
    log = MIXES[mix](tmp_path, SIZES[mix], segment_bytes=100_000)
    expected = []
    for path in log.files:
        for batch in read_batches(path.read_bytes()):
            assert isinstance(batch, RecordBatch)
            expected += [
                (record.offset, record.timestamp_ms, as_kafka_prints(decode_record(record.key, record.value)))
                for record in batch.records
            ]

    printed = dump(log.files)

    assert len(printed) == log.records == len(expected)
    assert [
        (each.offset, each.at_ms, {"key": each.key, "payload": each.payload}) for each in printed
    ] == expected
