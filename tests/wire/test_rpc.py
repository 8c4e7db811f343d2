"""Requests and responses: the same bytes as kio's own serialiser, headers, and what bad bytes are told."""

import base64
import dataclasses
import datetime
import io
import re
import subprocess
import sys
import uuid
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import NEVER, UNKNOWN_TAGS, Array, Field, Message, Primitive, fields
from groups.wire.codecs.uuids import base64_to_uuid
from groups.wire.errors import RecordError, UnencodableError, UnknownVersionError
from groups.wire.generated.requests import LATER
from groups.wire.inspection import guess
from groups.wire.rpc import (
    APIS,
    REQUEST_HEADER,
    RESPONSE_HEADER,
    Api,
    Direction,
    api_message,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    error_name,
    prepare,
    request_frame,
    request_header_version,
    response_header_version,
)
from groups.wire.rpc.declarations import declared_message
from groups.wire.rpc.merging import in_one_version, merged
from tests.tiers import examples
from tests.wire.strategies import bodies

FORMATS = [
    (api, direction, version)
    for api in APIS.values()
    for direction in Direction
    for version in api_message(api.key, direction).versions
]
NOT_IN_KIO = {("OffsetCommit", 0), ("OffsetCommit", 1), ("OffsetFetch", 0)}
JOIN = APIS[11]


def written(message: Message, version: int, value: Any) -> bytes:
    out = bytearray()
    codec(message, version).write(out, value)
    return bytes(out)


def entity(declared: Any, value: Any) -> Any:
    """A value in JSON form as an instance of one of kio's classes."""
    if value is None:
        return None
    arguments = {}
    for field in dataclasses.fields(declared):
        kafka_type = field.metadata.get("kafka_type", "")
        first, *others = field.name.split("_")
        name = first + "".join(word.capitalize() for word in others)
        name += "Ms" if kafka_type.startswith("timedelta") else ""
        if name in value:
            arguments[field.name] = _kio_value(field.type, kafka_type, value[name])
    return declared(**arguments)


def _kio_value(annotation: Any, kafka_type: str, value: Any) -> Any:
    parts = get_args(annotation)
    if NoneType in parts:
        if value is None:
            return None
        [annotation] = [part for part in parts if part is not NoneType]
    if get_origin(annotation) is tuple:
        return tuple(_kio_value(get_args(annotation)[0], kafka_type, each) for each in value)
    if is_dataclass(annotation):
        return entity(annotation, value)
    match kafka_type:
        case "bytes":
            return base64.b64decode(value)
        case "uuid":
            return uuid.UUID(bytes=base64_to_uuid(value)) if value.strip("A") else None
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=value)
        case "error_code":
            return ErrorCode(value)
        case _:
            return value


# kio counts 64 bits of milliseconds in floats, and refuses the error codes of later releases.
KIO_BOUNDS = {"retentionTimeMs": 2**40, "errorCode": 100}


def as_far_as_kio_goes(value: Any) -> Any:
    """The value within those bounds, and without the tags that kio does not know and has no place for."""
    if isinstance(value, list):
        return [as_far_as_kio_goes(each) for each in value]
    if isinstance(value, dict):
        return {
            name: each % KIO_BOUNDS[name] if name in KIO_BOUNDS else as_far_as_kio_goes(each)
            for name, each in value.items()
            if name != UNKNOWN_TAGS
        }
    return value


@pytest.mark.parametrize(
    ("api", "direction", "version"),
    FORMATS,
    ids=[f"{api.name}-{direction}-{version}" for api, direction, version in FORMATS],
)
@given(data=st.data())
@examples(4)
def test_every_message_survives_its_bytes_which_are_those_of_kio(
    api: Api, direction: Direction, version: int, data: st.DataObject
):
    message = api_message(api.key, direction)
    value = data.draw(bodies(message, version))
    raw = written(message, version, value)
    assert codec(message, version).read(raw, 0) == (value, len(raw))

    if (api.name, version) in NOT_IN_KIO or message.name in LATER:
        return
    load = load_request_schema if direction is Direction.REQUEST else load_response_schema
    declared = load(api.key, version)
    known = as_far_as_kio_goes(value)
    theirs = entity(declared, known)
    out = io.BytesIO()
    entity_writer(declared)(out, theirs)
    assert out.getvalue() == written(message, version, known)
    assert entity_reader(declared)(out.getvalue(), 0) == (theirs, len(out.getvalue()))


