"""The text of Kafka's own ``kafka-dump-log`` is the log again: to the byte, and in parts where it was cut.

The fixtures are what the tool of 4.3.1 printed of the bundled sample (``groups/samples/orders-enrich``), with another folder's name.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.texts.dump_log import DUMP_LOG
from groups.texts.formats import formats_of, read_text
from groups.texts.found import Found, LineProblem, MissingOffsets, NewFile, Remark
from groups.wire.logs.batches import read_batches
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import RecordBatch, coordinator_batch, write_batch
from groups.wire.records import decode_record, encode_record

HERE = Path(__file__).resolve().parent / "fixtures" / "dumped"
SAMPLE = Path(__file__).resolve().parent.parent.parent / "groups" / "samples" / "orders-enrich" / "segments"


def dumped(name: str) -> str:
    return gzip.decompress((HERE / f"{name}-4.3.1.txt.gz").read_bytes()).decode()


def segment(folder: str) -> bytes:
    return (SAMPLE / folder / "00000000000000000000.log").read_bytes()


def read(text: str) -> list[Found]:
    return list(read_text(text.splitlines(keepends=True), (DUMP_LOG,)))


def remarks(text: str) -> list[str]:
    return [each.reason for each in read(text) if isinstance(each, Remark)]


def batches(found: Iterable[Found]) -> list[RecordBatch]:
    return [each for each in found if isinstance(each, RecordBatch)]


def records(found: Iterable[Found]) -> dict[int, tuple[int, bytes | None, bytes | None]]:
    return {
        one.offset: (one.timestamp_ms, one.key, one.value)
        for batch in batches(found)
        for one in batch.records
    }


def second_file() -> str:
    """The dump of partition 3, a classic group with its commits."""
    text = dumped("offsets")
    return text[text.index("Dumping", 1) :]


def test_a_dump_with_the_offsets_decoder_is_the_segments_to_the_byte() -> None:
    found = read(dumped("offsets"))

    assert [each for each in found if not isinstance(each, RecordBatch)] == [
        NewFile("__consumer_offsets-1"), NewFile("__consumer_offsets-3"),
    ]  # fmt: skip
    assert b"".join(map(write_batch, batches(found))) == segment("__consumer_offsets-1") + segment(
        "__consumer_offsets-3"
    )


def test_a_dump_of_the_metadata_log_tells_what_its_segment_tells_of_topics_and_brokers() -> None:
    real = [
        known(decode_metadata_record(one.value, with_environment=True))
        for batch in read_batches(segment("__cluster_metadata-0"))
        if isinstance(batch, RecordBatch) and not batch.is_control
        for one in batch.records
    ]

    printed = [
        known(decode_metadata_record(value, with_environment=True))
        for _, _, value in records(read(dumped("metadata"))).values()
    ]

    assert len([one for one in real if one]) > 30
    assert [one for one in printed if one] == [one for one in real if one]


def known(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without the tagged fields that are not read here, which a dump's JSON names and a segment's bytes do not."""
    if found is not None:
        found["value"].pop("_unknownTaggedFields", None)
    return found


def test_a_transactions_end_is_read() -> None:
    text = (
        "baseOffset: 7 lastOffset: 7 count: 1 baseSequence: -1 lastSequence: -1 producerId: 4 producerEpoch: 2 partitionLeaderEpoch: 1"
        " isTransactional: true isControl: true position: 0 CreateTime: 1795233345356 size: 78 magic: 2\n"
        "| offset: 7 CreateTime: 1795233345356 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 9\n"
    )

    [batch] = batches(read(text))

    assert (batch.is_transactional, batch.is_control, batch.producer_id, batch.producer_epoch) == (
        True,
        True,
        4,
        2,
    )
    assert batch.records[0].key == bytes.fromhex("00000000")
    assert batch.records[0].value == bytes.fromhex("000000000009")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: re.sub(r"^", "\x1b[32m", text, flags=re.MULTILINE).replace("key:", "\x1b[1mkey:\x1b[0m"),
        lambda text: text.replace(" CreateTime: ", "\tCreateTime:   ").replace(" payload: ", "\tpayload:  "),
        lambda text: re.sub(r"(?m)^", "> ", text),
        lambda text: re.sub(r'(?<="currentStateTimestamp":)', "\n", text),
    ],
)
def test_colours_tabs_quotes_and_broken_lines_change_nothing(change: object) -> None:
    assert callable(change)

    assert records(read(change(second_file()))) == records(read(second_file()))


def test_a_line_that_was_cut_is_named_and_all_that_was_written_with_it_is_missing() -> None:
    lines = second_file().splitlines()
    at = next(number for number, line in enumerate(lines) if "| offset: 3 " in line)
    lines[at] = lines[at][:200]

    found = read("\n".join(lines))

    assert LineProblem(at + 1, 3, "the line is cut off within its payload, or is no JSON there") in found
    assert MissingOffsets(2, 4) in found
    assert records(found) == {
        offset: one for offset, one in records(read(second_file())).items() if offset not in (2, 3, 4)
    }


