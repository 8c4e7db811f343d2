"""An incident as one HTML page that needs nothing else (``sealed``): a timeline or a stretch of it, with all that its board shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from explorer.pages.board.origin import Origin
from explorer.pages.board.views import SEMANTICS
from explorer.pages.timelines.notes import shown_notes
from explorer.pages.timelines.timeline_api import PROVENANCE
from explorer.sharing.one_file import TIMELINE, Link, View, made_at_text, sealed
from explorer.sharing.panels import panels_of
from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.history.story.problems import troubles
from groups.incidents.pieces import Piece, members_most
from groups.models import Timeline
from groups.packs.listed_summary import headline_clauses
from groups.places import VERSION
from groups.storage.handing_on import Incident

MOMENTS_AS_TEXT: Final = 300
"""Events that stand in the page as text, for print and where no script runs: some pages of paper."""


class TextMoment(NamedTuple):
    at: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The facts of a timeline that its page shows; of one whose names are hidden, none that names anything."""

    id: str
    title: str
    group: str
    protocol: str
    source: str
    provenance: str
    semantics: str
    seed: int | None
    status: str
    last: int


def shown(timeline: Timeline, incident: Incident, hidden_id: str) -> Shown:
    hides = incident.redactor is not None
    return Shown(
        id=hidden_id if hides else timeline.id,
        title=incident.group if hides else timeline.title,
        group=incident.group,
        protocol=str(incident.summary.get("protocol") or timeline.protocol),
        source=timeline.source,
        provenance=timeline.provenance or PROVENANCE[Timeline.Source(timeline.source)],
        semantics=timeline.semantics,
        seed=None if hides else timeline.seed,
        status=Timeline.Status.COMPLETE,
        last=incident.stretch.last,
    )


def detail_of(facts: Shown, incident: Incident, at: int | None = None) -> dict[str, Any]:
    """What the API gives of a timeline, of an incident; ``opens`` is the entry at which its page opens, if one is named."""
    worst = (incident.summary.get("verdict") or {}).get("worst")
    return {
        "id": facts.id,
        "title": facts.title,
        "group": facts.group,
        "protocol": facts.protocol,
        "source": facts.source,
        "status": facts.status,
        "problem": "",
        "semantics": facts.semantics,
        "seed": facts.seed,
        "last": facts.last,
        "summary": incident.summary,
        "worst": worst["sequence"] if worst else None,
        "opens": at,
        "troubles": troubles(incident.summary.get("findings") or ()),
        "provenance": facts.provenance,
        "entry_format": ENTRY_FORMAT,
        "fold_version": FOLD_VERSION,
        "version": f"{ENTRY_FORMAT}.{FOLD_VERSION}",
        "topic_names": {},
        "members_most": members_most(incident.pieces),
        "chunks": [
            {"number": number, "first": piece.first, "last": piece.last, "moments": len(piece.moments)}
            for number, piece in enumerate(incident.pieces)
        ],
    }


def parts_of(
    timeline: Timeline, facts: Shown, incident: Incident, view: View, at: int | None = None
) -> dict[str, Any]:
    """The data of a page by name. Readers are shown neither requests nor records, so there are none in theirs."""
    parts: dict[str, Any] = {"timeline": detail_of(facts, incident, at)}
    for piece in incident.pieces:
        parts[f"chunk-{piece.first}"] = chunk_of(piece)
        if view == "investigator":
            parts[f"entries-{piece.first}"] = piece.entries
    parts |= {f"digest-{of}": answer for of, answer in incident.digests.items()}
    if view == "investigator":
        parts |= panels_of(timeline, incident)
    return parts


def page_of(
    timeline: Timeline,
    facts: Shown,
    incident: Incident,
    *,
    view: View,
    made: datetime,
    link: Link | None = None,
    at: int | None = None,
    notes: bool = False,
) -> bytes:
    """The page; it opens at entry ``at``."""
    context = {
        "timeline": facts,
        "origin": origin_of(facts),
        "hidden": incident.redactor is not None,
        "headline": headline_clauses(incident.summary),
        "clauses": (incident.summary.get("verdict") or {}).get("clauses", []),
        "semantics_means": SEMANTICS.get(facts.semantics, ""),
        "notes": shown_notes(timeline, incident.stretch, incident.redactor) if notes else [],
        "made": _made(facts, incident, made),
        **moments_as_text(incident),
    }
    return sealed(
        TIMELINE, parts_of(timeline, facts, incident, view, at), context, view=view, made=made, link=link
    )


def origin_of(facts: Shown) -> Origin:
    text = {
        Timeline.Source.CASE_STUDY: "Simulated",
        Timeline.Source.SIMULATION: "Simulated",
        Timeline.Source.IMPORT: "From a log",
        Timeline.Source.LIVE: "Live, until it was shared",
    }[Timeline.Source(facts.source)]
    return Origin(text=text, title="What this incident was made of.")


def _made(facts: Shown, incident: Incident, made: datetime) -> str:
    stretch = incident.stretch
    return (
        f"Entries {stretch.first:,} to {stretch.last:,} of timeline {facts.id}, as Rebalance Explorer {VERSION} "
        f"told them on {made_at_text(made)}."
    )


def moments_as_text(incident: Incident) -> dict[str, Any]:
    moments = [moment for piece in incident.pieces for moment in piece.moments]
    clock = bool(moments) and moments[0]["at_ms"] >= CLOCK_FROM_MS
    first_ms = moments[0]["at_ms"] if moments else 0
    known = [
        TextMoment(_when(moment["at_ms"], first_ms, clock=clock), moment["says"])
        for moment in moments[:MOMENTS_AS_TEXT]
    ]
    return {"moments": known, "moments_left": max(0, len(moments) - MOMENTS_AS_TEXT)}


CLOCK_FROM_MS: Final = 86_400_000 * 365
"""Later times are those of a clock, earlier ones seconds of a simulation (as in ``static/js/shared/times.js``)."""


def _when(at_ms: int, first_ms: int, *, clock: bool) -> str:
    if clock:
        return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M:%S.%f}"[:-3]
    return f"{(at_ms - first_ms) / 1000:.1f} s"


def chunk_of(piece: Piece) -> dict[str, Any]:
    return {
        "first": piece.first,
        "last": piece.last,
        "frame": piece.frame,
        "changes": piece.changes,
        "moments": piece.moments,
    }
