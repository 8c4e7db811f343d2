"""The case studies on the first page: in sections, with a picture of the stored timeline where a section has pictures."""

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
from groups.history.frames.changes import Change, apply
from groups.history.frames.shapes import Frame
from groups.models import Timeline
from simulations.world import studies

PROPOSAL = re.compile(r"^kip(\d+)-")

SHOWN_FIRST = (
    "kip848-basic",
    "kip848-six-partitions",
    "kip848-member-failure",
    "kip848-partition-added",
    "kip848-migration",
    "kip429-eager",
    "kip429-cooperative",
    "kip429-upgrade",
    "kip792-stale-owner",
    "kip341-two-owners",
    "incident-session-expiry",
    "incident-max-poll-interval",
    "incident-zombie-member",
    "released-basic",
    "released-six-partitions",
)
"""The order in which they are understood; the others follow by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """``prefix`` begins the ids of its case studies; one with ``pictures`` is cards, the others are lists."""

    prefix: str
    title: str
    says: str
    pictures: bool = False


SECTIONS: Final = (
    Section(
        prefix="kip848-",
        title="KIP-848, the proposal",
        says="Its own examples, compared with its tables row by row",
        pictures=True,
    ),
    Section(
        prefix="kip429-",
        title="KIP-429, cooperative rebalancing",
        says="The classic protocol, eager and cooperative, and the way from one to the other",
    ),
    Section(
        prefix="incident-",
        title="Incidents",
        says="What goes wrong in practice, and what to look for",
    ),
    Section(
        prefix="kip792-",
        title="KIP-792, the generation in the subscription",
        says="A stale claim, and what tells that it is one",
    ),
    Section(
        prefix="kip341-",
        title="KIP-341, sticky user data",
        says="Two owners after a missed rebalance, and the cure",
    ),
    Section(
        prefix="released-",
        title="Kafka as released",
        says="The same and more, by the rules of Kafka 4.3",
    ),
)
"""In the order of the page. A case study that none of them names stands in the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    id: str
    proposal: str
    title: str
    line: str
    picture: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    section: Section
    cards: list[Card]


def in_sections(studies: Iterable[Timeline]) -> list[Filled]:
    """Sections with their cards; an empty one is left out."""
    of: dict[str, list[Timeline]] = {section.prefix: [] for section in SECTIONS}
    for study in studies:
        prefix = next((prefix for prefix in of if study.id.startswith(prefix)), SECTIONS[-1].prefix)
        of[prefix].append(study)
    return [
        Filled(
            section=section,
            cards=[card_of(study, picture=section.pictures) for study in of[section.prefix]],
        )
        for section in SECTIONS
        if of[section.prefix]
    ]


def in_order(timelines: Iterable[Timeline]) -> list[Timeline]:
    return sorted(
        timelines,
        key=lambda study: (
            SHOWN_FIRST.index(study.id) if study.id in SHOWN_FIRST else len(SHOWN_FIRST),
            study.id,
        ),
    )


def card_of(timeline: Timeline, *, picture: bool = True) -> Card:
    found = PROPOSAL.match(timeline.id)
    return Card(
        id=timeline.id,
        proposal=f"KIP-{found.group(1)}" if found else "Kafka as released",
        title=timeline.title,
        line=_summary(timeline.id),
        picture=picture_of(timeline) if picture else SafeString(""),
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
    frame: Frame = chunk["frame"]
    changes: list[Change] = chunk["changes"]
    frames: list[Frame] = []
    applied = 0
    for moment in chunk["moments"]:
        upto = applied
        while upto < len(changes) and changes[upto]["sequence"] <= moment["sequence"]:
            upto += 1
        frame = apply(frame, changes[applied:upto])
        applied = upto
        if moment["shape"] != "commit":
            frames.append(frame)
    return frames


def _cast(timeline: Timeline) -> list[str]:
    return [member["id"] for member in storage.summary(timeline).get("cast") or []]


@lru_cache(maxsize=64)
def _summary(name: str) -> str:
    """What happens, in the first words of the case study's summary."""
    try:
        summary = studies.load(name).summary or ""
    except KeyError:
        return ""
    return re.split(r"[;.:]\s|\.$", summary, maxsplit=1)[0]
