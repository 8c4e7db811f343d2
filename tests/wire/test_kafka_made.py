"""Bytes made by Kafka's own classes: what they mean to Kafka, they mean here, and they are written the same."""

from collections import Counter
from typing import Any

import pytest

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import UNKNOWN_TAGS, Message
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from groups.wire.embedded.user_data import (
    decode_cooperative_sticky,
    decode_sticky,
    encode_cooperative_sticky,
    encode_sticky,
)
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from groups.wire.logs.batches import read_batches
from groups.wire.logs.compression import Compression
from groups.wire.logs.control import ControlType, decode_control, encode_control
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import RecordBatch, TimestampType, write_batch
from groups.wire.metadata_hash import group_hash, topic_hash
from groups.wire.records import decode_record, encode_record
from tests.wire.kafka_made import as_kafka_prints, as_text, lines


def from_hex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


@pytest.mark.parametrize("type_", sorted(RECORD_TYPES))
def test_a_record_reads_as_kafka_prints_it_and_is_written_in_kafkas_bytes(type_: int):
    made = [line for line in lines("records") if line["type"] == type_]
    assert made
    for line in made:
        key, value = from_hex(line["key_hex"]), from_hex(line["value_hex"])
        payload = decode_record(key, value)

        told = {name: line[name] for name in ("type", "key", "version", "value")}
        assert as_text(as_kafka_prints(payload)) == as_text(told)
        assert encode_record(payload) == (key, value)


def test_every_version_of_every_record_type_was_made_by_kafka():
    made = Counter((line["type"], line["version"]) for line in lines("records"))
    wanted = {number: range(type_.value.newest + 1) for number, type_ in RECORD_TYPES.items()}
    assert set(made) == {(number, version) for number in wanted for version in [*wanted[number], None]}
    assert min(count for (_, version), count in made.items() if version is not None) == 100


def test_fields_that_a_later_release_added_to_a_version_are_read_and_written_as_there():
    values = {type_.value.name: type_.value for type_ in RECORD_TYPES.values()}
    for line in lines("records-later"):
        data, form = bytes.fromhex(line["hex"]), codec(values[line["message"]], line["version"])
        value, end = form.read(data, 0)
        out = bytearray()
        form.write(out, value)

        assert (as_kafka_prints(value), end) == (line["value"], len(data))
        assert out == data
    assert any("failedDescriptionTopologyEpoch" in line["value"] for line in lines("records-later"))


def test_tagged_fields_that_nobody_declared_are_kept_in_whichever_struct_they_stood():
    made = [
        decode_record(from_hex(line["key_hex"]), from_hex(line["value_hex"])) for line in lines("records")
    ]
    strange = [payload for payload in made if as_kafka_prints(payload) != payload]
    assert len(strange) > 300
    assert any(UNKNOWN_TAGS in payload["value"] for payload in strange)
    assert any(UNKNOWN_TAGS not in payload["value"] for payload in strange)


@pytest.mark.parametrize(
    ("message", "decode", "encode"),
    [
        (SUBSCRIPTION, decode_subscription, encode_subscription),
        (ASSIGNMENT, decode_assignment, encode_assignment),
    ],
)
def test_an_embedded_blob_reads_as_kafka_prints_it_and_is_written_in_kafkas_bytes(
    message: Message, decode: Any, encode: Any
):
    made = [line for line in lines("embedded") if line["message"] == message.name]
    versions = Counter()
    for line in made:
        data = bytes.fromhex(line["hex"])
        value = decode(data)
        version = value["version"]

        assert value == {"version": version, **line["value"]}
        if message.knows(version):
            assert encode(value) == data
        versions[version if message.knows(version) else "later"] += 1
    assert versions == {0: 60, 1: 60, 2: 60, 3: 60, "later": 60}


def test_user_data_read_as_the_sticky_assignors_meant_them_and_are_written_in_their_bytes():
    versions = set()
    for line in lines("user-data"):
        data = bytes.fromhex(line["hex"])
        sticky = line["assignor"] == "sticky"
        value = decode_sticky(data) if sticky else decode_cooperative_sticky(data)
        versions.add((line["assignor"], value["version"]))
        told = [
            [each["topic"], partition]
            for each in value.get("previousAssignment", ())
            for partition in each["partitions"]
        ]
        assert sorted(told) == sorted(line["partitions"])
        assert (value["version"], value.get("generation")) == (line["version"], line["generation"])
        assert (encode_sticky if sticky else encode_cooperative_sticky)(value) == data
    assert versions == {("sticky", 0), ("sticky", 1), ("cooperative-sticky", 0)}


