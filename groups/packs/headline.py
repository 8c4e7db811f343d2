"""A timeline's summary in short: what a list of timelines shows, and all that its row in the database holds of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

GROUP_LENGTH_MOST: Final = 512
"""Kafka has no bound of its own for a group id; longer ones are cut where they are listed, never in entries."""

EPOCHS_MOST: Final = 60
"""Starts of epochs that a list's sparkline is drawn of; of more, evenly chosen ones."""

NO_OWNER_LONG_MS: Final = 10_000
"""From here on a partition without an owner is shown in red."""

GAPS_MOST: Final = 20

QUIET_FINDINGS: Final = frozenset(
    {"joined", "epochs", "commits", "moved", "moves", "began", "midway", "deleted"}
)
"""Findings of a group at its daily work: they do not lift it to the top of a list."""


def listed_name(group: str) -> str:
    """A group's name as lists and databases have it: without U+0000, which PostgreSQL keeps in no text."""
    return group.replace("\0", "\u2400")[:GROUP_LENGTH_MOST]


def headline(summary: Mapping[str, Any]) -> dict[str, Any]:
    """``group``, ``protocol``, ``state``, the span, ``entries``, ``verdict``; ``epochs_ms`` and ``no_owner_ms`` (when
    epochs began, when a partition was long without an owner); ``weight``, by which lists are sorted."""
    findings = summary.get("findings") or []
    no_owner = [one for one in findings if one["kind"] == "no_owner"]
    longest = max((one.get("length_ms") or 0 for one in no_owner), default=0)
    epochs = summary.get("epochs") or []
    return {
        "group": summary.get("group"),
        "protocol": summary.get("protocol"),
        "state": summary.get("state"),
        "first_ms": summary.get("first_ms"),
        "last_ms": summary.get("last_ms"),
        "entries": summary.get("entries"),
        "last": summary.get("last"),
        "verdict": summary.get("verdict"),
        "gaps": list(summary.get("gaps") or ())[:GAPS_MOST],
        "epochs_ms": [epoch["at_ms"] for epoch in epochs[:: max(1, -(-len(epochs) // EPOCHS_MOST))]],
        "no_owner_ms": [one["from_ms"] for one in no_owner if (one.get("length_ms") or 0) > NO_OWNER_LONG_MS],
        "weight": longest + sum(one["kind"] not in QUIET_FINDINGS for one in findings),
    }
