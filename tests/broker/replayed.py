"""The requests of a simulated run, sent to a real broker at the same moments.

The simulated clients' ids, epochs and reported partitions are taken as they are (a member chooses its own id), so a
broker that behaves as the simulated coordinator does answers the same and writes the same records. Topic ids are the
broker's own; they are put in place of the simulated ones.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .node import Node, wait_for_coordinator, wait_for_topic
from .rpc import Connection, RpcError

SETTLE_S = 0.2
"""Between the last request and the end of the recording, on top of what the run itself waits for."""

LATE_MS_MOST = 1000
"""A request that goes out later than this does not repeat the run: the machine is too busy to compare anything.
Nothing in the run hangs on less: heartbeats are a second apart, and expiries are waited for."""

EXPIRY_LIMIT_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request as the simulated client made it, and the broker's answer to it."""

    at_ms: int
    member: str
    api: str
    sequence: int
    answer: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """``topic_ids`` is simulated id → the broker's id; ``late_ms`` how late the latest request went out."""

    sent: list[Sent]
    topic_ids: dict[str, str]
    late_ms: int
    started_ms: int


def replay_requests(
    node: Node, entries: Iterable[Mapping[str, Any]], *, group: str, until_ms: int
) -> Replayed:
    """Sends the ``request`` entries of a run to the broker; topics are made as its first note tells."""
    entries = list(entries)
    topic_ids = _make_topics(node, entries)
    wait_for_coordinator(node, group)
    for name in _topics(entries):
        wait_for_topic(node, name, beside=group)
    client_ids = _client_ids(entries)
    connections: dict[str, Connection] = {}
    sent: list[Sent] = []
    late_ms = 0
    first_ms = int(entries[0]["at_ms"])
    started = time.monotonic()
    started_ms = time.time_ns() // 1_000_000
    try:
        for entry in entries:
            expiry = entry["kind"] == "timer" and entry["payload"]["event"] == "fired"
            if entry["kind"] != "request" and not expiry:
                continue
            due_s = (entry["at_ms"] - first_ms) / 1000
            time.sleep(max(0.0, started + due_s - time.monotonic()))
            if expiry:
                _wait_for_expiry(node, group, entry["payload"])
                continue
            late_ms = max(late_ms, round((time.monotonic() - started - due_s) * 1000))
            member, payload = entry["actor"], entry["payload"]
            if member not in connections:
                connections[member] = node.connect(client_ids.get(member, member))
            answer = connections[member].call(
                payload["api"], _translated(payload["body"], topic_ids), version=payload["version"]
            )
            sent.append(
                Sent(
                    at_ms=entry["at_ms"],
                    member=member,
                    api=payload["api"],
                    sequence=entry["sequence"],
                    answer=_translated(answer, {there: here for here, there in topic_ids.items()}),
                )
            )
        time.sleep(max(0.0, started + (until_ms - first_ms) / 1000 + SETTLE_S - time.monotonic()))
    finally:
        for connection in connections.values():
            connection.close()
    return Replayed(sent=sent, topic_ids=topic_ids, late_ms=late_ms, started_ms=started_ms)


def _wait_for_expiry(node: Node, group: str, timer: Mapping[str, Any]) -> None:
    """Waits until the broker's own session timer has fired too: it runs from a request that may have been late."""
    assert timer["timer"] == "session", timer
    deadline = time.monotonic() + EXPIRY_LIMIT_S
    with node.connect() as connection:
        while time.monotonic() < deadline:
            members = connection.describe_consumer_group(group)["members"]
            if timer["member"] not in [member["memberId"] for member in members]:
                return
            time.sleep(0.01)
    raise RpcError(f"the session of {timer['member']} did not run out")


def _client_ids(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """By member, the client id of its requests' headers, which the coordinator wrote down when it joined.

    Of one that was refused nothing is written.
    """
    records = (
        each["payload"] for each in entries if each["kind"] == "record" and each["payload"]["type"] == 5
    )
    return {
        each["key"]["memberId"]: each["value"]["clientId"] for each in records if each["value"] is not None
    }


def _make_topics(node: Node, entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    with node.connect() as connection:
        return {
            topic["id"]: connection.create_topic(name, topic["partitions"])
            for name, topic in _topics(entries).items()
        }


def _topics(entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    note = next(each["payload"] for each in entries if each["payload"].get("note") == "topics")
    return dict(note["topics"])


def _translated(value: Any, topic_ids: Mapping[str, str]) -> Any:
    """The same value with topic ids replaced, wherever they stand."""
    if isinstance(value, dict):
        return {key: _translated(inner, topic_ids) for key, inner in value.items()}
    if isinstance(value, list):
        return [_translated(inner, topic_ids) for inner in value]
    return topic_ids.get(value, value) if isinstance(value, str) else value
