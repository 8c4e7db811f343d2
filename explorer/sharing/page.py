"""An incident as one HTML page that needs nothing else: board, data, styles and script.

It plays from a ``file:`` address with no network, and nothing leaves it: its own policy names the one script and the one sheet
of styles by their hashes, and allows no connection. Its data are parts in gzip, each with a checksum.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, TypedDict

import orjson
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from explorer.pages.board.origin import Origin
from explorer.pages.board.views import SEMANTICS
from explorer.pages.timelines.answers import PROVENANCE
from explorer.sharing.bundle import script, styles
from explorer.sharing.fingerprint import fingerprint
from explorer.sharing.panels import panels_of
from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.history.story.problems import troubles
from groups.incidents.pieces import Piece, members_most
from groups.models import Timeline
from groups.places import VERSION
from groups.storage.handing_on import Incident

FORMAT: Final = 1
"""Of the page's parts; raised when an older script could not read them. (A page has its own script with it.)"""

MOMENTS_AS_TEXT: Final = 300
"""Events that stand in the page as text, for print and where no script runs: some pages of paper."""

CHECKSUM_PLACE: Final = mark_safe("<checksum>")
MANIFEST_PLACE: Final = mark_safe("<manifest>")
"""Filled in last. No name out of a log can stand for one of them, since its ``<`` is escaped."""

View = Literal["reader", "investigator"]


class Block(NamedTuple):
    """A part of the data, as it stands in the page."""

    name: str
    base64: str


class ManifestBlock(TypedDict):
    name: str
    sha256: str


class Manifest(TypedDict):
    """The list of a page's parts; ``page`` is the checksum of the page's own text."""

    format: int
    version: str
    made_ms: int
    view: View | None
    page: str
    blocks: list[ManifestBlock]


class TextMoment(NamedTuple):
    at: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The facts of a timeline that its page shows; of one whose names are hidden, none that names anything."""

    id: str
    title: str
    group: str
    protocol: str
    source: str
    semantics: str
    seed: int | None
    status: str
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """The share link by which a page is shown."""

    state_url: str
    until: str


def shown(timeline: Timeline, incident: Incident, hidden_id: str) -> Shown:
    hides = incident.redactor is not None
    return Shown(
        id=hidden_id if hides else timeline.id,
        title=incident.group if hides else timeline.title,
        group=incident.group,
        protocol=str(incident.summary.get("protocol") or timeline.protocol),
        source=timeline.source,
        semantics=timeline.semantics,
        seed=None if hides else timeline.seed,
        status=Timeline.Status.COMPLETE,
        last=incident.stretch.last,
    )


def detail_of(facts: Shown, incident: Incident) -> dict[str, Any]:
    """What the API tells of a timeline, of an incident."""
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
        "troubles": troubles(incident.summary.get("findings") or ()),
        "provenance": PROVENANCE[Timeline.Source(facts.source)],
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


def blocks_of(timeline: Timeline, facts: Shown, incident: Incident, view: View) -> list[Block]:
    """The data of a page. Readers are shown neither requests nor records, so there are none in theirs."""
    parts: dict[str, Any] = {"timeline": detail_of(facts, incident)}
    for piece in incident.pieces:
        parts[f"chunk-{piece.first}"] = _chunk(piece)
        if view == "investigator":
            parts[f"entries-{piece.first}"] = piece.entries
    parts |= {f"digest-{of}": answer for of, answer in incident.digests.items()}
    if view == "investigator":
        parts |= panels_of(timeline, incident)
    return [Block(name, _packed(value)) for name, value in parts.items()]


def page_of(
    facts: Shown,
    incident: Incident,
    blocks: Sequence[Block],
    *,
    view: View,
    made: datetime,
    link: Link | None = None,
) -> bytes:
    """The page. ``made`` is the time that it tells as that of its making."""
    code, sheet = script(), styles()
    text: str = render_to_string(
        "sharing/incident.html",
        {
            "incident": True,
            "timeline": facts,
            "origin": origin_of(facts),
            "hidden": incident.redactor is not None,
            "view": view,
            "clauses": (incident.summary.get("verdict") or {}).get("clauses", []),
            "semantics_means": SEMANTICS.get(facts.semantics, ""),
            "policy": policy(code, sheet, connects=link is not None),
            "styles": as_is(sheet),
            "script": as_is(code),
            "blocks": blocks,
            "made": _made(facts, incident, made),
            "link": link,
            "checksum_place": CHECKSUM_PLACE,
            "manifest_place": MANIFEST_PLACE,
            **_moments(incident),
        },
    )
    manifest = Manifest(
        format=FORMAT,
        version=VERSION,
        made_ms=int(made.timestamp() * 1000),
        view="reader" if view == "reader" else None,
        page=fingerprint(text),
        blocks=[ManifestBlock(name=block.name, sha256=_sha256(block.base64)) for block in blocks],
    )
    told = orjson.dumps(manifest).decode()
    text = text.replace(CHECKSUM_PLACE, _sha256(told), 1).replace(MANIFEST_PLACE, told, 1)
    return text.encode()


def policy(code: str, sheet: str, *, connects: bool) -> str:
    """What the page may do: run its one script, use its one sheet, and, behind a link, ask whether the link is still open."""
    parts = {
        "default-src": "'none'",
        "script-src": _source(code),
        "style-src": _source(sheet),
        # Widths of spans and places of chips are written as attributes; nothing that a style names may be fetched.
        "style-src-attr": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if connects:
        parts["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in parts.items())


def origin_of(facts: Shown) -> Origin:
    says = {
        Timeline.Source.CASE_STUDY: "Simulated",
        Timeline.Source.SIMULATION: "Simulated",
        Timeline.Source.IMPORT: "From a log",
        Timeline.Source.LIVE: "Live, until it was shared",
    }[Timeline.Source(facts.source)]
    return Origin(says=says, title="What this incident was made of.")


def as_is(text: str) -> SafeString:
    """Our own script and styles, in which nothing ends the element (``bundle``)."""
    return mark_safe(text)  # noqa: S308


def _made(facts: Shown, incident: Incident, made: datetime) -> str:
    stretch = incident.stretch
    return (
        f"Entries {stretch.first:,} to {stretch.last:,} of timeline {facts.id}, as Rebalance Explorer {VERSION} "
        f"told them on {made.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    )


def _moments(incident: Incident) -> dict[str, Any]:
    moments = [moment for piece in incident.pieces for moment in piece.moments]
    clock = bool(moments) and moments[0]["at_ms"] >= CLOCK_FROM_MS
    first_ms = moments[0]["at_ms"] if moments else 0
    told = [
        TextMoment(_when(moment["at_ms"], first_ms, clock=clock), moment["says"])
        for moment in moments[:MOMENTS_AS_TEXT]
    ]
    return {"moments": told, "moments_left": max(0, len(moments) - MOMENTS_AS_TEXT)}


CLOCK_FROM_MS: Final = 86_400_000 * 365
"""Later times are those of a clock, earlier ones seconds of a simulation (as in ``static/js/times.js``)."""


def _when(at_ms: int, first_ms: int, *, clock: bool) -> str:
    if clock:
        return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M:%S.%f}"[:-3]
    return f"{(at_ms - first_ms) / 1000:.1f} s"


def _chunk(piece: Piece) -> dict[str, Any]:
    return {
        "first": piece.first,
        "last": piece.last,
        "frame": piece.frame,
        "changes": piece.changes,
        "moments": piece.moments,
    }


def _packed(value: Any) -> str:
    return base64.b64encode(gzip.compress(orjson.dumps(value), compresslevel=9, mtime=0)).decode()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
