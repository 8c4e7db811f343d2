"""Scenarios of what the text leaves open or states twice: most are played alike by both rules, which is the reading itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Final

from groups.history.entries import Entry, Kind
from simulations.proof.differences.scenarios import COMMITS, HEARTBEATS, ScenarioCase, codes

COMMIT_OF: Final = "topics: [{name: foo, partitions: [{partitionIndex: 0, committedOffset: 7}]}]"


def group_of(script: str, *, members: str = "A: {subscribe: [foo]}", until: str = "20s") -> str:
    """A scenario of a topic with two partitions."""
    return f"topics: {{foo: {{partitions: 2}}}}\nmembers: {{{members}}}\nscript: [{script}]\nuntil: {until}\n"


def types(entries: Sequence[Entry], *, since_ms: int, until_ms: int) -> list[int]:
    """Types of the records of a time."""
    times = range(since_ms, until_ms)
    return [each.payload["type"] for each in entries if each.kind is Kind.RECORD and each.at_ms in times]


def fields(entries: Sequence[Entry], *, of: tuple[int, ...], part: str) -> dict[str, list[str]]:
    """The fields that the first record of each of these types has in its ``key`` or ``value``."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        if entry.kind is Kind.RECORD and entry.payload["type"] in of:
            found.setdefault(str(entry.payload["type"]), sorted(entry.payload[part]))
    return dict(sorted(found.items()))


def said(entries: Sequence[Entry], *, kind: Kind, api: str, field: str) -> list[object]:
    """A field of the requests or responses of an API in their order, without repetitions."""
    bodies = [e.payload["body"] for e in entries if e.kind is kind and e.payload["api"] == api]
    return [value for value, _ in groupby(body[field] for body in bodies if field in body)]


def versions(entries: Sequence[Entry], *, api: str) -> list[int]:
    """The versions of an API's requests that have topic ids."""
    asked = [e.payload for e in entries if e.kind is Kind.REQUEST and e.payload["api"] == api]
    return sorted({each["version"] for each in asked if "topicId" in each["body"]["topics"][0]})


def log_lines(entries: Sequence[Entry]) -> list[str]:
    return [e.payload["says"] for e in entries if e.payload.get("note") == "log_line"]


def after_their_request(entries: Sequence[Entry]) -> list[int]:
    """How many milliseconds after their cause rebalance timers start."""
    times = {entry.sequence: entry.at_ms for entry in entries}
    return sorted(
        {
            entry.at_ms - times[entry.cause]
            for entry in entries
            if entry.kind is Kind.TIMER
            and (entry.payload["timer"], entry.payload["event"]) == ("rebalance", "started")
            and entry.cause is not None
        }
    )


OFFSETS_BEFORE: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, send: A, request: OffsetCommit, version: 8, "
        f"fields: {{memberId: '', generationIdOrMemberEpoch: -1, {COMMIT_OF}}}}}, {{at: 5s, join: B}}",
        members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
    ),
    look=lambda entries: types(entries, since_ms=5_000, until_ms=5_050)[0],
    looks_at="type of the first record of B's join, after a commit without a member",
    kip=2,
    kafka=2,
)

EPOCH_ERRORS: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, join: A}, {at: 10s, send: A, request: OffsetCommit, version: 9, "
        f"fields: {{generationIdOrMemberEpoch: 9, {COMMIT_OF}}}}}"
    ),
    look=partial(codes, api=COMMITS),
    looks_at="error code of a commit with a later epoch than the member's",
    kip=[113],
    kafka=[113],
)

NAMES_AND_REGEX: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, send: A, request: ConsumerGroupHeartbeat, fields: {memberId: A, memberEpoch: 0, rebalanceTimeoutMs: 300000, "
        "subscribedTopicNames: [foo], subscribedTopicRegex: fo., topicPartitions: []}}"
    ),
    look=partial(codes, api=HEARTBEATS),
    looks_at="error code of a join with names and an expression",
    kip=[0],
    kafka=[0],
)

LOWEST_EPOCH: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, join: A}, {at: 10s, send: A, request: ConsumerGroupHeartbeat, fields: {memberEpoch: -3}}, "
        "{at: 15s, leave: A}",
        members="A: {subscribe: [foo], instance_id: i}",
    ),
    look=partial(codes, api=HEARTBEATS),
    looks_at="error codes of heartbeats: epoch -3 is refused, and -2 is how the static member leaves",
    kip=[0, 42, 0],
    kafka=[0, 42, 0],
)

LOST_JOIN: Final = ScenarioCase(
    text="network: {delay_ms: [100, 100]}\n"
    + group_of("{at: 0s, join: A}, {at: 150ms, cut: A}, {at: 1s, heal: A}", until="60s"),
    look=partial(said, kind=Kind.REQUEST, api=HEARTBEATS, field="memberId"),
    looks_at="member ids in the heartbeats of A, whose first response is lost",
    kip=["", "A"],
    kafka=["A"],
)

GROUP_CONFIGS: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, join: A}, {at: 10s, set_config: {heartbeat_interval_ms: 6000}}, {at: 12s, join: B}",
        members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
    ),
    look=partial(said, kind=Kind.RESPONSE, api=HEARTBEATS, field="heartbeatIntervalMs"),
    looks_at="heartbeat intervals of the responses, before and after the group's own setting",
    kip=[5000, 6000],
    kafka=[5000, 6000],
)

