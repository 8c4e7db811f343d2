"""What a real broker of Kafka 4.3.1 left on its disk: the bundled sample, and a snapshot of its metadata."""

from pathlib import Path

import pytest

from groups.wire.logs.batches import read_batches
from groups.wire.logs.control import decode_control
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import RecordBatch, write_batch
from groups.wire.metadata_hash import group_hash, topic_hash
from groups.wire.records import decode_record, encode_record

SEGMENTS = Path(__file__).parents[2] / "groups" / "samples" / "orders-enrich" / "segments"
# Made with the topics foo and bar of five partitions each (metadata.log.max.record.bytes.between.snapshots=1000).
CHECKPOINT = Path(__file__).parent / "fixtures" / "00000000000000000040-0000000001.checkpoint"

LOGS = sorted(SEGMENTS.glob("*/*.log"))
OFFSETS = [path for path in LOGS if path.parent.name.startswith("__consumer_offsets")]


def batches_of(path: Path) -> list[RecordBatch]:
    items = list(read_batches(path.read_bytes()))
    batches = [item for item in items if isinstance(item, RecordBatch)]
    assert batches
    assert batches == items
    return batches


def metadata_of(path: Path) -> list[dict[str, object]]:
    values = [record.value for batch in batches_of(path) if not batch.is_control for record in batch.records]
    return [told for value in values if (told := decode_metadata_record(value))]


@pytest.mark.parametrize("path", [*LOGS, CHECKPOINT], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recorded_file_is_read_whole_and_written_again_byte_for_byte(path: Path):
    assert b"".join(write_batch(batch) for batch in batches_of(path)) == path.read_bytes()


@pytest.mark.parametrize("path", OFFSETS, ids=lambda path: path.parent.name)
def test_every_recorded_coordinator_record_is_understood_and_written_again_byte_for_byte(path: Path):
    for batch in batches_of(path):
        for record in batch.records:
            payload = decode_record(record.key, record.value)
            assert "reason" not in payload
            assert encode_record(payload) == (record.key, record.value)


def test_a_metadata_snapshot_tells_its_topics_and_how_many_partitions_they_have():
    told = metadata_of(CHECKPOINT)
    topics = {row["value"]["topicId"]: row["value"]["name"] for row in told if row["type"] == "TopicRecord"}
    partitions = [
        (topics[row["value"]["topicId"]], row["value"]["partitionId"])
        for row in told
        if row["type"] == "PartitionRecord"
    ]
    assert sorted(partitions) == [(topic, number) for topic in ("bar", "foo") for number in range(5)]


def test_a_metadata_snapshot_stands_between_its_own_control_records():
    control = [
        decode_control(record.key, record.value).type.name
        for batch in batches_of(CHECKPOINT)
        if batch.is_control
        for record in batch.records
    ]
    assert (control[0], control[-1]) == ("SNAPSHOT_HEADER", "SNAPSHOT_FOOTER")


def test_recorded_metadata_hashes_are_proved_by_the_recorded_topics():
    """Every hash in the sample's epochs is that of the topics at one of the moments which its metadata tells."""
    ids: dict[str, str] = {}
    counts: dict[str, int] = {}
    possible: set[int] = {0}
    for row in metadata_of(next(path for path in LOGS if path.parent.name.startswith("__cluster_metadata"))):
        value = row["value"]
        if row["type"] == "TopicRecord":
            ids[value["topicId"]] = value["name"]
        elif row["type"] == "PartitionRecord" and value["topicId"] in ids:
            counts[value["topicId"]] = counts.get(value["topicId"], 0) + 1
            name = ids[value["topicId"]]
            possible.add(group_hash({name: topic_hash(value["topicId"], name, counts[value["topicId"]])}))

    recorded = {
        payload["value"].get("metadataHash", 0)
        for path in OFFSETS
        for batch in batches_of(path)
        for record in batch.records
        if (payload := decode_record(record.key, record.value))["type"] == 3 and payload["value"]
    }
    assert len(recorded) > 1
    assert recorded <= possible
