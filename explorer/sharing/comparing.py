"""Timelines side by side as one file: what *Compare* shows, with all that it needs in itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from explorer.pages.compare.views import Refused, timelines_of, too_large_of
from explorer.sharing.one_file import COMPARISON, made_at_text, sealed
from explorer.sharing.page import chunk_of, detail_of, moments_as_text, shown
from groups.exporting import Export, hidden_id
from groups.models import Timeline
from groups.places import VERSION
from groups.storage.handing_on import CannotHandOn, incidents


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What is compared: timelines by id, from when on (since each began), where the playhead is; under ``key`` with names hidden."""

    made: datetime
    runs: Sequence[str]
    from_ms: int = 0
    at_ms: int = 0
    key: bytes | None = None


def html(wanted: Compared) -> Export:
    """The file. ``CannotHandOn`` where these cannot be compared, or are too much."""
    timelines = timelines_of(wanted.runs)
    if isinstance(timelines, Refused):
        raise CannotHandOn(f"{timelines.text}.")
    found = incidents(timelines, key=wanted.key)
    facts = [
        shown(timeline, incident, _id(timeline, number, wanted.key))
        for number, (timeline, incident) in enumerate(zip(timelines, found, strict=True), 1)
    ]
    details = [detail_of(fact, incident) for fact, incident in zip(facts, found, strict=True)]
    if (refused := too_large_of(timelines, details)) is not None:
        raise CannotHandOn(f"{refused.text}.")
    parts: dict[str, Any] = {
        "runs": {"metas": details, "from_ms": wanted.from_ms, "at_ms": wanted.at_ms},
    }
    for number, incident in enumerate(found):
        for piece in incident.pieces:
            parts[f"run-{number}-chunk-{piece.first}"] = chunk_of(piece)
    titles = [fact.title for fact in facts]
    context = {
        "title": " · ".join(titles),
        "hidden": wanted.key is not None,
        "timelines": facts,
        "runs": [
            {"title": title, **moments_as_text(incident)}
            for title, incident in zip(titles, found, strict=True)
        ],
        "made": f"{len(facts)} timelines side by side, as Rebalance Explorer {VERSION} told them on {made_at_text(wanted.made)}.",
    }
    content = sealed(COMPARISON, parts, context, view="investigator", made=wanted.made)
    return Export(name=f"comparison-{'-'.join(fact.id for fact in facts)}.html", content=content)


def _id(timeline: Timeline, number: int, key: bytes | None) -> str:
    return timeline.id if key is None else f"{hidden_id(key)}-{number}"
