"""Consumers of a run that ask for the committed offsets of what they are given (``fetch_offsets``), and what they are answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from simulations.invariants import INVARIANT_FAULT
from simulations.protocol.messages.errors import ErrorCode
from simulations.world.engine import run
from simulations.world.scenario import load

GROUP = """
topics: {foo: {partitions: 4, id: AAAAAAAAAAAAAAAAAAAAAQ}}
members: {A: {subscribe: [foo], fetch_offsets: true}, B: {subscribe: [foo], fetch_offsets: true}, C: {subscribe: [foo], fetch_offsets: true}}
"""

HANDED_ON = """
script:
  - {at: 0s, join: A}
  - {at: 10s, commit: A, offset: 7}
  - {at: 12s, join: B}
until: 60s
"""

SLOW = """
network: {delay_ms: [1, 3000], reorder: 0.5}
script:
  - {at: 0s, join: A}
  - {at: 4s, join: B}
  - {at: 7s, join: C}
  - {at: 12s, leave: B}
  - {at: 15s, join: B}
until: 100s
"""


def fetches(entries: Sequence[Entry]) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each OffsetFetch that was answered: who asked, its body, and the group of the answer."""
    asked = {e.sequence: e for e in entries if e.kind is Kind.REQUEST and e.payload["api"] == "OffsetFetch"}
    return [
        (asked[e.cause].actor, dict(asked[e.cause].payload["body"]), dict(e.payload["body"]["groups"][0]))
        for e in entries
        if e.kind is Kind.RESPONSE and e.cause in asked
    ]


def violations(entries: Sequence[Entry]) -> list[str]:
    return [
        e.payload["says"] for e in entries if e.kind is Kind.FAULT and e.payload["fault"] == INVARIANT_FAULT
    ]


@pytest.mark.parametrize(("semantics", "version"), [("kip", 9), ("kafka", 10)])
def test_a_consumer_fetches_the_offsets_of_what_it_is_given_by_topic_id_with_its_epoch(
    semantics: str, version: int
) -> None:
    entries = list(run(load(GROUP + HANDED_ON), semantics))
    found = fetches(entries)
    assert [who for who, _, _ in found] == ["A", "B"]
    assert {e.payload["version"] for e in entries if e.payload.get("api") == "OffsetFetch"} == {version}
    (_, _, before), (_, second, after) = found
    member = second if semantics == "kip" else second["groups"][0]
    assert (member["memberId"], epoch_of(second)) == (
        "B",
        max(each["epoch"] for each in group_epochs(entries)),
    )
    (topic,) = second["groups"][0]["topics"]
    assert topic["topicId"] == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert len(topic["partitionIndexes"]) == 2
    assert {each["committedOffset"] for each in before["topics"][0]["partitions"]} == {-1}
    assert {each["committedOffset"] for each in after["topics"][0]["partitions"]} == {7}
    assert violations(entries) == []


def epoch_of(body: dict[str, Any]) -> int:
    """The member epoch of a request: in KIP-848's version it is the whole request's."""
    epoch = body.get("generationIdOrMemberEpoch", body["groups"][0].get("memberEpoch"))
    assert isinstance(epoch, int)
    return epoch


def group_epochs(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    return [
        dict(e.payload["value"])
        for e in entries
        if e.kind is Kind.RECORD and e.payload["type"] == 3 and e.payload["value"]
    ]


@pytest.mark.parametrize(("semantics", "seed"), [("kip", 46), ("kip", 101), ("kip", 132), ("kafka", 30)])
def test_a_fetch_of_an_older_epoch_is_stale_and_is_sent_again_with_the_newer_one(
    semantics: str, seed: int
) -> None:
    entries = list(run(load(GROUP.replace("4", "6") + SLOW), semantics, seed))
    found = [
        (who, answer["errorCode"], epoch_of(asks))
        for who, asks, answer in fetches(entries)
        if answer["errorCode"] in (ErrorCode.NONE, ErrorCode.STALE_MEMBER_EPOCH)
    ]
    who, _, old = next(each for each in found if each[1] == ErrorCode.STALE_MEMBER_EPOCH)
    assert any(each[:2] == (who, ErrorCode.NONE) and each[2] > old for each in found)
    if semantics == "kip":
        # "the consumer retries when receiving its next heartbeat response with its member epoch"
        stale = [each for each in found if each[1] == ErrorCode.STALE_MEMBER_EPOCH]
        assert len({each[::2] for each in stale}) == len(stale), "a refused epoch is not sent again"
    assert violations(entries) == []
