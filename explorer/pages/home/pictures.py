"""The case studies on the first page: by what happens in them, each with a picture of its stored timeline."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson
from django.core.cache import cache
from django.utils.safestring import SafeString

from explorer.figures.thumbnails import thumbnail
from groups import storage
from groups.history.frames.shapes import Frame
from groups.incidents.pieces import frames_at_moments
from groups.models import Timeline
from simulations.world import studies

PROPOSAL = re.compile(r"^kip(\d+)-")

REFERENCE = re.compile(r"KAFKA-\d+.*|.* KIP-\d+|The documented path.*")
"""A sentence that refers to what a newcomer has not read; the one after it describes what happens."""

SHOWN_FIRST: Final = (
    "kip848-basic",
    "kip848-six-partitions",
    "kip848-member-failure",
    "incident-rebalance-storm",
    "kip429-eager",
    "kip429-cooperative",
    "incident-slow-revocation",
    "incident-session-expiry",
    "incident-max-poll-interval",
    "incident-zombie-member",
    "kip341-two-owners",
    "kip848-migration",
)
"""The order in which they are understood; the others follow by name."""


KINDS: Final = {
    "A join": (
        "kip848-basic", "kip848-six-partitions", "kip848-client-side", "kip848-streams", "kip429-eager",
        "kip429-cooperative", "kip429-consumer", "released-basic", "released-six-partitions",
    ),
    "A failure": (
        "kip848-member-failure", "released-member-failure", "incident-session-expiry", "incident-rebalance-storm",
        "incident-static-churn", "incident-epoch-minus-two", "incident-absent-static-member", "released-fail-over",
        "released-static-replacement", "kip792-leader-throws", "incident-assignor-failure",
    ),
    "Reading stops": (
        "incident-slow-revocation", "incident-stuck-unrevoked", "incident-sync-never-sent",
        "incident-max-poll-interval", "released-assignor-tie",
    ),
    "Two owners": (
        "kip341-two-owners", "kip341-generation", "kip341-old-leader", "kip792-stale-owner", "kip792-generation",
        "kip792-leader-goes-on", "incident-zombie-member",
    ),
    "Upgrades": (
        "kip848-migration", "kip848-migration-back", "kip848-client-migration", "kip848-streams-migration",
        "kip429-upgrade", "kip429-streams-upgrade", "kip429-one-bounce",
        "released-brokers-roll", "released-feature-lowered",
    ),
    "Topics change": (
        "kip848-partition-added", "released-partition-added", "released-regex", "released-unresolved-regex",
        "incident-metadata-flapping",
    ),
}  # fmt: skip
"""What happens in a case study, by which the page is filtered; each is in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    id: str
    kind: str
    source: str
    title: str
    line: str
    picture: SafeString


def kinds_of(studies: Iterable[Timeline]) -> list[tuple[str, int]]:
    """The kinds that there are, each with its number of case studies."""
    there = {study.id for study in studies}
    counts = ((kind, len(there.intersection(ids))) for kind, ids in KINDS.items())
    return [(kind, count) for kind, count in counts if count]


def in_order(timelines: Iterable[Timeline]) -> list[Timeline]:
    return sorted(
        timelines,
        key=lambda study: (
            SHOWN_FIRST.index(study.id) if study.id in SHOWN_FIRST else len(SHOWN_FIRST),
            study.id,
        ),
    )


def card_of(timeline: Timeline) -> Card:
    found = PROPOSAL.match(timeline.id)
    incident = timeline.id.startswith("incident-")
    return Card(
        id=timeline.id,
        kind=next((kind for kind, ids in KINDS.items() if timeline.id in ids), ""),
        source=f"KIP-{found.group(1)}" if found else "Incident" if incident else "Kafka as released",
        title=timeline.title,
        line=_summary(timeline.id),
        picture=picture_of(timeline),
    )


def picture_of(timeline: Timeline) -> SafeString:
    """The timeline as a small SVG; computed once for each version of it."""
    try:
        key = f"thumbnail:{timeline.id}:{storage.version(timeline)}"
        svg = cache.get(key)
        if svg is None:
            svg = thumbnail(_frames(timeline), _cast(timeline))
            cache.set(key, svg, timeout=None)
    except storage.NotReady:
        svg = ""
    # The picture holds numbers and colour names alone; no text of the log reaches it.
    return SafeString(svg)


def _frames(timeline: Timeline) -> list[Frame]:
    """The frames at the moments of the first chunk: a case study has no other."""
    chunks = storage.chunks(timeline)
    found = storage.chunk_text(timeline, chunks[0].first) if chunks else None
    if found is None:
        return []
    chunk = orjson.loads(found[0])
    frames = frames_at_moments(chunk["frame"], chunk["changes"], chunk["moments"])
    return [frame for moment, frame in frames if moment["shape"] != "commit"]


def _cast(timeline: Timeline) -> list[str]:
    return [member["id"] for member in storage.summary(timeline).get("cast") or []]


@lru_cache(maxsize=64)
def _summary(name: str) -> str:
    """What happens, in the first words of the case study's summary."""
    try:
        summary = studies.load(name).summary or ""
    except KeyError:
        return ""
    parts = re.split(r"[;.:]\s|\.$", summary, maxsplit=3)
    return next((part for part in parts[:-1] if not REFERENCE.fullmatch(part)), parts[0])
