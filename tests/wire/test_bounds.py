"""The edges of the formats: the first and last value of a field, the byte that is missing, what is said of each."""

from __future__ import annotations

import struct
from typing import Any

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.codecs.codec import codec, encode_versioned
from groups.wire.codecs.primitives import (
    read_unsigned_varint,
    read_varint,
    read_varlong,
    write_unsigned_varint,
    write_varlong,
)
from groups.wire.codecs.schema import Field, Message, Primitive, fields
from groups.wire.embedded.streams_user_data import (
    encode_assignment_info,
    encode_subscription_info,
    read_assignment_info,
    read_subscription_info,
    task_text,
)
from groups.wire.errors import (
    BatchError,
    CompressionError,
    MalformedError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.inspection import kinds
from groups.wire.logs.batches import read_batches
from groups.wire.logs.compression import Compression, compress, decompress
from groups.wire.logs.record_batch import RecordBatch, coordinator_batch, parse_batch, write_batch
from groups.wire.metadata_hash import _signed
from groups.wire.rpc import (
    APIS,
    decode_request,
    encode_request,
    request_frame,
    response_header_version,
)

AT_MS = 1_795_224_375_134
HEARTBEAT = APIS[12]
API_VERSIONS = 18


# -- varints


@pytest.mark.parametrize(
    ("data", "value"),
    [
        ("00", 0),
        ("01", -1),
        ("7f", -64),
        ("80 01", 64),
        ("81 01", -65),
        ("fe 01", 127),
        ("ff 7f", -8192),
        ("80 80 01", 8192),
        ("fe ff ff ff 0f", 2**31 - 1),
        ("ff ff ff ff 0f", -(2**31)),
    ],
)
def test_a_varint_of_each_length_is_read_as_protocol_buffers_have_it(data: str, value: int) -> None:
    raw = bytes.fromhex(data)
    assert read_varint(raw, 0) == (value, len(raw))
    assert read_varint(b"\xff" + raw + b"\xff", 1) == (value, 1 + len(raw))
    assert read_varlong(raw, 0)[1] == len(raw)
    out = bytearray()
    write_varlong(out, value)
    assert bytes(out) == raw


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_varlong_survives_its_bytes(value: int) -> None:
    out = bytearray(b"..")
    write_varlong(out, value)
    assert read_varlong(bytes(out), 2) == (value, len(out))


@given(st.integers(0, 2**32 - 1))
def test_an_unsigned_varint_survives_its_bytes(value: int) -> None:
    out = bytearray(b".")
    write_unsigned_varint(out, value)
    assert read_unsigned_varint(bytes(out), 1) == (value, len(out))
    assert len(out) - 1 == max(1, -(-value.bit_length() // 7))


def test_a_varint_that_is_cut_off_needs_one_byte_more_than_there_are() -> None:
    for cut in (b"", b"\x80", b"\x80\x80"):
        with pytest.raises(TruncatedError) as caught:
            read_unsigned_varint(b"." + cut, 1)
        needed = len(cut) + 1
        assert f"needs {needed} byte" in str(caught.value)
        assert f", {len(cut)} " in str(caught.value)
        assert caught.value.offset == 1
    with pytest.raises(MalformedError, match="longer than 5 bytes"):
        read_unsigned_varint(b"\x80" * 5 + b"\x01", 0)
    with pytest.raises(MalformedError, match="longer than 10 bytes"):
        read_varlong(b"\x80" * 10 + b"\x01", 0)


# -- versions


@pytest.mark.parametrize("version", ["1", None, -1, 4])
def test_a_version_that_is_none_is_refused_when_it_is_written(version: Any) -> None:
    message = Message("Four", fields(Field("on", Primitive.BOOL)), newest=3)
    with pytest.raises(UnencodableError, match=f"Four has no version {version!r}; known are 0 to 3"):
        encode_versioned(message, {"version": version, "on": True})
    assert encode_versioned(message, {"version": 2, "on": True}) == (2, b"\1")
    assert encode_versioned(message, {"on": True}) == (3, b"\1")


def test_of_fields_that_a_version_does_not_have_the_first_by_name_is_told() -> None:
    message = Message("One", fields(Field("on", Primitive.BOOL)), newest=0)
    with pytest.raises(UnencodableError, match="version 0 has no field 'off'"):
        codec(message, 0).write(bytearray(), {"on": True, "up": 1, "off": 2})


@pytest.mark.parametrize(
    ("version", "fits"), [(0, True), (32_767, True), (32_768, False), (-1, False), ("1", False)]
)
def test_the_version_of_a_blob_is_an_int16_that_is_not_negative(version: Any, fits: bool) -> None:
    layout = kinds()["subscription"].layout
    value = {"version": version, "topics": ["foo"], "userData": None}
    if fits:
        extra = {"ownedPartitions": [], "generationId": -1, "rackId": None} if version else {}
        assert struct.unpack_from(">h", layout.write({**value, **extra}, None))[0] == version
    else:
        with pytest.raises(UnencodableError, match="is no version"):
            layout.write(value, None)


def test_the_version_of_a_streams_blob_is_told_where_it_is_unknown() -> None:
    for read, versions in ((read_subscription_info, (-1,)), (read_assignment_info, (-1, 99))):
        for data in (struct.pack(">i", version) for version in versions):
            with pytest.raises(UnknownVersionError) as caught:
                read(data)
            assert caught.value.offset == 0
        with pytest.raises(TruncatedError, match="a version needs 4 bytes, 3 are left") as cut:
            read(b"\0\0\0")
        assert cut.value.offset == 0
    for write in (encode_assignment_info, encode_subscription_info):
        for version in (0, 99, "2"):
            with pytest.raises(UnencodableError, match="version"):
                write({"version": version})


def test_a_task_is_written_as_kafka_streams_does() -> None:
    task = {"topicGroupId": 0, "partition": 1}
    assert task_text(task) == "0_1"
    assert task_text({**task, "namedTopology": None}) == "0_1"
    assert task_text({**task, "namedTopology": "orders"}) == "orders__0_1"


# -- requests


def test_only_the_answer_to_api_versions_keeps_the_old_header_in_every_version() -> None:
    for api in (APIS[11], HEARTBEAT, APIS[68], *(api for api in APIS.values() if api.key == API_VERSIONS)):
        for version in api.response.versions:
            flexible = api.response.form(version).flexible
            assert response_header_version(api, version) == int(flexible and api.key != API_VERSIONS)
    if API_VERSIONS in APIS:
        assert response_header_version(APIS[API_VERSIONS], APIS[API_VERSIONS].response.newest) == 0


def heartbeat(**header: Any) -> dict[str, Any]:
    return {
        "header": {
            "requestApiKey": HEARTBEAT.key,
            "requestApiVersion": 4,
            "correlationId": 7,
            "clientId": "c",
            **header,
        },
        "body": {"groupId": "g", "generationId": 3, "memberId": "m", "groupInstanceId": None},
    }


@pytest.mark.parametrize(
    "header", [{"requestApiVersion": "4"}, {"requestApiVersion": 99}, {"requestApiKey": "12"}]
)
def test_a_request_of_no_known_key_and_version_cannot_be_written(header: dict[str, Any]) -> None:
    with pytest.raises(UnencodableError, match="is no request known here"):
        encode_request(heartbeat(**header))
    with pytest.raises(UnencodableError, match="API key None, version None"):
        encode_request({"body": {}})


def test_a_request_is_read_with_its_length_without_it_and_cut_off() -> None:
    raw = encode_request(heartbeat())
    framed = len(raw).to_bytes(4) + raw
    assert decode_request(raw) == decode_request(framed)
    assert (request_frame(raw).at, request_frame(framed).at) == (0, 4)
    for missing in (1, len(raw) - 5):
        cut = request_frame(framed[:-missing])
        assert (cut.at, cut.missing, cut.version) == (4, missing, 4)
        with pytest.raises(
            TruncatedError, match=f"a request needs {len(raw)} bytes, {len(raw) - missing} are left"
        ):
            decode_request(framed[:-missing])
    # A length that says less than is here belongs to no request, and its first half is no key.
    with pytest.raises(UnknownVersionError):
        request_frame((len(raw) - 1).to_bytes(4) + raw)
    unknown = raw[:2] + (99).to_bytes(2) + raw[4:]
    with pytest.raises(UnknownVersionError):
        request_frame((len(raw) + 9).to_bytes(4) + unknown)


def test_the_oldest_commits_have_the_fields_their_versions() -> None:
    """The protocol guide's OffsetCommit v0 and v1, which no client of today writes and kio does not know."""
    request = APIS[8].request
    partition = {"partitionIndex": 1, "committedOffset": 7, "committedMetadata": None}
    row = "00000001 0003666f6f 00000001 00000001 0000000000000007"
    for version, more, head, time in (
        (0, {}, "", ""),
        (1, {"memberId": "m"}, "ffffffff 00016d", "ffffffffffffffff"),
        (1, {"memberId": "m", "generationIdOrMemberEpoch": 3}, "00000003 00016d", "ffffffffffffffff"),
    ):
        out = bytearray()
        value = {"groupId": "g", "topics": [{"name": "foo", "partitions": [partition]}], **more}
        codec(request, version).write(out, value)
        assert bytes(out) == bytes.fromhex(f"000167 {head} {row} {time} ffff")
        read, end = codec(request, version).read(bytes(out), 0)
        assert (read["groupId"], end) == ("g", len(out))


# -- batches


def batch(*records: tuple[bytes | None, bytes | None]) -> RecordBatch:
    return coordinator_batch(base_offset=5, timestamp_ms=AT_MS, records=records)


def test_the_last_offset_of_a_batch_is_that_of_its_last_record_and_an_empty_one_has_its_first() -> None:
    for count in (0, 1, 2, 3):
        made = batch(*[(b"k", b"v")] * count)
        assert made.last_offset_delta == max(count - 1, 0)
        assert parse_batch(write_batch(made)) == made


def test_the_length_of_a_batch_counts_what_follows_it_and_no_more() -> None:
    data = write_batch(batch((b"k", b"v"), (b"l", None)))
    assert struct.unpack_from(">qi", data) == (5, len(data) - 12)
    [read] = read_batches(data)
    assert read == parse_batch(data)


@given(st.integers(-(2**40), 2**40), st.integers(0, 9000))
def test_deltas_of_any_length_survive(delta_ms: int, size: int) -> None:
    row = batch((b"k", b"v"), (None, bytes(size)))
    late = row.records[1]._replace(timestamp_ms=AT_MS + delta_ms)
    made = row._replace(records=(row.records[0], late), max_timestamp_ms=AT_MS + max(0, delta_ms))
    assert parse_batch(write_batch(made)) == made


def test_behind_damage_the_next_whole_batch_is_found_wherever_it_begins() -> None:
    good = write_batch(batch((b"k", b"v")))
    for junk in (1, 16, 17, 18, 61, 4096, 65_536, 70_000):
        items = list(read_batches(b"\x55" * junk + good))
        assert [item for item in items if isinstance(item, RecordBatch)] == [parse_batch(good)], junk


@pytest.mark.parametrize(
    ("at", "form", "value", "whole"),
    [
        (57, ">i", 2, True),
        (57, ">i", 3, False),
        (57, ">i", -1, False),
        (12, ">i", -1, True),
        (12, ">i", -2, False),
        (0, ">q", 0, True),
        (0, ">q", -1, False),
    ],
)
def test_behind_damage_only_a_header_that_can_be_one_begins_a_batch(
    at: int, form: str, value: int, whole: bool
) -> None:
    body = bytearray(write_batch(batch((b"k", b"v"), (b"k", b"v"))))
    struct.pack_into(form, body, at, value)
    body[17:21] = google_crc32c.value(bytes(body[21:])).to_bytes(4)
    items = list(read_batches(b"\x55" * 90 + bytes(body)))
    if whole:
        assert [getattr(item, "position", None) for item in items] == [0, None]
    else:
        [problem] = items
        assert not isinstance(problem, RecordBatch)
        assert (problem.position, problem.length) == (0, 90 + len(body))


def test_snappy_in_blocks_as_java_writes_it_is_read_to_its_last_block() -> None:
    for size in (0, 1, 32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 100_000):
        data = bytes(size)
        assert decompress(Compression.SNAPPY, compress(Compression.SNAPPY, data)) == data
    packed = compress(Compression.SNAPPY, b"abc")
    for cut in range(1, len(packed) - 1):
        if len(packed) - cut == 16:
            continue  # No block at all: nothing was packed.
        with pytest.raises(CompressionError):
            decompress(Compression.SNAPPY, packed[:-cut])
    with pytest.raises(CompressionError):
        decompress(Compression.SNAPPY, packed[:16] + (-1).to_bytes(4, signed=True))


def test_a_record_that_does_not_fill_its_length_is_refused() -> None:
    data = bytearray(write_batch(batch((b"key", b"value"))))
    data[61] += 2
    data[17:21] = google_crc32c.value(bytes(data[21:])).to_bytes(4)
    with pytest.raises(BatchError):
        parse_batch(bytes(data))


def test_a_hash_is_a_signed_long_as_java_has_it() -> None:
    assert _signed(2**63 - 1) == 2**63 - 1
    assert _signed(2**63) == -(2**63)
    assert _signed(2**64 - 1) == -1
