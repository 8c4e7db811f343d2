"""Targets: whole records, requests and responses, with what stands in front of their fields."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import orjson

from groups.wire.codecs.codec import codec
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.logs.control import ControlType, decode_control, encode_control
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.records import decode_record, encode_record, is_opaque
from groups.wire.rpc import APIS, Api, decode_request, decode_response, encode_request, encode_response
from tests.fuzz.messages import made
from tests.fuzz.oracle import Target, expect


def targets() -> Iterator[Target]:
    yield Target("record", "records", check_record, record_seeds)
    yield Target("control", "records", check_control, control_seeds)
    yield Target("metadata", "records", check_metadata, metadata_seeds)
    yield Target("request", "requests", check_request, request_seeds)
    yield Target("response", "requests", check_response, response_seeds)


# A record: a byte with two bits for null, an int16 length, the key, the value


def split(data: bytes) -> tuple[bytes | None, bytes | None]:
    if len(data) < 3:
        return b"", None
    end = 3 + int.from_bytes(data[1:3])
    return None if data[0] & 1 else data[3:end], None if data[0] & 2 else data[end:]


def joined(key: bytes | None, value: bytes | None) -> bytes:
    mark = (key is None) | (value is None) << 1
    return bytes([mark]) + len(key or b"").to_bytes(2) + (key or b"") + (value or b"")


def check_record(data: bytes) -> None:
    key, value = split(data)
    payload = decode_record(key, value)
    orjson.dumps(payload)
    if is_opaque(payload):
        expect(encode_record(payload) == (key, value), "is not kept as it was", payload)
        return
    again = decode_record(*encode_record(payload))
    expect(again == payload, "changes when it is written", payload, again)


def record_seeds() -> list[bytes]:
    rows = []
    for type_ in RECORD_TYPES.values():
        number = struct.pack(">h", type_.number)
        for version in type_.value.versions:
            pairs = zip(made(type_.key, 0), made(type_.value, version), strict=True)
            rows += [joined(number + key, struct.pack(">h", version) + value) for key, value in pairs]
        rows.append(joined(number + made(type_.key, 0)[0], None))
    return rows


def check_control(data: bytes) -> None:
    key, value = split(data)
    if key is None:
        return  # refused without an offset: there are no bytes
    record = decode_control(key, value)
    if record.type in (ControlType.ABORT, ControlType.COMMIT):
        expect(decode_control(*encode_control(record)) == record, "changes when it is written", record)


def control_seeds() -> list[bytes]:
    pairs = [(b"\0\0\0\1", b"\0\0\0\0\0\7"), (b"\0\0\0\0", b"\0\0\xff\xff\xff\xff"), (b"\0\0\0\2", b"")]
    return [joined(*pair) for pair in pairs]


def check_metadata(data: bytes) -> None:
    told = decode_metadata_record(data)
    if told is not None:
        orjson.dumps(told)


def metadata_seeds() -> list[bytes]:
    topic, partition = bytes(range(16)), b"\0\0\0\3"
    return [
        b"\1\2\0\7orders" + topic + b"\0",
        b"\1\3\2" + partition + topic + b"\3\0\0\0\1\0\0\0\2" + b"\1\1\1\0\0\0\1\0\0\0\0\0\0\0\0\0",
        b"\1\x09\0" + topic + b"\0",
        b"\1\x0c\0\7region",
    ]


# A response is told apart by two bytes in front


def check_request(data: bytes) -> None:
    value = decode_request(data)
    again = decode_request(encode_request(value))
    expect(again == value, "changes when it is written", value, again)


def request_seeds() -> list[bytes]:
    return [
        encode_request(
            {
                "header": {
                    "requestApiKey": api.key,
                    "requestApiVersion": version,
                    "correlationId": 7,
                    "clientId": "consumer-1",
                },
                "body": codec(api.request, version).read(made(api.request, version)[0], 0)[0],
            }
        )
        for api in APIS.values()
        for version in api.request.versions
    ]


def asked(data: bytes) -> tuple[Api, int]:
    apis = list(APIS.values())
    api = apis[data[0] % len(apis)]
    versions = api.response.versions
    return api, versions[data[1] % len(versions)]


def check_response(data: bytes) -> None:
    if len(data) < 2:
        return
    api, version = asked(data)
    value = decode_response(data[2:], api, version)
    again = decode_response(encode_response(value, api, version), api, version)
    expect(again == value, "changes when it is written", value, again)


def response_seeds() -> list[bytes]:
    rows = []
    for number, api in enumerate(APIS.values()):
        for index, version in enumerate(api.response.versions):
            body = codec(api.response, version).read(made(api.response, version)[0], 0)[0]
            told = encode_response({"header": {"correlationId": 7}, "body": body}, api, version)
            rows.append(bytes([number, index]) + told)
    return rows
