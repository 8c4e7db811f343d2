"""Records, batches and segments, with the coordinator's records opened where they stand."""

import base64
from typing import Any

import pytest
from hypothesis import given

from groups.wire.errors import RecordError
from groups.wire.inspection import as_text, edit, find, guess, inspect, kinds, sentence_of
from groups.wire.inspection import walk as walking
from groups.wire.logs.compression import Compression
from groups.wire.logs.record_batch import RecordBatch, coordinator_batch, parse_batch, write_batch
from groups.wire.rpc import APIS, encode_request, encode_response
from tests.tiers import examples
from tests.wire.strategies import batches
from tests.wire.test_inspection_words import NEWER, RECORD

KEY = b"\0\2\0\6orders"


def batch(compression: Compression = Compression.NONE) -> RecordBatch:
    made = coordinator_batch(
        base_offset=18402, timestamp_ms=1_795_224_375_134, records=[(KEY, RECORD), (KEY, None)]
    )
    return made._replace(compression=compression)


@pytest.mark.parametrize("compression", Compression)
def test_the_records_of_a_batch_are_opened(compression: Compression):
    done = inspect("batch", write_batch(batch(compression)))
    assert (done.problem, done.read) == (None, done.length)
    group = find(done.fields, "records.0.key.group")
    given = find(done.fields, "records.0.value.members.1.assignment.assignedPartitions.0.partitions")
    assert group is not None
    assert given is not None
    assert (group.value, given.value) == ("orders", [3, 4])
    records, tombstone = find(done.fields, "records"), find(done.fields, "records.1.value")
    assert records is not None
    assert tombstone is not None
    assert (records.space is None) == (compression is Compression.NONE)
    assert tombstone.meaning == "a tombstone: what the key names is gone"


def test_records_and_batches_are_called_by_their_offset_and_key():
    raw = write_batch(batch())
    records = find(inspect("batch", raw).fields, "records")
    assert records is not None
    assert [each.called for each in records.fields or ()] == [
        "offset 18402, GROUP_METADATA of orders",
        "offset 18403, GROUP_METADATA of orders, tombstone",
    ]
    first, second = inspect("segment", raw + raw).fields
    assert first.called == second.called == "offset 18402 to 18403"
    assert second.fields is not None
    assert second.fields[-1].fields[0].called == records.fields[0].called  # type: ignore[index]
    other = coordinator_batch(base_offset=7, timestamp_ms=0, records=[(b"a key of another topic", b"")])
    done = find(inspect("batch", write_batch(other)).fields, "records.0")
    assert done is not None
    assert done.called == "offset 7"


def test_a_batch_and_a_segment_are_told_in_a_sentence():
    raw = write_batch(batch())
    assert as_text(sentence_of(inspect("batch", raw))) == (
        "A batch of 2 records from offset 18402 to 18403, written 2026-11-21 01:26:15.134 UTC; not compressed."
    )
    assert as_text(sentence_of(inspect("segment", raw + raw[:30]))) == (
        "A segment of 1 batch, from offset 18402 on; the last begins at 18402."
    )
    record = raw[61 : 61 + 443]
    assert as_text(sentence_of(inspect("record", record))) == (
        "The key of GROUP_METADATA: group orders. A classic group at generation 7, with 2 members and "
        "cooperative-sticky. c-117 came with orders-0, 1, 2 and is given orders-0, 1."
    )


@pytest.mark.parametrize("compression", Compression)
def test_an_edit_deep_in_a_batch_gives_a_batch_that_is_right(compression: Compression):
    path = "records.0.value.members.0.assignment.assignedPartitions.0.partitions"
    changed = parse_batch(edit("batch", None, write_batch(batch(compression)), path, [0, 1, 5]))
    value = changed.records[0].value
    assert value is not None
    assert value == edit(
        "group-metadata-value", None, RECORD, path.removeprefix("records.0.value."), [0, 1, 5]
    )
    assert changed._replace(records=batch().records) == batch(compression)


@given(batches())
@examples(50)
def test_a_batch_that_is_written_again_has_the_same_bytes(made: RecordBatch):
    raw = write_batch(made)
    layout = kinds()["batch"].layout
    _, value, end = layout.read(raw, None)
    assert (layout.write(value, None), end) == (raw, len(raw))


