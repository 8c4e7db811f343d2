"""The page of a timeline: the board's frame, its facts, and the chunk that it opens with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from explorer.pages.board.origin import origin_of
from explorer.pages.home.pictures import in_order
from explorer.pages.lessons.listing import of_studies
from explorer.pages.timelines.timeline_api import detail_of
from explorer.web.inlined import inlined
from groups import storage
from groups.models import Timeline
from groups.packs.listed_summary import headline_clauses
from groups.shown import nameless_advice
from groups.storage.handing_on import ROWS_MEMBERS_MOST, ROWS_PARTITIONS_MOST, partitions_most
from simulations.world import studies

# -- What a case study is about, and what to look at after it: a short way for anyone who is new, else the order of understanding.

PATH: Final = {
    "kip848-basic": "Three members join, one after another",
    "kip848-member-failure": "A member dies",
    "incident-slow-revocation": "One member blocks the others",
}
"""The studies that somebody new plays one after another: the epochs, what a session timeout costs, who waits for whom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    title: str
    url: str


def next_study(timeline: Timeline) -> Next | None:
    """The path's next study where this is one of it; after the last one a log of a real broker.

    Nothing after what is no case study.
    """
    if timeline.source != Timeline.Source.CASE_STUDY:
        return None
    others = in_order(Timeline.objects.filter(source=Timeline.Source.CASE_STUDY).only("id", "title"))
    titles = {study.id: study.title for study in others}
    if timeline.id in PATH:
        titles = {study: title for study, title in PATH.items() if study in titles}
    ids = list(titles)
    after = ids[ids.index(timeline.id) + 1 :] if timeline.id in ids else ids
    if not after:
        return Next(title="A log of a real broker", url=f"{reverse('import-new')}#samples")
    return Next(title=titles[after[0]], url=f"{reverse('board', args=[after[0]])}?play=1")


def about(timeline: Timeline) -> str:
    """A case study's summary; nothing of another timeline."""
    if timeline.source != Timeline.Source.CASE_STUDY or timeline.id not in studies.names():
        return ""
    return studies.load(timeline.id).summary or ""


INLINED_BYTES_MOST = 400_000
"""A chunk up to this size comes within the page (a tenth of it on the wire); a larger one is fetched separately."""

FROM_KAFKA = (Timeline.Source.IMPORT, Timeline.Source.LIVE)
"""Sources whose groups are a broker's."""

SEMANTICS = {
    "kip": "The rules of the proposals as they were written.",
    "kafka": "The rules of Apache Kafka as released.",
}


@require_safe
def board(request: HttpRequest, timeline_id: str) -> HttpResponse:
    try:
        timeline = storage.get(timeline_id)
        detail = detail_of(timeline)
        first = _opening_chunk(timeline, detail, request.GET.get("at", ""))
        chunk = storage.chunk_text(timeline, first)[0] if first is not None else b"null"  # type: ignore[index]
    except storage.NoSuchTimeline as error:
        raise Http404(str(error)) from error
    except storage.NotReady as error:
        response = render(request, "board/not_ready.html", {"says": str(error)}, status=503)
        response["Retry-After"] = "1"
        return response
    except storage.CannotOpen as error:
        context = {"says": str(error), "heading": "This timeline cannot be read now", "again_s": 30}
        return render(request, "board/not_ready.html", context, status=503)
    within = len(chunk) <= INLINED_BYTES_MOST
    version = detail["version"]
    return render(
        request,
        "board/board.html",
        {
            "timeline": timeline,
            "origin": origin_of(timeline, chunk),
            "nameless": nameless_advice(timeline.group) if timeline.source in FROM_KAFKA else "",
            "headline": headline_clauses(detail["summary"]),
            "semantics_means": SEMANTICS.get(timeline.semantics, ""),
            "timeline_data": inlined("timeline-data", orjson.dumps(detail)),
            "chunk_data": inlined("chunk-data", chunk if within else b"null"),
            "chunk_url": None
            if within
            else f"{reverse('api-chunk', args=[timeline.id, first])}?as=lines&v={version}",
            "is_crowd": _is_crowd(detail),
            "next_study": next_study(timeline),
            "lesson_url": _lesson_url(timeline),
            "about": about(timeline),
            "notes_count": timeline.notes.count(),
        },
    )


def _lesson_url(timeline: Timeline) -> str | None:
    """The lesson about this case study."""
    name = of_studies().get(timeline.id) if timeline.source == Timeline.Source.CASE_STUDY else None
    return reverse("lesson", args=[name]) if name else None


def opening(timeline: Timeline, worst: int | None) -> int:
    """The sequence that the page opens with where its address names none: an import at its worst moment."""
    if timeline.status == Timeline.Status.RUNNING:
        return timeline.last
    if timeline.source == Timeline.Source.IMPORT:
        return timeline.last if worst is None else worst
    return 0


def _is_crowd(detail: dict[str, Any]) -> bool:
    """Whether the page will import what draws a crowd, once it has seen that there is one."""
    partitions = partitions_most(detail["summary"])
    return bool(detail["members_most"] > ROWS_MEMBERS_MOST or partitions > ROWS_PARTITIONS_MOST)


def _opening_chunk(timeline: Timeline, detail: dict[str, Any], at: str) -> int | None:
    """The first sequence of the chunk that the page opens with."""
    chunks = detail["chunks"]
    if not chunks:
        return None
    if at.isascii() and at.isdigit() and len(at) <= 15:
        wanted = int(at)
    else:
        wanted = opening(timeline, detail["worst"])
    holding = [chunk["first"] for chunk in chunks if chunk["first"] <= max(wanted, 1)]
    return int(holding[-1] if holding else chunks[0]["first"])
