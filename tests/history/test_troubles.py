"""What went wrong is told in plain words, found with its proof, and stands in the verdict."""

from __future__ import annotations

import json
from typing import Any

import orjson

from groups.history.entries import Kind
from groups.history.findings import Finder
from groups.history.recorder import Batch
from groups.history.troubles import KEPT_MAX
from tests.history.logs import Log
from tests.history.test_causes import R, two_members


def says(batch: Batch) -> list[str]:
    return [moment["says"] for moment in orjson.loads(batch.moments)]


def found(batch: Batch, kind: str) -> list[dict[str, Any]]:
    return [finding for finding in batch.summary["findings"] if finding["kind"] == kind]


def verdict(batch: Batch) -> str:
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
        "B is fenced: its epoch is not the coordinator's (FENCED_MEMBER_EPOCH); it gives everything up and joins again"
    )
    [one] = found(batch, "fenced")
    assert (one["member"], one["error"], one["sequences"]) == ("B", "FENCED_MEMBER_EPOCH", [sequence])
    assert "B was fenced" in verdict(batch)


def test_an_answer_that_is_no_fence_is_not_found_as_one() -> None:
    log = two_members()
    refused(log, "B", 14)
    assert says(log.recorded())[-1] == (
        "B is told to wait: the coordinator is still loading (COORDINATOR_LOAD_IN_PROGRESS)"
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
        "The coordinator failed over and loaded for 3.0\u202fs; 2 records were lost before they were"
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
    finder = Finder.from_json(json.loads(batch.checkpoint)["findings"])
    assert Finder.from_json(finder.to_json()).to_json() == finder.to_json()
