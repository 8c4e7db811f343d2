"""The first page, and the help page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe

from explorer.pages.home import pictures
from explorer.pages.kept.listing import Asked, page_of
from explorer.pages.lessons.listing import line_of, of_terms
from explorer.web.glossary import terms
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.story.problems import LEVEL_MS
from groups.history.words import counted
from groups.models import Timeline
from simulations import courses

# -- The way of somebody who has never seen a rebalance: the lessons of the first course, and then a real log.


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """What to look at, and how long it takes or what it teaches."""

    title: str
    teaches: str
    url: str
    lesson: str | None = None
    """Its name, by which the browser knows whether it was done."""


def path_of() -> list[Station]:
    """The lessons of the first course, then an incident, then a log of a real broker."""
    first, *_, incidents = courses.courses()
    stations = [
        Station(title=line["title"], teaches=f"{line['minutes']} min", url=line["url"], lesson=name)
        for name in (*first.lessons, incidents.lessons[0])
        for line in (line_of(name),)
    ]
    return [
        *stations,
        Station(
            title="A log of a real broker",
            teaches="a sample",
            url=f"{reverse('import-new')}#samples",
        ),
    ]


RECENT_MOST = 6
"""Imports and timelines listed on the first page; the page *Timelines* lists all."""

STUDIES_FIRST = 12
"""Case studies that are shown before all are asked for."""

TROUBLED_MOST = 5
"""Live groups in trouble on the first page; *What is wrong* lists all."""


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    studies = pictures.in_order(Timeline.objects.filter(source=Timeline.Source.CASE_STUDY))
    recent = page_of(Asked(), most=RECENT_MOST)
    context: dict[str, Any] = {
        "cards": [pictures.card_of(study) for study in studies],
        "kinds": pictures.kinds_of(studies),
        "first": STUDIES_FIRST,
        **_live(),
        "recent": [row | {"fact": _fact(row)} for row in recent["rows"]],
        "recent_more": recent["matching"] - len(recent["rows"]),
        "import_url": _import_url(),
        "path": path_of(),
        # Asked for once the page is, so that the lesson has been played when somebody presses it.
        "first_lesson": courses.names()[0],
        "course_count": len(courses.courses()),
    }
    return render(request, "home/home.html", context)


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(
        request,
        "help/help.html",
        {"glossary": [(word, meaning, of_terms().get(word)) for word, meaning in terms().items()]},
    )


def _live() -> dict[str, Any]:
    """How many groups are watched, and those in trouble, the gravest first."""
    watched = WatchedGroup.objects.exclude(condition="deleted")
    troubled = Timeline.objects.filter(pk__in=watched.values("timeline"), weight__gte=LEVEL_MS)
    return {
        "watched": watched.count(),
        "clusters": Cluster.objects.count(),
        "troubled_count": troubled.count(),
        "troubled": troubled.order_by("-weight", "pk").only("id", "group", "headline", "weight")[
            :TROUBLED_MOST
        ],
    }


def _fact(row: dict[str, Any]) -> str:
    if row["status"] != Timeline.Status.COMPLETE:
        return str(row["status"])
    if row["kind"] == "import":
        return f"{row['in_trouble']:,} of {counted(row['groups'], 'group')} in trouble"
    if row["seed"] is not None:
        # Two runs of one scenario differ by whose rules they follow, or by the seed.
        return f"{row['semantics']}, seed {row['seed']}"
    return f"{row['entries']:,} {'entry' if row['entries'] == 1 else 'entries'}"


def _import_url() -> str | None:
    try:
        return reverse("import-new")
    except NoReverseMatch:
        return None
