"""What went wrong is told in plain words, found with its proof, and stands in the verdict."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from groups.history.entries import Kind
from groups.history.evidence.incidents import KEPT_MAX
from groups.history.findings import Finder
from groups.history.passes.recorder import RecordedBatch
from groups.history.state.plain import from_plain, to_plain
from tests.history.logs import Log
from tests.history.test_causes import R, two_members


def says(batch: RecordedBatch) -> list[str]:
    return [moment["says"] for moment in orjson.loads(batch.moments)]


def found(batch: RecordedBatch, kind: str) -> list[dict[str, Any]]:
    return [finding for finding in batch.summary["findings"] if finding["kind"] == kind]


def verdict(batch: RecordedBatch) -> str:
    return str(batch.summary["verdict"]["text"])


def refused(log: Log, member: str, code: int) -> int:
    request = log.heartbeat(member, 9)
    return log._add(
        Kind.RESPONSE,
        "coordinator",
        {"api": "ConsumerGroupHeartbeat", "to": member, "body": {"errorCode": code}},
        cause=request,
    )


def fault(log: Log, **payload: Any) -> int:
    return log._add(Kind.FAULT, "coordinator", {"member": None, **payload})


def test_a_broken_invariant_opens_the_verdict_and_leads_to_its_proof() -> None:
    log = two_members()
    told = fault(
        log, fault="invariant", invariant="one_holder", says="foo-2 is held by A and by B.", sequences=[4, 9]
    )
    batch = log.recorded()
    [one] = found(batch, "violation")
    assert one["sequences"] == [4, 9, told]
    assert verdict(batch).startswith("An invariant is broken: foo-2 is held by A and by B. A and B joined")
    assert batch.summary["verdict"]["clauses"][0]["sequence"] == told


def test_the_first_of_many_broken_invariants_says_how_many_there_are() -> None:
    log = two_members()
    for number in range(KEPT_MAX + 5):
        fault(log, fault="invariant", invariant="one_holder", says=f"{number} is held twice", sequences=[4])
    batch = log.recorded()
    assert len(found(batch, "violation")) == KEPT_MAX
    assert verdict(batch).startswith(f"An invariant is broken: 0 is held twice, the first of {KEPT_MAX + 5}.")


def test_who_is_fenced_is_told_what_it_means() -> None:
    log = two_members()
    sequence = refused(log, "B", 110)
    batch = log.recorded()
    assert says(batch)[-1] == (
        "B is fenced: its epoch is not the coordinator's (FENCED_MEMBER_EPOCH); it abandons its partitions and rejoins"
    )
    [one] = found(batch, "fenced")
    assert (one["member"], one["error"], one["sequences"]) == ("B", "FENCED_MEMBER_EPOCH", [sequence])
    assert "B was fenced" in verdict(batch)


def test_an_answer_that_is_no_fence_is_not_found_as_one() -> None:
    log = two_members()
    refused(log, "B", 14)
    assert says(log.recorded())[-1] == (
        "B is asked to wait: the coordinator is still loading (COORDINATOR_LOAD_IN_PROGRESS)"
    )
    assert found(log.recorded(), "fenced") == []


def test_a_fail_over_says_who_takes_over_how_long_it_loads_and_what_was_lost() -> None:
    log = two_members()
    fault(log, fault="fail_over", coordinator="broker-2", loading_ms=3000)
    fault(log, fault="lost_batch", records=2, types=[5, 8])
    batch = log.recorded()
    assert says(batch)[-2:] == [
        "The coordinator fails over to broker-2, which loads the log for 3.0\u202fs",
        "2 records are lost before they were replicated",
    ]
    assert (
        "the coordinator failed over and loaded for 3.0\u202fs; 2 records were lost before they were"
        in verdict(batch)
    )


def test_an_expression_is_found_with_what_it_matched_and_again_only_when_that_changes() -> None:
    log = two_members()

    def resolved(*topics: str) -> dict[str, Any]:
        key = {"groupId": "orders", "regularExpression": "^foo.*"}
        value = {"topics": list(topics), "version": 7, "timestamp": 1}
        return {"type": 16, "key": key, "version": 0, "value": value}

    log.write(resolved("foo"), R.epoch(4, 9))
    log.write(resolved("foo"))
    log.write(resolved("foo", "foo2"))
    batch = log.recorded()
    assert [one["topics"] for one in found(batch, "matched")] == [["foo"], ["foo", "foo2"]]
    assert "^foo.* matches foo; group epoch 4" in says(batch)


def test_the_finder_carries_its_troubles_over_a_checkpoint() -> None:
    log = two_members()
    refused(log, "B", 110)
    batch = log.recorded()
    assert batch.checkpoint is not None
    finder = from_plain(Finder, json.loads(batch.checkpoint)["findings"])
    assert to_plain(from_plain(Finder, to_plain(finder))) == to_plain(finder)


def test_who_stood_still_or_was_cut_off_stands_in_the_verdict_with_how_long() -> None:
    log = two_members()
    stopped = fault(log.at(2000), fault="pause", member="A")
    fault(log.at(2500), fault="cut", member="B")
    fault(log.at(5000), fault="resume", member="A")
    batch = log.recorded()
    assert "At 2.0 s A was paused for 3.0 s. At 2.5 s B was cut off to the end." in verdict(batch).replace(
        "\u202f", " "
    )
    [one] = found(batch, "stood_still")
    assert (one["member"], one["length_ms"], one["sequences"]) == ("A", 3000, [stopped])


def test_a_whole_network_ends_every_cut() -> None:
    log = two_members()
    fault(log.at(2000), fault="cut", member="A")
    fault(log.at(2000), fault="cut")
    fault(log.at(4000), fault="heal")
    told = verdict(log.recorded()).replace("\u202f", " ")
    assert "A was cut off for 2.0 s; the coordinator was cut off for 2.0 s." in told


def test_who_is_refused_is_told_with_kafkas_name_of_why() -> None:
    log = two_members()
    sequence = refused(log, "A", -1)
    refused(log, "B", -1)
    refused(log, "B", 14)
    batch = log.recorded()
    assert "A and B were refused: UNKNOWN_SERVER_ERROR" in verdict(batch)
    assert found(batch, "refused")[0]["sequences"] == [sequence]
    assert len(found(batch, "refused")) == 2


def test_what_the_simulated_coordinator_would_have_done_otherwise_opens_the_verdict_field_by_field() -> None:
    log = two_members()
    told = "answer to CONSUMER_GROUP_HEARTBEAT of B (line 9): errorCode"
    first = fault(log, fault="difference", member="B", what=told, recorded=0, simulated=81)
    fault(
        log,
        fault="difference",
        what="record of type 5 at offset 49",
        recorded={"type": 5},
        simulated=None,
    )
    batch = log.recorded()
    assert verdict(batch).startswith("The simulated coordinator differs twice. A and B joined")
    assert batch.summary["verdict"]["clauses"][0]["sequence"] == first
    assert says(batch)[-2:] == [
        "Differs: errorCode of the answer to B: recorded 0, simulated 81",
        "Differs: record of type 5 at offset 49: recorded, not simulated",
    ]


def test_of_more_refusals_than_are_told_one_by_one_the_verdict_gives_the_number() -> None:
    log = two_members()
    for _ in range(KEPT_MAX + 1):
        refused(log, "A", -1)
    batch = log.recorded()
    assert len(found(batch, "refused")) == KEPT_MAX
    assert f"heartbeats were refused {KEPT_MAX + 1} times" in verdict(batch)


@pytest.mark.parametrize(("api", "shape"), [("ConsumerGroupHeartbeat", "fence"), ("OffsetCommit", "fault")])
def test_a_heartbeat_that_is_refused_for_the_epoch_is_a_fence_and_a_commit_is_not(
    api: str, shape: str
) -> None:
    log = two_members()
    request = log.heartbeat("B", 9)
    body = {"errorCode": 110}
    log._add(Kind.RESPONSE, "coordinator", {"api": api, "to": "B", "body": body}, cause=request)
    moment = orjson.loads(log.recorded().moments)[-1]
    assert (moment["shape"], moment["actor"]) == (shape, "B")
    assert "(FENCED_MEMBER_EPOCH)" in moment["says"]
