"""The cards of the case studies: what the proposal is, and a picture made of the stored timeline."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import orjson
from django.core.cache import cache
from django.utils.safestring import SafeString, mark_safe

from explorer.figures.thumbnails import thumbnail
from groups import storage
from groups.history.changes import apply
from groups.models import Timeline

PROPOSAL = re.compile(r"^kip(\d+)-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    id: str
    proposal: str
    title: str
    line: str
    picture: SafeString


def card_of(timeline: Timeline) -> Card:
    found = PROPOSAL.match(timeline.id)
    proposal = f"KIP-{found.group(1)}" if found else "Kafka"
    title, line = _words(timeline.title)
    return Card(id=timeline.id, proposal=proposal, title=title, line=line, picture=picture_of(timeline))


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
    return mark_safe(svg)  # noqa: S308


def _frames(timeline: Timeline) -> list[dict[str, Any]]:
    """The frames at the moments of the first chunk: a case study has no other."""
    chunks = storage.chunks(timeline)
    found = storage.chunk_text(timeline, chunks[0].first) if chunks else None
    if found is None:
        return []
    chunk = orjson.loads(found[0])
    frame, changes, frames = chunk["frame"], chunk["changes"], []
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
    return [member["id"] for member in timeline.summary.get("cast") or []]


def _words(title: str) -> tuple[str, str]:
    """A title in two: what stands before the colon, and what behind it."""
    head, colon, rest = title.partition(":")
    return (head.strip(), rest.strip()) if colon else (title, "")
