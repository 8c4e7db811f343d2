"""A timeline's summary in short: what a list of timelines shows, and all that its row in the database holds of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import cramjam
import orjson

from groups.history.story.common_causes import occurrences
from groups.history.story.problems import gravity, ranked_problems
from groups.history.verdict.opening import opening_pattern

GROUP_LENGTH_MOST: Final = 512
"""Kafka has no bound of its own for a group id; longer ones are cut where they are listed, never in entries."""

EPOCHS_MOST: Final = 60
"""Starts of epochs that a list's sparkline is drawn of; of more, evenly chosen ones."""

NO_OWNER_LONG_MS: Final = 10_000
"""From here on a partition without an owner is shown in red."""

GAPS_MOST: Final = 20

NAMED_MOST: Final = 20
"""Topics by which a list can be narrowed to a timeline."""


def listed_name(group: str) -> str:
    """A group's name as lists and databases have it: without U+0000, which PostgreSQL keeps in no text."""
    return group.replace("\0", "\u2400")[:GROUP_LENGTH_MOST]


WORDS_LENGTH_MOST: Final = 16_000
"""Characters of a timeline's words, by which it is searched: what happened first, then hosts, topics and members as they joined."""


def words_of(summary: Mapping[str, Any]) -> str:
    """The words by which a timeline is searched: each once, in lower case. ``summary`` is whole; one in short names no members."""
    findings = summary.get("findings") or ()
    cast = summary.get("cast") or ()
    texts = [
        summary.get("group") or "",
        headline_text(summary),
        (summary.get("verdict") or {}).get("text") or "",
        *(one.get("title") or one["kind"].replace("_", " ") for one in findings),
        *(one["says"] for one in findings),
        *(summary.get("hosts") or ()),
        *(summary.get("topics") or ()),
        *(member["name"] for member in cast),
        *(member["id"] for member in cast),
    ]
    return " ".join(dict.fromkeys(" ".join(texts).lower().split()))[:WORDS_LENGTH_MOST]


NUL: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""U+0000 as JSON writes it: behind an odd number of backslashes. An even number is backslashes before those letters."""

VERDICT_LEVEL: Final = 7


def plain(value: Any) -> Any:
    """``value`` without U+0000, which PostgreSQL keeps in no text: the sign for it replaces it."""
    text = orjson.dumps(value)
    return orjson.loads(_without_nul(text)) if rb"\u0000" in text else value


def _without_nul(text: bytes) -> bytes:
    return NUL.sub(r"\1␀".encode(), text)


def packed_verdict(verdict: Mapping[str, Any] | None) -> bytes:
    """A verdict as rows keep it, plain: it would be most of what they hold, and repeats itself. Its texts are those of its clauses."""
    kept = None if verdict is None else _without_text(verdict)
    if kept and "headline" in kept:
        kept["headline"] = _without_text(kept["headline"])
    return bytes(cramjam.zstd.compress(_without_nul(orjson.dumps(kept)), level=VERDICT_LEVEL))


def read_verdict(packed: bytes) -> dict[str, Any] | None:
    """A verdict of an earlier fold has no headline."""
    kept: dict[str, Any] | None = orjson.loads(bytes(cramjam.zstd.decompress(packed)))
    if kept and "headline" in kept:
        kept["headline"] = _with_text(kept["headline"])
    return kept and _with_text(kept)


def _without_text(sentence: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in sentence.items() if name != "text"}


def _with_text(sentence: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": "".join(clause["text"] for clause in sentence["clauses"])} | dict(sentence)


def headline_clauses(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The clauses of a summary's headline; of one of an earlier fold those of its verdict."""
    verdict = summary.get("verdict") or {}
    clauses: list[dict[str, Any]] = (verdict.get("headline") or verdict).get("clauses", [])
    return clauses


def headline_text(summary: Mapping[str, Any]) -> str:
    """The headline as lists, cards and alerts show it; empty where nothing is known yet."""
    return "".join(clause["text"] for clause in headline_clauses(summary))


def gravity_of(summary: Mapping[str, Any]) -> int:
    headline = (summary.get("verdict") or {}).get("headline") or {}
    return gravity(summary.get("findings") or (), headline.get("severity"))


def listed_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """``group``, ``protocol``, ``state``, the span, ``entries``, ``verdict``; ``epochs_ms`` and ``no_owner_ms`` (when
    epochs began, when a partition was long without an owner); ``weight``, by which lists are sorted (``problems.gravity``).

    For the table of what is wrong: ``rebalances``, the ``pattern``'s title, ``problems``, ``occurrences`` of what groups can
    share, ``topics``, ``hosts``.
    """
    findings = summary.get("findings") or []
    no_owner = [one for one in findings if one["kind"] == "no_owner"]
    epochs = summary.get("epochs") or []
    pattern = opening_pattern(findings)
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
        "weight": gravity_of(summary),
        "rebalances": max(0, len(epochs) - 1),
        "pattern": pattern["title"] if pattern else "",
        "problems": ranked_problems(findings),
        "occurrences": [list(one) for one in occurrences(findings)],
        "topics": sorted(summary.get("topics") or ())[:NAMED_MOST],
        # Kafka writes a host without a name as /10.0.0.1.
        "hosts": sorted({host.lstrip("/") for host in summary.get("hosts") or ()}),
    }