STATIC_RETURN: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, join: A}, {at: 10s, restart: A}", members="A: {subscribe: [foo], instance_id: i}"
    ),
    look=partial(types, since_ms=10_000, until_ms=10_050),
    looks_at="types of the records when A leaves for now, and returns with the same subscription",
    kip=[8, 8, 7, 5, 5, 7, 8, 8],
    kafka=[8, 8, 7, 5, 5, 7, 8, 8],
)

ENFORCED: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}, {at: 10s, enforce_rebalance: A}"),
    look=log_lines,
    looks_at="what the client logs",
    kip=(warns := ["enforceRebalance() has no effect in the consumer protocol; the client logs a warning"]),
    kafka=warns,
)

TIMER_START: Final = ScenarioCase(
    text=group_of(
        "{at: 0s, join: A}, {at: 10s, join: B}",
        members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
        until="40s",
    ),
    look=after_their_request,
    looks_at="milliseconds from the request until the rebalance timer that it starts",
    kip=[0],
    kafka=[0],
)

RECORD_KEYS: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}"),
    look=partial(fields, of=(6, 7, 8), part="key"),
    looks_at="fields of the keys of records 6 to 8",
    kip=(keys := {"6": ["groupId"], "7": ["groupId", "memberId"], "8": ["groupId", "memberId"]}),
    kafka=keys,
)

RECORD_VALUES: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}"),
    look=lambda entries: "groupEpoch" in fields(entries, of=(5,), part="value")["5"],
    looks_at="whether type 5 has the group's epoch",
    kip=True,
    kafka=False,
)

COMMIT_TOPICS: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}, {at: 10s, commit: A, offset: 7}"),
    look=partial(versions, api=COMMITS),
    looks_at="version of A's commit, which has topic ids",
    kip=[9],
    kafka=[10],
)

ASKED_TO_COMPUTE: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}", members="A: {subscribe: [foo], assignors: [range]}"),
    look=partial(said, kind=Kind.RESPONSE, api=HEARTBEATS, field="shouldComputeAssignment"),
    looks_at="values of the flag in the responses to A, which brings an assignor",
    kip=[True],
    kafka=[],
)

CLASSIC_METADATA: Final = ScenarioCase(
    text="protocol: classic\nassignor: sticky\n"
    + group_of(
        "{at: 0s, join: [A, B]}, {at: 10s, enforce_rebalance: A}, "
        "{at: 20s, bounce: B, for: 1s, with: {protocol: consumer, assignors: [streams]}}",
        members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
        until="30s",
    ),
    look=partial(codes, api=HEARTBEATS),
    looks_at="error codes of the heartbeats of B, whose own assignor does not read what A's reports",
    kip=[42],
    kafka=[0],
)

NEXT_GENERATION: Final = ScenarioCase(
    text="protocol: classic\n"
    + group_of(
        "{at: 0s, join: A}, {at: 10s, fail_over: coordinator}, {at: 20s, join: B}",
        members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
        until="40s",
    ),
    look=lambda entries: said(
        [e for e in entries if e.payload.get("body", {}).get("errorCode") == 0],
        kind=Kind.RESPONSE,
        api="JoinGroup",
        field="generationId",
    ),
    looks_at="generations in the responses to JoinGroup, another broker having taken over after 10 s",
    kip=[1, 2],
    kafka=[1, 2],
)

MEMBER_EPOCHS: Final = ScenarioCase(
    text="topics: {foo: {partitions: 2}, bar: {partitions: 2}}\n"
    "members: {A: {subscribe: [foo]}, B: {subscribe: [bar]}}\n"
    "script: [{at: 0s, join: A}, {at: 20s, join: B}]\nuntil: 60s\n",
    look=lambda entries: [
        e.payload["value"]["memberEpoch"]
        for e in entries
        if e.kind is Kind.RECORD and e.payload["type"] == 8 and e.payload["key"]["memberId"] == "A"
    ],
    looks_at="epochs of A in its records; B, which joins after 20 s, takes nothing from it",
    kip=[1, 2],
    kafka=[2, 3],
)

PARTITION_EPOCHS: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}"),
    look=lambda entries: [
        sorted(owned)
        for e in entries
        if e.kind is Kind.RECORD and e.payload["type"] == 8
        for owned in e.payload["value"]["assignedPartitions"]
    ],
    looks_at="fields of what A has in its record",
    kip=[["partitions", "topicId"]],
    kafka=[["assignmentEpochs", "partitions", "topicId"]],
)

ONE_COORDINATOR: Final = ScenarioCase(
    text="protocol: classic\n"
    + group_of(
        "{at: 0s, join: A}, {at: 20s, join: B}",
        members="A: {subscribe: [foo]}, B: {subscribe: [foo], protocol: consumer}",
        until="40s",
    ),
    look=lambda entries: types(entries, since_ms=20_000, until_ms=20_050)[:2],
    looks_at="types of the first records when B joins A's classic group: its own (2) goes, in the same log",
    kip=[2, 5],
    kafka=[2, 5],
)

SHARED_BATCH: Final = ScenarioCase(
    text="config: {append_linger_ms: 20}\n"
    + group_of("{at: 0s, join: [A, B]}", members="A: {subscribe: [foo]}, B: {subscribe: [foo]}"),
    look=lambda entries: len({e.cause for e in entries if e.kind is Kind.RECORD and e.batch == 0}),
    looks_at="how many requests wrote the first batch, for which the broker waits 20 ms",
    kip=2,
    kafka=2,
)
