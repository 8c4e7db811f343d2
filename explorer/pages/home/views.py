"""The first page, and the help page."""

from __future__ import annotations

from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from explorer.pages.home import pictures
from explorer.pages.home.path import path_of
from explorer.pages.home.words import ago
from explorer.pages.lessons.listing import of_terms
from explorer.pages.timelines.answers import detail_of
from explorer.web.glossary import terms
from explorer.web.inlined import inlined
from explorer.web.times import stamp
from groups import storage
from groups.models import Timeline
from groups.packs.listed_summary import headline_text
from groups.shown import or_title
from simulations import courses

SHOWCASE = "kip848-basic"
"""The case study that plays on the first page."""

RECENT_MOST = 30
"""Timelines listed on the first page; the API lists more."""

SOURCES = {
    Timeline.Source.CASE_STUDY: "Case study",
    Timeline.Source.SIMULATION: "Simulated",
    Timeline.Source.IMPORT: "Imported",
    Timeline.Source.LIVE: "Live",
}


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    studies = pictures.in_order(Timeline.objects.filter(source=Timeline.Source.CASE_STUDY))
    others = Timeline.objects.exclude(source=Timeline.Source.CASE_STUDY).defer("scenario")
    recent = list(others.order_by("-created")[:RECENT_MOST])
    context: dict[str, Any] = {
        "sections": pictures.in_sections(studies),
        "recent": [_row(timeline) for timeline in recent],
        "recent_more": max(0, others.count() - len(recent)) if len(recent) == RECENT_MOST else 0,
        "import_url": _import_url(),
        "path": path_of(),
        # Asked for once the page stands, so that the lesson has been played when somebody presses it.
        "first_lesson": courses.names()[0],
        "course_count": len(courses.courses()),
    }
    showcase = next((study for study in studies if study.id == SHOWCASE), studies[0] if studies else None)
    if showcase is not None:
        context |= _showcase(showcase)
    return render(request, "home/home.html", context)


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "help/help.html",
        {"glossary": [(word, meaning, of_terms().get(word)) for word, meaning in terms().items()]},
    )


def _showcase(timeline: Timeline) -> dict[str, Any]:
    """The playing board's data; nothing while the case study is being prepared anew."""
    try:
        detail = detail_of(timeline)
        found = storage.chunk_text(timeline, detail["chunks"][0]["first"]) if detail["chunks"] else None
    except storage.NotReady:
        return {}
    if found is None:
        return {}
    return {
        "showcase": timeline,
        "timeline_data": inlined("timeline-data", orjson.dumps(detail)),
        "chunk_data": inlined("chunk-data", found[0]),
    }


def _row(timeline: Timeline) -> dict[str, Any]:
    summary = storage.describe(timeline)["summary"]
    gaps = len(summary.get("gaps") or [])
    if timeline.status != Timeline.Status.COMPLETE:
        fact = timeline.status
    elif gaps:
        fact = f"{gaps} gap{'s' if gaps > 1 else ''}"
    elif timeline.seed is not None:
        # Two runs of one scenario differ by whose rules they follow, or by the seed.
        fact = f"{timeline.semantics}, seed {timeline.seed}"
    else:
        fact = f"{timeline.last:,} entries"
    return {
        "id": timeline.id,
        "title": or_title(timeline.group, timeline.title),
        "source": SOURCES[Timeline.Source(timeline.source)],
        "headline": headline_text(summary) or "Nothing is known yet.",
        "fact": fact,
        "ago": ago(timezone.now() - timeline.created),
        "stamp": stamp(timeline.created),
    }


def _import_url() -> str | None:
    try:
        return reverse("import-new")
    except NoReverseMatch:
        return None