def test_a_wrong_checksum_is_a_fault_and_the_fields_are_listed_all_the_same():
    damaged = bytearray(write_batch(batch()))
    damaged[-20] ^= 1
    done = inspect("batch", bytes(damaged))
    assert done.problem is not None
    assert done.problem.path == "crc"
    assert done.problem.offset == 17
    assert find(done.fields, "records.0.key.group") is not None
    assert "Something is wrong: the CRC-32C is " in as_text(sentence_of(done))
    with pytest.raises(RecordError, match="bytes that cannot be read are not edited"):
        edit("batch", None, bytes(damaged), "baseOffset", 0)


def test_a_segment_tells_where_it_is_damaged_and_goes_on():
    raw = write_batch(batch())
    done = inspect("segment", raw + b"\x99" * 40 + raw)
    assert [node.name for node in done.fields] == ["0", "_rest1", "2"]
    assert str(done.problem) == f"_rest1, byte {len(raw)}: bytes that are no record batch"


def test_of_a_segment_with_more_fields_than_are_listed_the_last_batches_are_one_stretch(
    monkeypatch: pytest.MonkeyPatch,
):
    raw = write_batch(batch())
    monkeypatch.setattr(walking, "MOST_NODES", 20)
    done = inspect("segment", raw * 4)
    assert [node.name for node in done.fields] == ["0", "1…"]
    rest = done.fields[-1]
    assert (rest.offset, rest.length) == (len(raw), 3 * len(raw))
    assert rest.meaning == "more batches, not listed field by field"
    assert done.read == 4 * len(raw)


def test_batches_and_segments_are_guessed():
    raw = write_batch(batch())
    assert [guess(data)[0].kind for data in (raw, raw + raw, raw + raw[:30])] == [
        "batch",
        "segment",
        "segment",
    ]


def join_group(protocol_type: str = "consumer") -> dict[str, Any]:
    metadata = base64.b64encode(NEWER).decode()
    return {
        "header": {"requestApiKey": 11, "requestApiVersion": 9, "correlationId": 4, "clientId": "c-117"},
        "body": {
            "groupId": "orders",
            "sessionTimeoutMs": 45_000,
            "rebalanceTimeoutMs": 300_000,
            "memberId": "",
            "groupInstanceId": None,
            "protocolType": protocol_type,
            "protocols": [{"name": "cooperative-sticky", "metadata": metadata}],
            "reason": None,
        },
    }


def test_a_request_tells_what_it_is_and_its_blobs_are_opened():
    data = encode_request(join_group())
    first = guess(data)[0]
    assert (first.kind, first.version, first.whole) == ("request", 9, True)
    for raw in (data, len(data).to_bytes(4) + data):
        done = inspect("request", raw)
        assert as_text(sentence_of(done)) == "A request of JoinGroup, version 9, of c-117, group orders."
        owned = find(done.fields, "body.protocols.0.metadata.ownedPartitions.0.partitions")
        generation = find(done.fields, "body.protocols.0.metadata.userData.generation")
        assert owned is not None
        assert generation is not None
        assert (owned.value, generation.value) == ([0, 1, 2], 6)
        edited = edit("request", None, raw, "body.protocols.0.metadata.userData.generation", 7)
        assert edited == raw.replace(bytes([0, 0, 0, 4, 0, 0, 0, 6]), bytes([0, 0, 0, 4, 0, 0, 0, 7]))


def test_a_request_that_was_cut_off_is_listed_as_far_as_it_goes():
    data = encode_request(join_group())
    done = inspect("request", len(data).to_bytes(4) + data[:20])
    assert [node.name for node in done.fields] == ["length", "header", "body"]
    assert done.problem is not None
    assert str(done.problem) == "body.groupId, byte 21: a string needs 6 bytes, 3 are left"
    length = find(done.fields, "length")
    assert length is not None
    assert length.value == len(data)
    whole = inspect("request", (len(data) + 1).to_bytes(4) + data)
    assert (
        str(whole.problem) == f"length, byte {len(data) + 4}: the fields end here, the length tells of 1 more"
    )


def test_an_answer_needs_its_name_and_is_read_with_its_header_or_without():
    body = {"throttleTimeMs": 0, "errorCode": 25}
    data = encode_response({"header": {"correlationId": 4}, "body": body}, APIS[12], 4)
    for raw, path in ((data, "body.errorCode"), (data[5:], "errorCode")):
        done = inspect("heartbeat-response", raw, version=4)
        error = find(done.fields, path)
        assert error is not None
        assert error.meaning == "UNKNOWN_MEMBER_ID"
        assert as_text(sentence_of(done)) == "Heartbeat response, version 4: UNKNOWN_MEMBER_ID."