def test_batches_that_were_left_out_are_missing_by_their_place_in_the_file() -> None:
    lines = second_file().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("baseOffset")]
    del lines[starts[2] : starts[5]]

    found = read("\n".join(lines))

    before, after = batches(found)[1:3]
    assert MissingOffsets(before.last_offset + 1, after.base_offset - 1) in found


def test_records_that_a_batch_counts_and_the_text_does_not_print_are_missing() -> None:
    lines = [line for line in second_file().splitlines() if "| offset: 3 " not in line]

    assert MissingOffsets(2, 4) in read("\n".join(lines))


def test_a_dump_without_records_says_so_and_so_does_one_without_the_decoder() -> None:
    headers = "\n".join(line for line in second_file().splitlines() if not line.startswith("|"))
    raw = re.sub(r"key: \{.*", "key: \x00\x02\x00\x0epayments payload: \x00\x03\ufffd", second_file())

    assert remarks(headers) == [
        "it has 59 records in batches, and prints none: dump again with --print-data-log --offsets-decoder"
    ]
    assert [one[:34] for one in remarks(raw)] == ["59 records (the first in line 4) a"]
    assert not records(read(headers))
    assert not records(read(raw))


def test_other_lines_are_counted_and_a_record_without_its_batch_is_read() -> None:
    record = next(line for line in second_file().splitlines() if "| offset: 1 " in line)

    found = read(f"see below, it hangs\n{second_file().splitlines()[0]}\n{record}\n")

    assert found[-1] == Remark("line 1 is no part of kafka-dump-log text, and passed over")
    assert list(records(found)) == [1]


def test_a_dump_pasted_twice_begins_another_file() -> None:
    text = "\n".join(second_file().splitlines()[1:])

    found = read(f"{text}\n{text}\n")

    assert [each for each in found if isinstance(each, NewFile)] == [NewFile("")]


@pytest.mark.parametrize("text", ["", "hello", '{"key": {}}', "Dumping x\nbaseOffset: 0\n"])
def test_what_is_no_dump_is_not_taken_for_one(text: str) -> None:
    assert DUMP_LOG not in formats_of(text)
    assert formats_of(second_file()) == (DUMP_LOG,)


LINES = second_file().splitlines()[:50]


@given(
    st.lists(st.tuples(st.integers(0, len(LINES) - 1), st.integers(0, 400), st.integers(0, 60)), max_size=8)
)
def test_whatever_is_cut_out_of_lines_the_rest_is_read_and_can_be_written(
    damage: list[tuple[int, int, int]],
) -> None:
    lines = list(LINES)
    for number, at, length in damage:
        lines[number] = lines[number][:at] + lines[number][at + length :]

    found = read("\n".join(lines))

    assert all(write_batch(batch) for batch in batches(found))
    assert {type(each) for each in found} <= {RecordBatch, LineProblem, MissingOffsets, NewFile, Remark}


def test_a_tool_older_than_the_broker_loses_fields_and_that_is_counted() -> None:
    text = re.sub(r',"topicId":"[^"]*"', "", second_file())

    [remark] = remarks(text)

    shorter = text.count('"type":"1"')
    assert remark.startswith(f"{shorter} records (the first in line")
    assert shorter
    assert len(records(read(text))) == len(records(read(second_file())))


@given(st.text(max_size=200), st.text(alphabet='{}[]",:01 ay', max_size=80))
def test_hostile_text_ends_no_reading(noise: str, printed: str) -> None:
    read(f"| offset: 5 CreateTime: 7 keySize: 1 headerKeys: [] key: {printed} payload: {printed}\n{noise}")
    read(f"| offset: 5 CreateTime: 7 keySize: -1 headerKeys: [] payload: {printed}\n{noise}")


@given(st.integers(0, 2**40), st.integers(0, 2**31 - 1), st.text(max_size=8))
def test_a_commit_that_is_printed_as_kafka_prints_it_is_the_commit(
    offset: int, partition: int, metadata: str
) -> None:
    payload = {
        "type": 1, "key": {"group": "g", "topic": "t", "partition": partition}, "version": 3,
        "value": {"offset": offset, "leaderEpoch": -1, "metadata": metadata, "commitTimestamp": 1},
    }  # fmt: skip
    pair = encode_record(payload)
    assert decode_record(*pair) == payload
    key = json.dumps({"type": "1", "data": payload["key"]})
    value = json.dumps({"version": "3", "data": payload["value"]})

    [batch] = batches(
        read(f"| offset: 9 CreateTime: 7 keySize: 1 headerKeys: [] key: {key} payload: {value}\n")
    )

    assert write_batch(batch) == write_batch(
        coordinator_batch(base_offset=9, timestamp_ms=7, records=[pair])._replace(base_sequence=-1)
    )