def test_every_version_that_ever_was_is_there():
    assert {api.name: (api.request.oldest, api.request.newest) for api in APIS.values()} == {
        "OffsetCommit": (0, 10),
        "OffsetFetch": (0, 10),
        "FindCoordinator": (0, 6),
        "JoinGroup": (0, 9),
        "Heartbeat": (0, 4),
        "LeaveGroup": (0, 5),
        "SyncGroup": (0, 5),
        "DescribeGroups": (0, 6),
        "ListGroups": (0, 5),
        "ApiVersions": (0, 4),
        "TxnOffsetCommit": (0, 6),
        "DescribeConfigs": (1, 4),
        "DeleteGroups": (0, 3),
        "IncrementalAlterConfigs": (0, 1),
        "OffsetDelete": (0, 0),
        "ConsumerGroupHeartbeat": (0, 1),
        "ConsumerGroupDescribe": (0, 1),
        "ShareGroupHeartbeat": (1, 1),
        "ShareGroupDescribe": (1, 1),
        "StreamsGroupHeartbeat": (0, 1),
        "StreamsGroupDescribe": (0, 1),
    }
    for api in APIS.values():
        assert api.request.versions == api.response.versions


def test_the_reference_lists_the_apis_with_their_versions():
    page = (Path(__file__).parents[2] / "docs/reference/records.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+)(?: to (\d+))? \| (\d+|never) \|$", page, re.MULTILINE)
    told = {
        int(key): (name, int(oldest), int(newest or oldest), NEVER if flexible == "never" else int(flexible))
        for name, key, oldest, newest, flexible in rows
    }
    assert told == {
        key: (api.name, api.request.oldest, api.request.newest, api.request.flexible_since)
        for key, api in APIS.items()
    }


def test_a_message_says_since_when_and_until_when_it_has_a_field():
    told = {
        field.name: (field.since, min(field.until, 99), min(field.nullable_since, 99))
        for field in APIS[8].request.body.fields
    }
    assert told == {
        "groupId": (0, 99, 99),
        "generationIdOrMemberEpoch": (1, 99, 99),
        "memberId": (1, 99, 99),
        "groupInstanceId": (7, 99, 7),
        "retentionTimeMs": (2, 4, 99),
        "topics": (0, 99, 99),
    }


def test_the_bytes_of_a_heartbeat_of_the_consumer_protocol():
    value = {
        "groupId": "g",
        "memberId": "A",
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 300_000,
        "subscribedTopicNames": ["foo"],
        "topicPartitions": [],
    }
    assert written(APIS[68].request, 0, value) == bytes.fromhex(
        "02 67 02 41 00000000 00 00 000493e0 02 04 666f6f 00 01 00"
    )


def test_the_versions_of_headers_are_kafkas():
    assert [request_header_version(JOIN, version) for version in JOIN.request.versions] == [1] * 6 + [2] * 4
    assert [response_header_version(JOIN, version) for version in JOIN.request.versions] == [0] * 6 + [1] * 4
    # A client that asks for the versions cannot know yet that the broker is flexible.
    versions = APIS[18]
    assert [request_header_version(versions, version) for version in range(5)] == [1, 1, 1, 2, 2]
    assert [response_header_version(versions, version) for version in range(5)] == [0] * 5
    assert request_header_version(APIS[68], 0) == 2


@given(st.data())
def test_headers_of_every_version_survive_their_bytes(data: st.DataObject):
    for message in (REQUEST_HEADER, RESPONSE_HEADER):
        for version in message.versions:
            value = data.draw(bodies(message, version))
            raw = written(message, version, value)
            assert codec(message, version).read(raw, 0) == (value, len(raw))


HEARTBEAT = {
    "header": {"requestApiKey": 12, "requestApiVersion": 4, "correlationId": 7, "clientId": "c"},
    "body": {"groupId": "g", "generationId": 3, "memberId": "m", "groupInstanceId": None},
}
# The client id has the length of old, and a tagged section behind it.
HEARTBEAT_BYTES = bytes.fromhex("000c 0004 00000007 0001 63 00  02 67 00000003 02 6d 00 00")


def test_a_request_says_itself_what_it_is_with_its_length_or_without():
    assert encode_request(HEARTBEAT) == HEARTBEAT_BYTES
    assert decode_request(HEARTBEAT_BYTES) == HEARTBEAT
    with_length = len(HEARTBEAT_BYTES).to_bytes(4) + HEARTBEAT_BYTES
    assert decode_request(with_length) == HEARTBEAT
    frame = request_frame(with_length)
    assert (frame.at, frame.api.name, frame.version, frame.header_version) == (4, "Heartbeat", 4, 2)


