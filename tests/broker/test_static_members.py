"""Static members beside the real thing: a clean restart, an instance that is held, a leave that lasts too long."""

from __future__ import annotations

import pytest

from .conftest import Session
from .replayed import LATE_MS_MOST, Replayed
from .segments import payloads, without_ids_and_times
from .test_simulated import expected, outcome

pytestmark = pytest.mark.broker

UNRELEASED_INSTANCE_ID = 111


@pytest.fixture(scope="module")
def replayed(session: Session) -> Replayed:
    if session.problem:
        raise session.problem[0]
    (replayed,) = session.static_replayed
    assert replayed.late_ms <= LATE_MS_MOST, f"a request went out {replayed.late_ms} ms late"
    return replayed


def test_the_broker_answers_static_members_as_the_simulated_coordinator_did(
    session: Session, replayed: Replayed
) -> None:
    run = session.static_run
    assert [(each.at_ms, each.member, outcome(each.answer)) for each in replayed.sent] == [
        (each.at_ms, each.member, expected(run, each)) for each in replayed.sent
    ]
    (refused,) = [each for each in replayed.sent if each.answer["errorCode"]]
    assert refused.answer["errorCode"] == UNRELEASED_INSTANCE_ID
    simulated = run.answer_to(refused.sequence)
    assert simulated is not None
    assert refused.answer["errorMessage"] == simulated["errorMessage"]


def test_the_broker_writes_a_replacement_and_an_expiry_as_the_simulated_coordinator_did(
    session: Session, replayed: Replayed
) -> None:
    """Record by record, in order and field by field; topic ids, timestamps and host apart."""
    run = session.static_run
    names = {there: run.topics[here] for here, there in replayed.topic_ids.items()}
    written = [
        without_ids_and_times(payload, names)
        for batch in payloads(session.recorded.data, run.group)
        for _, _, payload in batch
    ]
    assert written == [without_ids_and_times(record, run.topics) for record in run.records]
