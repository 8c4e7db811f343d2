"""An incident as one HTML page that needs nothing else (``sealed``): a timeline or a stretch of it, with all that its board shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from explorer.figures.epochs import collect, figure
from explorer.pages.board.origin import Origin
from explorer.pages.board.views import SEMANTICS
from explorer.pages.inspector.answering import Asked, answer_to
from explorer.pages.inspector.records import Found, TooLarge, found_of, identity, inspected_record
from explorer.pages.inspector.topics import topic_names
from explorer.pages.timelines.notes import shown_notes
from explorer.pages.timelines.timeline_api import PROVENANCE
from explorer.sharing.one_file import TIMELINE, Link, View, made_at_text, sealed
from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.history.story.problems import troubles
from groups.incidents.measured import measured
from groups.incidents.pieces import Piece, members_most
from groups.models import Timeline
from groups.packs.listed_summary import headline_clauses
from groups.places import VERSION
from groups.storage.handing_on import Incident
from groups.wire.errors import RecordError

# -- What a board's panels show that otherwise a server computes: the figure of epochs, Kafka's metrics, the bytes of records.
#
# All of it is made of the incident's own pieces. Where names are hidden these are folded from redacted entries, and there are no bytes at all.

RECORDS_MOST: Final = 1_000
"""Records of one incident that have their bytes in its file, the first ones: a second of laying out, a tenth of a megabyte."""

RECORD_BYTES_MOST: Final = 4 * 1024
"""Of one of them: a larger one is for the inspector."""


def panels_of(timeline: Timeline, incident: Incident) -> dict[str, Any]:
    """The parts of a page's data by name."""
    parts: dict[str, Any] = {
        "epochs": figure(collect((piece.frame, piece.changes) for piece in incident.pieces)),
    }
    if (metrics := measured(incident.pieces)) is not None:
        parts["metrics"] = metrics
    if incident.redactor is None:
        parts |= dict(_bytes(timeline, incident))
    return parts


def _bytes(timeline: Timeline, incident: Incident) -> Iterator[tuple[str, dict[str, Any]]]:
    """For each piece, the bytes of its records by their sequence, as the API reports them."""
    topics = topic_names(timeline)
    before: dict[str, int] = {}
    left = RECORDS_MOST
    for piece in incident.pieces:
        panels: dict[str, Any] = {}
        for found in _records(timeline, piece):
            if not left:
                break
            left -= 1
            sequence = found.entry["sequence"]
            same = repr(identity(found.entry["payload"]))
            earlier = before.get(same)
            from_ = incident.stretch.first if earlier is None else earlier
            panels[str(sequence)] = inspected_record(found, timeline, earlier, from_, _inspected, topics)
            before[same] = sequence
        yield f"bytes-{piece.first}", panels


def _records(timeline: Timeline, piece: Piece) -> Iterator[Found]:
    for entry in piece.entries:
        if entry["kind"] != "record":
            continue
        try:
            found = found_of(entry, timeline.semantics)
        except (RecordError, TooLarge):
            continue
        if all(len(part or b"") <= RECORD_BYTES_MOST for part in (found.key, found.value)):
            yield found


def _inspected(asked: Asked) -> dict[str, Any]:
    return answer_to(asked, guesses=False)


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
        **asdict(facts),
        "problem": "",
        "summary": incident.summary,
        "worst": worst["sequence"] if worst else None,
        "opens": at,
        "troubles": troubles(incident.summary.get("findings") or ()),
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