def test_metadata_records_tell_racks_settings_and_changes_to_who_asks_for_them():
    wanted = {
        "RegisterBrokerRecord": ["brokerId", "rack"],
        "ConfigRecord": ["resourceType", "resourceName", "name", "value"],
        "PartitionChangeRecord": ["partitionId", "topicId"],
    }
    seen = set()
    for line in lines("metadata"):
        if line["name"] not in wanted:
            continue
        seen.add((line["name"], line["version"]))
        record = decode_metadata_record(bytes.fromhex(line["hex"]), with_environment=True)
        assert record is not None
        assert (record["type"], record["version"]) == (line["name"], line["version"])
        for name in wanted[line["name"]]:
            assert record["value"][name] == line["value"][name]
    assert seen


def test_metadata_records_tell_topics_and_partitions_and_all_others_are_passed_over():
    wanted = {
        "TopicRecord": ["name", "topicId"],
        "PartitionRecord": ["partitionId", "topicId", "replicas"],
        "RemoveTopicRecord": ["topicId"],
    }
    seen = set()
    for line in lines("metadata"):
        record = decode_metadata_record(bytes.fromhex(line["hex"]))
        seen.add((line["name"], line["version"]))
        if line["name"] in wanted:
            fields = {name: line["value"][name] for name in wanted[line["name"]]}
            assert record == {"type": line["name"], "version": line["version"], "value": fields}
        else:
            assert record is None
    assert {("TopicRecord", 0), ("PartitionRecord", 2), ("RemoveTopicRecord", 0), ("NoOpRecord", 0)} <= seen


def test_the_metadata_hash_is_kafkas_with_racks_and_without():
    made = lines("hashes")
    assert any(
        racks for line in made for topic in line["topics"].values() for racks in topic["racks"] if racks
    )
    for line in made:
        hashes = {}
        for name, topic in line["topics"].items():
            hashes[name] = topic_hash(topic["id"], name, topic["racks"])
            assert hashes[name] == topic["hash"]
            if not any(topic["racks"]):
                assert topic_hash(topic["id"], name, len(topic["racks"])) == topic["hash"]
        assert group_hash(hashes) == line["hash"]


def shown(batch: RecordBatch) -> dict[str, Any]:
    """The batch in the form in which the Java program prints one."""
    return {
        "compression": batch.compression.name.lower(),
        "baseOffset": batch.base_offset,
        "lastOffset": batch.last_offset,
        "leaderEpoch": batch.partition_leader_epoch,
        "logAppendTime": batch.timestamp_type is TimestampType.LOG_APPEND_TIME,
        "maxTimestamp": batch.max_timestamp_ms,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "producerId": batch.producer_id,
        "producerEpoch": batch.producer_epoch,
        "baseSequence": batch.base_sequence,
        "records": [
            [
                record.offset,
                record.timestamp_ms,
                None if record.key is None else record.key.hex(),
                None if record.value is None else record.value.hex(),
                [
                    [header.key, None if header.value is None else header.value.hex()]
                    for header in record.headers
                ],
            ]
            for record in batch.records
        ],
    }


def test_batches_of_every_compression_read_as_kafka_reads_them():
    made = lines("batches")
    assert {line["compression"] for line in made} == {"none", "gzip", "snappy", "lz4", "zstd"}
    for line in made:
        [batch] = read_batches(bytes.fromhex(line["hex"]))
        assert isinstance(batch, RecordBatch)
        told = {name: value for name, value in line.items() if name != "hex"}
        if "records" not in line:
            # The large ones follow a rule in place of a listing; see largeBatch in the Java program.
            told["records"] = [
                [i, i, f"key-{i}".encode().hex(), (bytes([i % 251]) * 200).hex(), []] for i in range(1000)
            ]
        assert shown(batch) == told


def test_batches_without_compression_are_written_in_kafkas_bytes():
    made = [bytes.fromhex(line["hex"]) for line in lines("batches") if line["compression"] == "none"]
    for data in made:
        [batch] = read_batches(data)
        assert isinstance(batch, RecordBatch)
        if batch.timestamp_type is TimestampType.CREATE_TIME:
            assert write_batch(batch) == data


def test_a_batch_of_every_compression_survives_being_written_again():
    for line in lines("batches"):
        [batch] = read_batches(bytes.fromhex(line["hex"]))
        assert isinstance(batch, RecordBatch)
        assert list(read_batches(write_batch(batch))) == [batch]
        assert batch.compression is Compression[line["compression"].upper()]


def test_the_ends_of_transactions_are_told_apart():
    markers = [
        batch
        for line in lines("batches")
        for batch in read_batches(bytes.fromhex(line["hex"]))
        if isinstance(batch, RecordBatch) and batch.is_control
    ]
    decoded = [decode_control(marker.records[0].key, marker.records[0].value) for marker in markers]
    assert [(record.type, record.coordinator_epoch) for record in decoded] == [
        (ControlType.ABORT, 9),
        (ControlType.COMMIT, 9),
    ]
    for marker, record in zip(markers, decoded, strict=True):
        assert marker.is_transactional
        assert encode_control(record) == (marker.records[0].key, marker.records[0].value)
