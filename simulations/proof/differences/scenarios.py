"""Scenarios that show a difference which an exchange with the coordinator alone cannot: they run by either rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from simulations.world.engine import run
from simulations.world.scenario import load


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioCase:
    """``look`` takes from a run's entries what is compared; ``kip`` and ``kafka`` are what is found, as JSON values."""

    text: str
    look: Callable[[Sequence[Entry]], object]
    looks_at: str
    kip: object
    kafka: object

    def entries(self, semantics: Semantics) -> list[Entry]:
        return list(run(load(self.text, "orders"), semantics))


def codes(entries: Sequence[Entry], *, api: str, to: str = "") -> list[int]:
    """Error codes of the responses in their order, without repetitions; of all members, or of one."""
    found: list[int] = []
    for entry in entries:
        payload = entry.payload
        if entry.kind is not Kind.RESPONSE or payload["api"] != api or to not in ("", payload["to"]):
            continue
        body = payload["body"]
        own = [body["errorCode"]] if "errorCode" in body else []
        found += own + [each["errorCode"] for topic in body.get("topics", ()) for each in topic["partitions"]]
    return [code for code, _ in groupby(found)]


def callbacks(entries: Sequence[Entry], *, topic: str) -> list[str]:
    """The callbacks that have partitions of the topic, in their order."""
    return [
        f"{entry.actor} {entry.payload['callback']}"
        for entry in entries
        if entry.kind is Kind.CALLBACK
        and entry.payload["phase"] == "start"
        and topic in entry.payload["partitions"]
    ]


HEARTBEATS: Final = "ConsumerGroupHeartbeat"
COMMITS: Final = "OffsetCommit"

EMBEDDED_VERSION: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 2}}
protocol: classic
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo], assignors: [range], client: '2.3'}
  B: {subscribe: [foo], protocol: consumer}
script: [{at: 0s, join: A}, {at: 10s, join: B}]
until: 20s
""",
    look=partial(codes, api=HEARTBEATS),
    looks_at="error codes of the heartbeats of B, which joins the classic group",
    kip=[42],
    kafka=[0],
)

TARGET_SIZE: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 400}}
config: {max_message_bytes: 1000}
members: {A: {subscribe: [foo]}}
script: [{at: 0s, join: A}]
until: 20s
""",
    look=partial(codes, api=HEARTBEATS),
    looks_at="error codes of the heartbeats of A, whose target is larger than a batch",
    kip=[0],
    kafka=[-1],
)

STALE_COMMIT: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 4}}
config: {heartbeat_interval_ms: 1000, session_timeout_ms: 5000}
network: {delay_ms: [200, 300]}
members:
  A: {subscribe: [foo], auto_commit: true, auto_commit_interval_ms: 880}
  B: {subscribe: [foo]}
script: [{at: 0s, join: A}, {at: 4s, join: B}]
until: 12s
""",
    look=partial(codes, api=COMMITS),
    looks_at="error codes of the commits of A, whose epoch another joins meanwhile",
    kip=[0, 113, 0],
    kafka=[0],
)

COMMITS_INSTANCE: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 2}}
protocol: classic
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo], instance_id: i, auto_commit: true, auto_commit_interval_ms: 1000}
  B: {subscribe: [foo], instance_id: i}
  C: {subscribe: [foo], protocol: consumer}
script: [{at: 0s, join: A}, {at: 5s, join: C}, {at: 20s, join: B}]
until: 40s
""",
    look=partial(codes, api=COMMITS),
    looks_at="error codes of the commits of A, whose instance B takes over",
    kip=[0, 82],
    kafka=[0, 25, 0],
)

UNSUPPORTED_ASSIGNOR: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 2}}
members:
  A: {subscribe: [foo], assignors: [range]}
  B: {subscribe: [foo], assignors: [roundrobin]}
script: [{at: 0s, join: A}, {at: 10s, join: B}]
until: 20s
""",
    look=partial(codes, api=HEARTBEATS),
    looks_at="error codes of the heartbeats; B brings an assignor that A has not",
    kip=[0, 112, 0],
    kafka=[0],
)

DELETED_TOPIC: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 2}, bar: {partitions: 2}}
protocol: classic
assignor: cooperative-sticky
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo, bar]}
  B: {subscribe: [foo, bar]}
script: [{at: 0s, join: A}, {at: 5s, join: B}, {at: 30s, delete_topic: bar}]
until: 400s
""",
    look=partial(callbacks, topic="bar"),
    looks_at="callbacks with partitions of bar, which is deleted after 30 s",
    kip=(
        seen := [
            "A on_partitions_assigned",
            "A on_partitions_revoked",
            "B on_partitions_assigned",
            "B on_partitions_revoked",
            "A on_partitions_revoked",
        ]
    ),
    kafka=seen,
)
"""Both rules alike: what distinguishes the text is in its own two sentences."""
