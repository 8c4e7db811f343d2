"""Coordinator records: whole round trips, and every way in which bytes or values can be wrong."""

import base64
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.codecs.primitives import (
    read_unsigned_varint,
    read_varlong,
    write_unsigned_varint,
    write_varlong,
)
from groups.wire.codecs.uuids import base64_to_uuid, uuid_to_base64
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import MalformedError, TruncatedError, UnencodableError, WireError
from groups.wire.record_type import RecordType
from groups.wire.records import decode_record, encode_record, is_opaque
from tests.wire.strategies import integers, payloads

EPOCH = {"type": 3, "key": {"groupId": "orders"}, "version": 0, "value": {"epoch": 2}}
MEMBER = {
    "type": 8,
    "key": {"groupId": "orders", "memberId": "A"},
    "version": 0,
    "value": {
        "memberEpoch": 2,
        "previousMemberEpoch": 1,
        "state": 1,
        "assignedPartitions": [
            {"topicId": "cLledStpRu6ixDUvA4jVgA", "partitions": [0, 1], "assignmentEpochs": [2, 2]}
        ],
        "partitionsPendingRevocation": [],
    },
}


@given(payloads())
def test_every_type_and_version_survives_its_bytes(payload: dict[str, Any]):
    key, value = encode_record(payload)
    assert decode_record(key, value) == payload
    orjson.dumps(payload)


def test_the_bytes_of_an_epoch_record():
    assert encode_record(EPOCH) == (
        bytes.fromhex("0003 0006 6f7264657273"),
        bytes.fromhex("0000 00000002 00"),
    )


@pytest.mark.parametrize("version", range(5))
def test_a_classic_group_without_members_has_neither_a_protocol_nor_a_leader_in_any_version(version: int):
    value = {"protocolType": "", "generation": 3, "protocol": None, "leader": None, "members": []}
    value |= {"currentStateTimestamp": -1} if version >= 2 else {}
    payload = {"type": 2, "key": {"group": "orders"}, "version": version, "value": value}
    assert decode_record(*encode_record(payload)) == payload


def test_a_tagged_field_at_its_default_is_left_out():
    with_zero = {**EPOCH, "value": {"epoch": 2, "metadataHash": 0}}
    assert encode_record(with_zero) == encode_record(EPOCH)
    # Whoever writes the default all the same is understood.
    key, _ = encode_record(EPOCH)
    assert decode_record(key, bytes.fromhex("0000 00000002 01 00 08 0000000000000000")) == EPOCH


def test_a_tombstone_has_neither_version_nor_value():
    key, value = encode_record({**EPOCH, "version": None, "value": None})
    assert value is None
    assert decode_record(key, None) == {**EPOCH, "version": None, "value": None}


@pytest.mark.parametrize(
    ("key", "value", "reason", "group"),
    [
        (None, b"\0\0", "the record has no key", None),
        (b"", b"\0\0", "key, byte 0: an int16 needs 2 bytes, 0 are left", None),
        (b"\0\x1f\0\1g", b"\0\0", "records of type 31 are not known here", None),
        (b"\xff\xff\0\1g", b"\0\0", "records of type -1 are not known here", None),
        (b"\0\3\0\5g", None, "key.groupId, byte 4: a string needs 5 bytes, 1 is left", None),
        (b"\0\5\0\1g\0\1\xff", None, "key.memberId, byte 7: a string is not UTF-8", None),
        (
            b"\0\3\xff\xff",
            None,
            "key.groupId, byte 2: a string that may not be null is null (length -1)",
            None,
        ),
        (b"\0\3\0\1g!", None, "key, byte 5: the fields end here, the bytes go on for 1 more", None),
        (b"\0\3\0\1g", b"", "value, byte 0: an int16 needs 2 bytes, 0 are left", "g"),
        (b"\0\3\0\1g", b"\0\7", "type 3 has no value version 7 here; known are 0 to 0", "g"),
        (b"\0\3\0\1g", b"\0\0\0\0", "value.epoch, byte 2: int32 needs 4 bytes, 2 are left", "g"),
        (
            b"\0\3\0\1g",
            b"\0\0\0\0\0\1\0!",
            "value, byte 7: the fields end here, the bytes go on for 1 more",
            "g",
        ),
    ],
)
def test_what_cannot_be_read_is_kept_as_bytes_with_the_reason(
    key: bytes | None, value: bytes | None, reason: str, group: str | None
):
    payload = decode_record(key, value)

    assert payload["reason"] == reason
    assert payload.get("group") == group
    assert "value" not in payload
    assert is_opaque(payload)
    assert encode_record(payload) == (key, value)
    orjson.dumps(payload)


@pytest.mark.parametrize(
    "value",
    [
        # Counts and lengths of two thousand million, each with a handful of bytes behind it.
        "0000 00000002 00000001 00 ffffffff07 00",
        "0000 00000002 00000001 00 02 00000000000000000000000000000000 ffffffff07 00",
        "0000 00000002 00000001 00 01 01 ffffffff07 00",
        "0000 00000002 00000001 00 01 01 01 09 ffffffff07 00",
    ],
)
def test_a_length_beyond_the_bytes_that_are_left_is_refused_before_anything_is_made(value: str):
    key, _ = encode_record(MEMBER)
    payload = decode_record(key, bytes.fromhex(value))
    assert payload["reason"].endswith(" left")


