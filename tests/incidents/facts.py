"""What was done in a recorded incident: the file ``facts.json`` beside the recorded log.

A script writes it from its own acts, from what its clients printed in their callbacks, and from the coordinator's own log
lines; never from what the product says. All times are milliseconds since 1970 by the one clock of the machine on which
broker and clients ran.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

RECORDED = Path(__file__).resolve().parent / "recorded"
FACTS, SEGMENTS, LINES = "facts.json", "segments.tar.xz", "lines.txt.xz"

Kind = Literal[
    "joined",
    "left",
    "killed",
    "frozen",
    "paused",
    "poll_overrun",
    "removed",
    "rejoined",
    "silent",
    "unassigned",
    "emptied",
    "revocation_slow",
    "rolling_deploy",
    "crash_loop",
    "flapping",
    "scaled",
    "idle_member",
    "twin_instance",
    "topic_created",
    "topic_grown",
    "topic_deleted",
    "coordinator_moved",
    "migration",
    "eager_rebalance",
    "compacted",
    "group_deleted",
    "quiet",
    "quiet_since",
    "strategy_changed",
    "rolled_in_rounds",
    "given",
    "group_type",
    "leader",
    "gone",
    "transactions_aborted",
    "transaction_open",
    "offsets_set",
    "silent_partition",
]

Protocol = Literal["consumer", "classic", "both"]


class Fact(TypedDict):
    """One thing that happened. ``clients`` are client ids; ``source`` says who knew it: the script, a client, the broker."""

    at_ms: int
    kind: Kind
    sentence: str
    source: Literal["script", "client", "broker"]
    clients: list[str]
    partitions: list[str]
    duration_ms: int | None
    tellable: bool
    """Whether records of ``__consumer_offsets`` and ``__cluster_metadata`` can show it, as certain or by inference."""
    why_not: NotRequired[str]
    cause: NotRequired[str]
    """Of a removal: ``session_expired``, ``poll_overrun``, ``left``, ``replaced``; of a silence: what was done to its owner."""
    times: NotRequired[int]
    """How often, of a thing that repeats."""
    detail: NotRequired[str]
    """The one other thing that the kind needs: a topic, a protocol, an instance id."""


class Process(TypedDict):
    """One process of a client: it begins, it ends (``None``: it was alive when the log was copied)."""

    client_id: str
    instance_id: str | None
    library: Literal["java", "librdkafka"]
    started_ms: int
    ended_ms: int | None
    member_ids: list[str]


class Reading(TypedDict):
    """A stretch of time in which a process that could read had a partition, by its own callbacks."""

    client_id: str
    from_ms: int
    to_ms: int | None


class Facts(TypedDict):
    """``facts.json``."""

    incident: str
    title: str
    done: str
    """What was done, in a sentence or three, for people."""
    group: str
    protocol: Protocol
    settings: dict[str, str]
    began_ms: int
    """When the group had formed, and the script began to do something to it."""
    copied_ms: int
    """When the log was copied: the recording ends here."""
    facts: list[Fact]
    processes: list[Process]
    readings: dict[str, list[Reading]]
    """Partition → who read it, in time order. Where nobody did, there is a hole."""


def read_facts(name: str, recorded: Path = RECORDED) -> Facts:
    found: Facts = json.loads((recorded / name / FACTS).read_text())
    return found


def recorded_names(recorded: Path = RECORDED) -> list[str]:
    return sorted(each.parent.name for each in recorded.glob(f"*/{FACTS}"))


def sentence_time(at_ms: int, since_ms: int) -> str:
    """``+12.3 s``: a moment as people read it beside an incident's beginning."""
    return f"{(at_ms - since_ms) / 1000:+.1f} s"
