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

COMMIT_OF: Final = "topics: [{name: foo, partitions: [{partitionIndex: 0, committedOffset: 7}]}]"


def group_of(script: str, *, members: str = "A: {subscribe: [foo]}", until: str = "20s") -> str:
    """A scenario of a topic with two partitions."""
    return f"topics: {{foo: {{partitions: 2}}}}\nmembers: {{{members}}}\nscript: [{script}]\nuntil: {until}\n"


def record_types(entries: Sequence[Entry], *, since_ms: int, until_ms: int) -> list[int]:
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


ASKED_TO_COMPUTE: Final = ScenarioCase(
    text=group_of("{at: 0s, join: A}", members="A: {subscribe: [foo], assignors: [range]}"),
    look=partial(said, kind=Kind.RESPONSE, api=HEARTBEATS, field="shouldComputeAssignment"),
    looks_at="values of the flag in the responses to A, which brings an assignor",
    kip=[True],
    kafka=[],
)