@given(payloads(), st.data())
def test_damaged_records_are_kept_and_never_crash(payload: dict[str, Any], data: st.DataObject):
    key, value = encode_record(payload)
    assert key is not None
    raw = bytearray(value if value is not None and data.draw(st.booleans()) else key)
    for _ in range(data.draw(st.integers(1, 3))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])

    for damaged in [(cut, value), (key, cut)]:
        again = decode_record(*damaged)
        orjson.dumps(again)
        if is_opaque(again):
            assert encode_record(again) == damaged
        else:
            # Non-canonical bytes may be another way to say the same; that much is kept.
            assert decode_record(*encode_record(again)) == again


def test_a_key_that_ends_early_keeps_its_bytes_though_its_group_is_not_utf_8():
    key = bytes.fromhex("0001 0002 0080")
    payload = decode_record(key, bytes(28))
    assert is_opaque(payload)
    assert encode_record(payload) == (key, bytes(28))


@given(st.none() | st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_any_bytes_give_a_payload(key: bytes | None, value: bytes | None):
    orjson.dumps(decode_record(key, value))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"type": 31}, "records of type 31 are not known here"),
        ({"version": 9}, "type 3 has no value version 9; known are 0 to 0, and null for a tombstone"),
        ({"key": {}}, "key.groupId: the field is missing"),
        ({"key": {"groupId": 7}}, "key.groupId: 7 is not a string"),
        (
            {"key": {"groupId": "\ud800"}},
            "key.groupId: '\\ud800' has a lone surrogate, which UTF-8 has no bytes for",
        ),
        (
            {"key": {"groupId": "x" * 40_000}},
            "key.groupId: a string of 40000 bytes; Kafka's longest is 32767",
        ),
        ({"value": {"epoch": 1 << 31}}, "value.epoch: 2147483648 is not an int32"),
        ({"value": {"epoch": 1, "ghost": 2}}, "value: version 0 has no field 'ghost'"),
        ({"value": [1]}, "value: [1] is not an object with fields"),
        (
            {"value": {"epoch": 1, "_unknownTaggedFields": [{"tag": "x"}]}},
            "value: _unknownTaggedFields is not a list of objects with a tag and data in base64",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_the_name_of_its_field(change: dict[str, Any], sentence: str):
    with pytest.raises(UnencodableError) as caught:
        encode_record(EPOCH | change)
    assert str(caught.value) == sentence


def test_a_fault_deep_inside_is_named_with_its_path():
    topic = {"topicId": "not an id", "partitions": [0]}
    with pytest.raises(
        UnencodableError, match=r"^value\.assignedPartitions\.1\.topicId: 'not an id' is not an id"
    ):
        encode_record({**MEMBER, "value": {**MEMBER["value"], "assignedPartitions": [_topic(), topic]}})


def _topic() -> dict[str, Any]:
    return {"topicId": "cLledStpRu6ixDUvA4jVgA", "partitions": [0]}


@given(integers(64))
def test_zigzag_integers_survive_their_bytes(value: int):
    out = bytearray()
    write_varlong(out, value)
    assert read_varlong(bytes(out), 0) == (value, len(out))


@given(st.integers(0, 2**32 - 1))
def test_unsigned_varints_survive_their_bytes(value: int):
    out = bytearray()
    write_unsigned_varint(out, value)
    assert read_unsigned_varint(bytes(out), 0) == (value, len(out))


def test_varints_end_where_kafkas_end():
    with pytest.raises(MalformedError, match="a varint is longer than 5 bytes"):
        read_unsigned_varint(b"\x80" * 6, 0)
    with pytest.raises(TruncatedError, match="a varint needs 3 bytes, 2 are left"):
        read_unsigned_varint(b"\x80\x80", 0)


@given(st.binary(min_size=16, max_size=16))
def test_ids_survive_their_text_form(value: bytes):
    text = uuid_to_base64(value)
    assert base64_to_uuid(text) == value
    assert text == base64.urlsafe_b64encode(value).rstrip(b"=").decode()


@pytest.mark.parametrize(
    "text", ["", "abc", "cLledStpRu6ixDUvA4jVgA==", "cLledStpRu6ixDUvA4jVgB", "größe" * 5]
)
def test_only_the_text_that_kafka_writes_is_an_id(text: str):
    with pytest.raises(WireError, match="is not an id"):
        base64_to_uuid(text)


@pytest.mark.parametrize("type_", [RECORD_TYPES[1], RECORD_TYPES[2], RECORD_TYPES[3]])
def test_a_group_whose_name_is_not_utf_8_is_read_with_replacement_characters_and_written_as_it_was(
    type_: RecordType,
):
    """As Kafka's own tools and coordinator read it."""
    group = b"\xff\xfeab"
    rest = b"\x00\x03foo\x00\x00\x00\x07" if type_.number == 1 else b""
    key = type_.number.to_bytes(2) + len(group).to_bytes(2) + group + rest
    payload = decode_record(key, None)
    assert payload["key"][type_.group_field] == "\ufffd\ufffdab"
    assert not is_opaque(payload)
    assert encode_record(payload) == (key, None)
    # Other strings that are not UTF-8 are kept as bytes, with the group.
    if rest:
        damaged = decode_record(key.replace(b"foo", b"f\xff\xff"), None)
        assert is_opaque(damaged)
