"""Requests of runs by KIP-848's text: the member id is the coordinator's, versions and fields are the proposal's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from groups.wire.codecs.schema import Array, Struct
from simulations.invariants import INVARIANT_FAULT
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import load
from simulations.world.scenario.raw_requests import apis_of, schema_of

pytestmark = pytest.mark.once

HEARTBEAT = "ConsumerGroupHeartbeat"

GROUP = """\
group: g
semantics: kip
topics: {foo: {partitions: 2}}
members: {A: {subscribe: [foo], auto_commit: true, fetch_offsets: true}}
network: {delay_ms: [2, 2]}
"""


def log_of(more: str) -> list[Entry]:
    return list(run(load(GROUP + more)))


def bodies(log: list[Entry], kind: Kind, api: str = HEARTBEAT) -> list[tuple[str, dict[str, Any]]]:
    """Process and body of each request, or of each response to it."""
    found = [entry for entry in log if entry.kind is kind and entry.payload["api"] == api]
    return [
        (entry.actor if kind is Kind.REQUEST else entry.payload["to"], dict(entry.payload["body"]))
        for entry in found
    ]


def violations(log: list[Entry]) -> list[str]:
    faults = [entry.payload for entry in log if entry.kind is Kind.FAULT]
    return [fault["invariant"] for fault in faults if fault["fault"] == INVARIANT_FAULT]


def test_a_process_joins_without_an_id_and_keeps_the_one_that_the_response_names() -> None:
    """KIP-848, "Member ID" and "Group Membership": "by sending an heartbeat with no Member ID"."""
    log = log_of("script: [{at: 0s, join: A}, {at: 20s, restart: A}]\nuntil: 40s\n")
    for process in ("A", "A~2"):
        sent = [body["memberId"] for who, body in bodies(log, Kind.REQUEST) if who == process]
        answered = [body["memberId"] for who, body in bodies(log, Kind.RESPONSE) if who == process]
        assert sent[0] == ""
        assert set(sent[1:]) == {process}
        assert answered[0] == process
        assert set(answered[1:]) <= {None, process}
    assert violations(log) == []


def test_who_is_fenced_joins_again_with_the_id_that_it_has() -> None:
    """KIP-848, "Response Handling": "rejoins with the same member id and the epoch 0"."""
    log = log_of("script: [{at: 0s, join: A}, {at: 12s, pause: A}, {at: 90s, resume: A}]\nuntil: 120s\n")
    joins = [body["memberId"] for _, body in bodies(log, Kind.REQUEST) if body["memberEpoch"] == 0]
    assert joins[0] == ""
    assert joins[-1] == "A"
    assert any(body["errorCode"] for _, body in bodies(log, Kind.RESPONSE))


def test_a_join_whose_response_is_lost_is_the_same_member() -> None:
    log = log_of(
        "script: [{at: 0s, join: A}, {at: 3ms, cut: A}, {at: 5s, heal: A}]\nuntil: 90s\n",
    )
    joins = [body["memberId"] for _, body in bodies(log, Kind.REQUEST) if body["memberEpoch"] == 0]
    assert joins[:2] == ["", ""]
    members = {e.payload["key"]["memberId"] for e in log if e.kind is Kind.RECORD and e.payload["type"] == 5}
    assert members == {"A"}
    assert violations(log) == []


def test_who_has_no_id_yet_leaves_without_a_request_and_its_session_ends_the_member() -> None:
    log = log_of("script: [{at: 0s, join: A}, {at: 3ms, leave: A}]\nuntil: 90s\n")
    assert [body["memberEpoch"] for _, body in bodies(log, Kind.REQUEST)] == [0]
    fired = [e for e in log if e.kind is Kind.TIMER and e.payload["event"] == "fired"]
    assert "session" in {entry.payload["timer"] for entry in fired}
    assert violations(log) == []


def outside(body: Mapping[str, Any], schema: Struct) -> list[str]:
    """Fields of a body that the schema lacks, in depth."""
    known = {field.name: field.type for field in schema.fields}
    found = [name for name in body if name not in known]
    for name, value in body.items():
        inner = known.get(name)
        of = inner.of if isinstance(inner, Array) else inner
        if not isinstance(of, Struct) or not value:
            continue
        rows = value if isinstance(value, list) else [value]
        found += [f"{name}.{each}" for row in rows for each in outside(row, of)]
    return found


@pytest.mark.parametrize(
    "study", ["kip848-basic", "kip848-client-side", "kip848-streams", "kip848-migration", "commits"]
)
def test_versions_and_fields_are_those_of_the_text(study: str) -> None:
    commits = "script: [{at: 0s, join: A}, {at: 30s, leave: A}]\nuntil: 40s\n"
    log = log_of(commits) if study == "commits" else list(run(studies.load(study)))
    apis, seen = apis_of(Semantics.KIP), dict[str, set[int]]()
    for entry in log:
        if entry.kind is not Kind.REQUEST or entry.payload["api"] not in apis:
            continue
        api, version = apis[entry.payload["api"]], entry.payload["version"]
        seen.setdefault(entry.payload["api"], set()).add(version)
        assert version in api.request.versions
        assert outside(entry.payload["body"], schema_of(api, version)) == [], entry.payload
    proposed = {HEARTBEAT: {0}, "OffsetCommit": {9}, "OffsetFetch": {9}}
    assert {name: versions for name, versions in seen.items() if name in proposed} == {
        name: versions for name, versions in proposed.items() if name in seen
    }
    assert HEARTBEAT in seen
    if study == "commits":
        assert proposed.keys() <= seen.keys()
        topics = [topic for _, body in bodies(log, Kind.REQUEST, "OffsetCommit") for topic in body["topics"]]
        assert {tuple(topic) for topic in topics} == {("topicId", "partitions")}
