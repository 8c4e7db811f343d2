"""Large groups for the map, simulated and stored as a user would store them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.serving import ROOT, Served

PARTITIONS_EACH = 3
PAUSED_AT_MS = 12_000
JOINS_LAST = 873
"""The member that is looked for: it joins when all others are there, and waits for what they own."""


def name_of(number: int) -> str:
    return f"consumer-{number // 100}-{number % 100:02}"


def scenario(members: int) -> dict[str, Any]:
    """A group that has settled. One more joins, for which three give a partition each, and take 20 s to revoke it."""
    names = [name_of(number) for number in range(members)]
    late = names[min(JOINS_LAST, members - 1)]
    there = [name for name in names if name != late]
    partitions = members * PARTITIONS_EACH
    owned: dict[str, list[int]] = {name: [] for name in there}
    for number in range(partitions):
        owned[there[number % len(there)]].append(number)
    started = {
        name: {"epoch": 5, "owned": {"orders": owned[name]}, "heartbeat_at": f"{5_000 * at // len(there)}ms"}
        for at, name in enumerate(there)
    }
    killed, paused = there[len(there) // 2], there[len(there) // 3]
    return {
        "name": f"{members} members, one more joins",
        "semantics": "kafka",
        "topics": {"orders": {"partitions": partitions}},
        "config": {"session_timeout_ms": 45000, "heartbeat_interval_ms": 5000},
        "start": {"group_epoch": 5, "assignment_epoch": 5, "members": started},
        "members": {
            name: {
                "subscribe": ["orders"],
                "callback_ms": 20_000,
                "client_host": f"10.1.{at // 40}.7",
                "rack_id": f"rack-{'abc'[at % 3]}",
            }
            for at, name in enumerate(names)
        },
        "script": [
            {"at": "6s", "join": late},
            {"at": "9s", "kill": killed},
            {"at": f"{PAUSED_AT_MS}ms", "pause": paused},
            {"at": "40s", "resume": paused},
        ],
        "until": "70s",
    }


def few(*, topics: dict[str, int], owner: str = "a") -> dict[str, Any]:
    """Two members on very many partitions, all of which the first owns when the second joins."""
    return {
        "name": f"two members on {len(topics)} topics",
        "semantics": "kafka",
        "topics": {topic: {"partitions": partitions} for topic, partitions in topics.items()},
        "config": {"session_timeout_ms": 45000, "heartbeat_interval_ms": 5000},
        "start": {
            "group_epoch": 5,
            "assignment_epoch": 5,
            "members": {
                owner: {
                    "epoch": 5,
                    "owned": {topic: list(range(count)) for topic, count in topics.items()},
                    "heartbeat_at": "0s",
                }
            },
        },
        "members": {owner: {"subscribe": list(topics)}, "b": {"subscribe": list(topics)}},
        "script": [{"at": "6s", "join": "b"}],
        "until": "25s",
    }


def grows(members: int) -> dict[str, Any]:
    """From nobody to so many, and back to nobody."""
    names = [name_of(number) for number in range(members)]
    return {
        "name": f"from nobody to {members} and back",
        "semantics": "kafka",
        "topics": {"orders": {"partitions": members}},
        "config": {"session_timeout_ms": 45000, "heartbeat_interval_ms": 5000},
        "members": {name: {"subscribe": ["orders"]} for name in names},
        "script": [
            *({"at": f"{20 * at}ms", "join": name} for at, name in enumerate(names)),
            *({"at": f"{30_000 + 20 * at}ms", "leave": name} for at, name in enumerate(names)),
        ],
        "until": "60s",
    }


def store(server: Served, told: dict[str, Any], *, renamed: dict[str, str] | None = None) -> str:
    """Simulates and stores; the timeline's id. ``renamed``: members have other ids in the log than a scenario allows."""

    def manage(*words: str, given: bytes) -> bytes:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=server.environment, check=True, capture_output=True, input=given
        ).stdout

    entries = manage("simulate", "-", "--format", "entries", given=json.dumps(told).encode())
    for name, other in (renamed or {}).items():
        entries = entries.replace(json.dumps(name).encode(), json.dumps(other).encode())
    stored = manage("timeline", "add", "-", "--semantics", "kafka", given=entries)
    return str(json.loads(stored)["id"])


def waiting_at(server: Served, timeline: str) -> str:
    """The address of a moment at which the member that joined waits for others: callbacks run, and somebody is paused."""
    with server.open(f"/api/timelines/{timeline}") as answer:
        chunks = json.load(answer)["chunks"]
    for chunk in chunks:
        with server.open(f"/api/timelines/{timeline}/chunks/{chunk['first']}") as answer:
            moments = json.load(answer)["moments"]
        for moment in moments:
            if moment["shape"] == "fault" and moment["at_ms"] >= PAUSED_AT_MS:
                return f"/t/{timeline}?at={moment['sequence']}"
    raise AssertionError(f"nobody is paused in {timeline}")