def test_a_response_is_read_by_who_knows_what_was_asked():
    value = {"header": {"correlationId": 7}, "body": {"throttleTimeMs": 0, "errorCode": 27}}
    raw = bytes.fromhex("00000007 00  00000000 001b 00")
    assert encode_response(value, APIS[12], 4) == raw
    assert decode_response(raw, APIS[12], 4) == value
    assert error_name(value["body"]["errorCode"]) == "REBALANCE_IN_PROGRESS"


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ("000c 00", "byte 0: an API key and a version needs 4 bytes, 3 are left"),
        ("0000 0009", "byte 0: requests of API key 0 are not known here"),
        ("000c 0005 00000007", "byte 2: Heartbeat has no version 5 here; known are 0 to 4"),
        ("000c 0004 00000007 0001", "header.clientId, byte 10: a string needs 1 byte, 0 are left"),
        ("000c 0000 00000007 ffff 0009", "body.groupId, byte 12: a string needs 9 bytes, 0 are left"),
        (HEARTBEAT_BYTES.hex() + "00", "byte 22: the fields end here, the bytes go on for 1 more"),
    ],
)
def test_a_request_that_cannot_be_read_says_why_and_where(raw: str, sentence: str):
    with pytest.raises(RecordError) as caught:
        decode_request(bytes.fromhex(raw))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "API key None, version None is no request known here"),
        (
            {**HEARTBEAT, "header": {**HEARTBEAT["header"], "requestApiVersion": 9}},
            "API key 12, version 9 is no request known here",
        ),
        ({"header": HEARTBEAT["header"]}, "body: None is not an object with fields"),
        (
            {**HEARTBEAT, "body": {**HEARTBEAT["body"], "generationId": "x"}},
            "body.generationId: 'x' is not an int32",
        ),
    ],
)
def test_a_request_that_does_not_fit_is_refused(value: dict[str, Any], sentence: str):
    with pytest.raises(UnencodableError) as caught:
        encode_request(value)
    assert str(caught.value) == sentence


@given(st.binary(max_size=60))
def test_any_bytes_are_a_request_or_an_error(raw: bytes):
    for data in (raw, b"\0\x44\0\1" + raw):
        with suppress(RecordError):
            value = decode_request(data)
            assert decode_request(encode_request(value)) == value


def test_apis_that_are_none_of_ours_are_unknown():
    with pytest.raises(UnknownVersionError, match="requests of API key 1 are not known here"):
        api_message(1, Direction.REQUEST)
    assert error_name(9999) is None


FIRST = fields(Field("a", Primitive.INT32), Field("b", Array(fields(Field("x", Primitive.STRING)))))


@pytest.mark.parametrize(
    ("bodies", "sentence"),
    [
        ({0: FIRST, 1: fields(), 2: FIRST}, "Made.a is away for a while between versions 0 and 2"),
        ({0: FIRST, 1: fields(*reversed(FIRST.fields))}, "Made.a stands elsewhere in version 1 than before"),
        ({0: FIRST, 1: fields(Field("a", Primitive.INT64))}, "Made.a changes its type"),
        ({0: FIRST, 1: fields(Field("a", Primitive.INT32, tag=0))}, "Made.a changes its tag"),
        (
            {
                0: fields(Field("a", Primitive.STRING, nullable_since=0)),
                1: fields(Field("a", Primitive.STRING)),
            },
            "Made.a ceases to be nullable",
        ),
    ],
)
def test_versions_that_no_single_declaration_has_are_refused(bodies: dict[int, Any], sentence: str):
    with pytest.raises(ValueError, match=sentence):
        merged("Made", bodies)


def test_versions_put_together_can_be_taken_apart_again():
    for api in APIS.values():
        for direction in Direction:
            message = api_message(api.key, direction)
            if message.name in LATER:
                continue
            apart = {version: in_one_version(message.body, version) for version in message.versions}
            assert merged(message.name, apart) == message.body


def test_records_are_read_without_importing_kio():
    code = "import sys, groups.wire.records, groups.wire.rpc; sys.exit('kio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_after_all_was_prepared_bit_by_bit_no_message_is_left_to_be_made():
    declared_message.cache_clear()
    bits = sum(1 for _ in prepare())
    made = declared_message.cache_info()
    assert (made.currsize, bits > 3 * len(APIS)) == (2 * len(APIS), True)
    guess(bytes(1) * 7)
    assert declared_message.cache_info().misses == made.misses
