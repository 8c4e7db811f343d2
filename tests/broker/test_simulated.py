"""A simulated run beside the real thing: Kafka's own tools read its segment, and a broker given the same requests at
the same moments answers the same and writes the same records.
"""

from __future__ import annotations

from typing import Any

import pytest

from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch

from .comparison import SLACK_MS
from .conftest import Session
from .dump import as_kafka_prints, dump
from .replayed import LATE_MS_MOST, Replayed, Sent
from .segments import group_hashes, hash_of, payloads, without_ids_and_times
from .simulated import Run

pytestmark = pytest.mark.broker

RELEASED_BASIC_RECORDS = 48
"""Three joins, three commits, a leave, an expired session and the last leave, with all that follows from them."""


@pytest.fixture(scope="module")
def replayed(session: Session) -> Replayed:
    """What the broker answered to the run's requests."""
    if session.problem:
        raise session.problem[0]
    (replayed,) = session.replayed
    assert replayed.late_ms <= LATE_MS_MOST, (
        f"a request went out {replayed.late_ms} ms late: nothing can be compared"
    )
    return replayed


def test_kafka_dump_log_reads_the_simulated_segment_without_complaint(released_jars: str, run: Run) -> None:
    dumped = dump([run.segment])
    assert [{"key": each.key, "payload": each.payload} for each in dumped] == [
        as_kafka_prints(record) for record in run.records
    ]
    assert [each.offset for each in dumped] == list(range(len(run.records)))


@pytest.mark.quick
def test_the_broker_answers_each_simulated_request_as_the_simulated_coordinator_did(
    run: Run, replayed: Replayed
) -> None:
    assert [(each.at_ms, each.member, outcome(each.answer)) for each in replayed.sent] == [
        (each.at_ms, each.member, expected(run, each)) for each in replayed.sent
    ]


@pytest.mark.quick
def test_the_broker_writes_the_records_that_the_simulated_coordinator_wrote(
    session: Session, run: Run, replayed: Replayed
) -> None:
    """Record by record, in order and field by field; topic ids, timestamps and host apart."""
    names = {there: run.topics[here] for here, there in replayed.topic_ids.items()}
    written = [
        without_ids_and_times(payload, names)
        for batch in payloads(session.recorded.data, run.group)
        for _, _, payload in batch
    ]
    assert len(written) == RELEASED_BASIC_RECORDS
    assert written == [without_ids_and_times(record, run.topics) for record in run.records]


def test_the_broker_writes_them_in_the_same_batches_at_the_same_moments(
    session: Session, run: Run, replayed: Replayed
) -> None:
    real = payloads(session.recorded.data, run.group)
    simulated = [batch for batch in read_batches(run.segment.read_bytes()) if isinstance(batch, RecordBatch)]
    assert [len(batch) for batch in real] == [len(batch.records) for batch in simulated]
    first_ms = run.entries[0]["at_ms"]
    for batch, other in zip(real, simulated, strict=True):
        real_ms = batch[0][1] - replayed.started_ms
        simulated_ms = other.base_timestamp_ms - first_ms
        assert abs(real_ms - simulated_ms) <= replayed.late_ms + SLACK_MS, (batch, real_ms, simulated_ms)


def test_both_hash_their_topic_alike(session: Session, run: Run, replayed: Replayed) -> None:
    ((simulated_id, name),) = run.topics.items()
    hashes = [
        r["value"].get("metadataHash", 0) for r in run.records if r["type"] == 3 and r["value"] is not None
    ]
    count = next(
        each["payload"]["topics"][name]["partitions"]
        for each in run.entries
        if each["payload"].get("note") == "topics"
    )
    assert list(dict.fromkeys(hashes)) == [hash_of(simulated_id, name, count), 0]
    real_id = replayed.topic_ids[simulated_id]
    assert group_hashes(session.recorded.data, run.group) == [hash_of(real_id, name, count), 0]


def expected(run: Run, sent: Sent) -> Any:
    """What the simulated coordinator answered; a steady heartbeat changes nothing."""
    answer = run.answer_to(sent.sequence)
    if answer is not None:
        return outcome(answer)
    request = next(each["payload"]["body"] for each in run.entries if each["sequence"] == sent.sequence)
    return {"error": 0, "epoch": request["memberEpoch"], "assignment": None}


def outcome(answer: dict[str, Any]) -> Any:
    """The part of an answer that decides what a client does next."""
    if "topics" in answer:
        return [each["errorCode"] for topic in answer["topics"] for each in topic["partitions"]]
    assignment = answer.get("assignment")
    return {
        "error": answer.get("errorCode", 0),
        "epoch": answer["memberEpoch"],
        "assignment": None
        if assignment is None
        else {each["topicId"]: sorted(each["partitions"]) for each in assignment["topicPartitions"]},
    }
