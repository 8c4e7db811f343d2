"""The embedded consumer protocol, byte by byte."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.embedded.consumer_protocol import (
    as_the_client_writes,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from groups.wire.errors import (
    MalformedError,
    RecordError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from groups.wire.logs.control import ControlRecord, ControlType, decode_control
from groups.wire.logs.metadata_log import decode_metadata_record
from tests.wire.strategies import bodies

# Topic foo, no user data, owns foo-0 and foo-1.
VERSION_1 = "0001 00000001 0003666f6f ffffffff 00000001 0003666f6f 00000002 00000000 00000001"
OWNED = {
    "topics": ["foo"],
    "userData": None,
    "ownedPartitions": [{"topic": "foo", "partitions": [0, 1]}],
}


def from_hex(text: str) -> bytes:
    return bytes.fromhex(text)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("0000 00000001 0003666f6f ffffffff", {"version": 0, "topics": ["foo"], "userData": None}),
        (VERSION_1, {"version": 1, **OWNED}),
        (VERSION_1.replace("0001", "0002", 1) + "ffffffff", {"version": 2, **OWNED, "generationId": -1}),
        (
            VERSION_1.replace("0001", "0003", 1) + "00000007 ffff",
            {"version": 3, **OWNED, "generationId": 7, "rackId": None},
        ),
        (
            VERSION_1.replace("0001", "0003", 1) + "ffffffff 000161",
            {"version": 3, **OWNED, "generationId": -1, "rackId": "a"},
        ),
    ],
)
def test_subscriptions_have_the_bytes_of_the_proposals(data: str, value: dict[str, Any]):
    assert decode_subscription(from_hex(data)) == value
    assert encode_subscription(value) == from_hex(data)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_assignment_is_the_same_in_all_versions(version: int):
    data = from_hex(f"{version:04x} 00000001 0003666f6f 00000002 00000000 00000001 00000002 0102")
    value = {
        "version": version,
        "assignedPartitions": [{"topic": "foo", "partitions": [0, 1]}],
        "userData": "AQI=",
    }
    assert decode_assignment(data) == value
    assert encode_assignment(value) == data


def test_a_later_version_is_read_as_the_newest_known_and_what_follows_is_left_alone():
    data = from_hex(VERSION_1.replace("0001", "0064", 1) + "00000007 ffff" + "deadbeef")
    assert decode_subscription(data) == {"version": 100, **OWNED, "generationId": 7, "rackId": None}


def test_a_version_that_carries_more_bytes_than_it_has_fields_is_read_without_them():
    data = from_hex(VERSION_1.replace("0001", "0000", 1))
    assert decode_subscription(data) == {"version": 0, "topics": ["foo"], "userData": None}


def test_kafkas_client_sorts_what_it_subscribes_to_and_owns_by_javas_order_of_strings():
    # U+FFFD comes before U+1F600, but not by the units of UTF-16.
    subscription = {
        "version": 1,
        "topics": ["b", "\ufffd", "\U0001f600", "a"],
        "ownedPartitions": [
            {"topic": "b", "partitions": [2, 0]},
            {"topic": "a", "partitions": [1]},
            {"topic": "b", "partitions": [1]},
        ],
    }
    assert as_the_client_writes(subscription) == {
        "version": 1,
        "topics": ["a", "b", "\U0001f600", "\ufffd"],
        "ownedPartitions": [{"topic": "a", "partitions": [1]}, {"topic": "b", "partitions": [0, 1, 2]}],
    }
    assert as_the_client_writes({"version": 0, "topics": ["b", "a"]}) == {"version": 0, "topics": ["a", "b"]}


def test_what_is_left_out_is_written_as_kafkas_default():
    assert encode_subscription({"topics": ["foo"]}) == from_hex(
        "0003 00000001 0003666f6f ffffffff 00000000 ffffffff ffff"
    )


@pytest.mark.parametrize(
    ("data", "error", "sentence"),
    [
        ("", TruncatedError, "byte 0: a version needs 2 bytes, 0 are left"),
        ("ffff 00000000", UnknownVersionError, "byte 0: ConsumerProtocolSubscription has no version -1"),
        (
            "0000 7fffffff",
            TruncatedError,
            "topics, byte 6: a list of 2147483647 needs 2147483647 bytes, 0 are left",
        ),
        ("0000 00000000", TruncatedError, "userData, byte 6: a length needs 4 bytes, 0 are left"),
        ("0000 ffffffff", MalformedError, "topics, byte 2: a list of -1 elements"),
    ],
)
def test_damaged_blobs_are_refused_with_the_place(data: str, error: type[RecordError], sentence: str):
    with pytest.raises(error) as caught:
        decode_subscription(from_hex(data))
    assert str(caught.value) == sentence


def test_a_version_that_nobody_knows_is_not_written():
    with pytest.raises(UnencodableError, match="has no version 4; known are 0 to 3"):
        encode_assignment({"version": 4, "assignedPartitions": []})


@given(st.integers(0, 3), st.data())
def test_every_blob_survives_its_bytes(version: int, data: st.DataObject):
    subscription = {"version": version, **data.draw(bodies(SUBSCRIPTION, version))}
    assert decode_subscription(encode_subscription(subscription)) == subscription
    assignment = {"version": version, **data.draw(bodies(ASSIGNMENT, version))}
    assert decode_assignment(encode_assignment(assignment)) == assignment


@given(st.binary(max_size=80), st.none() | st.binary(max_size=20))
def test_any_bytes_give_a_value_or_a_record_error(data: bytes, value: bytes | None):
    for decode in (decode_subscription, decode_assignment, decode_metadata_record):
        with suppress(RecordError):
            decode(data)
    with suppress(RecordError):
        decode_control(data, value)


def test_control_records_of_a_later_kind_are_named_unknown():
    assert decode_control(from_hex("0000 0063"), None) == ControlRecord(type=ControlType.UNKNOWN)
    assert decode_control(from_hex("0000 0002"), b"") == ControlRecord(type=ControlType.LEADER_CHANGE)


def test_the_metadata_log_of_a_later_release_is_still_read():
    # Frame 1, PartitionRecord, version 9: the leading fields, then fields that nobody knows yet.
    later = from_hex("01 03 09 00000002 70b95e752b6946eea2c4352f0388d580 02 00000001 deadbeef")
    assert decode_metadata_record(later) == {
        "type": "PartitionRecord",
        "version": 9,
        "value": {"partitionId": 2, "topicId": "cLledStpRu6ixDUvA4jVgA", "replicas": [1]},
    }
    with pytest.raises(UnknownVersionError, match="metadata frame version 2 is not known here"):
        decode_metadata_record(from_hex("02 03 00"))
