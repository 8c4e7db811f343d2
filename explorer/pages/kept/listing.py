"""The rows of the list: imports, and the timelines that belong to none, in one order.

A filter is about timelines. An import is listed if one of its groups passes, or if its own name is what was searched for.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db.models import BigIntegerField, Count, Exists, Max, Min, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.urls import reverse
from django.utils import timezone

from explorer.accounts.permissions import Action
from explorer.accounts.roles import Rights
from explorer.accounts.targets import Target
from explorer.pages.home.words import ago
from explorer.pages.imports.describing import order_of
from explorer.web.endpoint import BadRequest, choice, number, searched_for
from groups import storage
from groups.history.story.problems import LEVEL_MS
from groups.imports.lifecycle import queue_of
from groups.jobs.leases import waits_of
from groups.models import Import, Timeline
from groups.shown import or_title
from groups.storage.names import named
from groups.storage.writing import why_it_waits

ROWS_A_PAGE: Final = 100
"""Rows of one answer; the page asks for more as its reader comes near the end."""

GROUPS_MOST: Final = 500
"""Names of groups that a reader chooses from, those with most timelines; any other is found by its name."""

AUTHORS_MOST: Final = 500
"""Names of authors that a reader chooses from."""

SOURCES: Final = {
    Timeline.Source.IMPORT: "Import",
    Timeline.Source.LIVE: "Live group",
    Timeline.Source.SIMULATION: "Run",
    Timeline.Source.CASE_STUDY: "Case study",
}

CLOCKED: Final = (Timeline.Source.IMPORT, Timeline.Source.LIVE)
"""Sources whose times are times of day; the clock of a run begins with it."""

TROUBLES: Final = {"any": 0, "warning": LEVEL_MS, "critical": 2 * LEVEL_MS}
"""Least weight of a timeline (``Timeline.weight``) by the value of ``trouble``."""

SORTS: Final = ("newest", "gravest")


DAYS_MOST: Final = 365_000
"""A thousand years; a day before the year 1 is no date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a reader wants to see. ``from_ms``, ``until_ms``: milliseconds since 1970; the log has something between
    them, or a run was made then. ``days``: added within so many days."""

    q: str = ""
    source: str = ""
    group: str = ""
    author: str = ""
    trouble: str = "any"
    sort: str = "newest"
    from_ms: int | None = None
    until_ms: int | None = None
    days: int | None = None
    after: int = 0

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Asked:
        """``BadRequest`` names the part of the query that cannot be used, and what would be right."""
        asked = cls(
            q=searched_for(query),
            source=query.get("source", ""),
            group=query.get("group", ""),
            author=query.get("author", ""),
            trouble=query.get("trouble") or "any",
            sort=query.get("sort") or "newest",
            from_ms=_time(query, "from_ms"),
            until_ms=_time(query, "until_ms"),
            days=number(query, "days", 0, least=1) if query.get("days") else None,
            after=number(query, "after", 0),
        )
        if asked.source:
            choice(asked.source, "source", SOURCES)
        choice(asked.trouble, "trouble", TROUBLES)
        choice(asked.sort, "sort", SORTS)
        if asked.days is not None and asked.days > DAYS_MOST:
            raise BadRequest(f"days={asked.days} lies before all timelines.", field="days")
        return asked

    @property
    def narrows(self) -> bool:
        """Whether it asks for something that a search by name does not."""
        return bool(self.group or self.trouble != "any" or self.from_ms or self.until_ms)


def _time(query: Mapping[str, str], field: str) -> int | None:
    if not query.get(field):
        return None
    found = number(query, field, 0)
    try:
        datetime.fromtimestamp(found / 1000, UTC)
    except (OverflowError, ValueError, OSError) as error:
        raise BadRequest(f"{field}={found} is no time in milliseconds since 1970.", field=field) from error
    return found


def page_of(asked: Asked, rights: Rights | None = None, most: int = ROWS_A_PAGE) -> dict[str, Any]:
    """``rows``, at most ``most`` from ``after`` on, and ``matching``: how many there are in all. ``rights`` are the reader's."""
    imports, alone = _imports(asked), _timelines(asked).filter(imports__isnull=True)
    until = asked.after + most
    order = "weight" if asked.sort == "gravest" else "created"
    if asked.sort == "gravest":
        imports = imports.annotate(weight=Max("timelines__weight", default=0))
    found = heapq.merge(
        *(
            [(*row, kind) for row in rows.order_by(f"-{order}", "-pk").values_list(order, "pk")[:until]]
            for kind, rows in (("import", imports), ("timeline", alone))
        ),
        # By this alone: a database may order ids otherwise than Python does.
        key=lambda row: row[0],
        reverse=True,
    )
    keys = [(kind, pk) for _, pk, kind in found][asked.after : until]
    rows = _import_rows([pk for kind, pk in keys if kind == "import"], asked, rights) | _timeline_rows(
        [pk for kind, pk in keys if kind == "timeline"], asked.q, rights
    )
    return {
        "rows": [rows[key] for key in keys if key in rows],
        "after": asked.after,
        "matching": imports.count() + alone.count(),
    }


def group_names() -> list[str]:
    """The groups that have most timelines, by name."""
    counted = _kept().exclude(group="").values_list("group").annotate(count=Count("pk"))
    return sorted(group for group, _ in counted.order_by("-count", "group")[:GROUPS_MOST])


def author_names() -> list[str]:
    """The accounts that have made timelines or imports, by name."""
    made = Exists(Timeline.objects.filter(author=OuterRef("pk")))
    brought = Exists(Import.objects.filter(author=OuterRef("pk")))
    found = User.objects.filter(made | brought).order_by("username")
    return list(found.values_list("username", flat=True)[:AUTHORS_MOST])


def _kept() -> QuerySet[Timeline]:
    return Timeline.objects.exclude(source=Timeline.Source.CASE_STUDY)


def _timelines(asked: Asked, *, by_name: bool = True) -> QuerySet[Timeline]:
    found = Timeline.objects.filter(source=asked.source) if asked.source else _kept()
    if asked.q and by_name:
        found = found.filter(storage.matches(asked.q))
    if asked.group:
        found = found.filter(group=asked.group)
    if asked.author:
        found = found.filter(author__username=asked.author)
    if least := TROUBLES[asked.trouble]:
        found = found.filter(weight__gte=least)
    if asked.days is not None:
        found = found.filter(created__gte=timezone.now() - timedelta(days=asked.days))
    run = ~Q(source__in=CLOCKED)
    if asked.from_ms is not None:
        made = Q(created__gte=datetime.fromtimestamp(asked.from_ms / 1000, UTC))
        found = found.filter((run & made) | (~run & Q(summary__last_ms__gte=asked.from_ms)))
    if asked.until_ms is not None:
        made = Q(created__lte=datetime.fromtimestamp(asked.until_ms / 1000, UTC))
        found = found.filter((run & made) | (~run & Q(summary__first_ms__lte=asked.until_ms)))
    return found


def _imports(asked: Asked) -> QuerySet[Import]:
    found = Import.objects.all()
    if asked.source not in ("", Timeline.Source.IMPORT):
        return found.none()
    if asked.author:
        found = found.filter(author__username=asked.author)
    if asked.days is not None:
        found = found.filter(created__gte=timezone.now() - timedelta(days=asked.days))
    if not (asked.q or asked.narrows):
        return found
    passes = Exists(_timelines(asked).filter(imports=OuterRef("pk")))
    if not asked.q:
        return found.filter(passes)
    named_so = Q()
    for word in asked.q.split():
        named_so &= Q(title__icontains=word)
    if asked.narrows:
        named_so &= Q(Exists(_timelines(asked, by_name=False).filter(imports=OuterRef("pk"))))
    return found.filter(Q(passes) | named_so)


def _import_rows(
    ids: Iterable[str], asked: Asked, rights: Rights | None
) -> dict[tuple[str, str], dict[str, Any]]:
    own = {
        column: Cast(KeyTextTransform(column, "timelines__summary"), BigIntegerField())
        for column in ("first_ms", "last_ms")
    }
    found = (
        Import.objects.filter(pk__in=list(ids))
        .defer("report", "progress", "paths")
        .select_related("author")
        .annotate(
            groups=Count("timelines"),
            in_trouble=Count("timelines", filter=Q(timelines__weight__gte=LEVEL_MS)),
            weight=Max("timelines__weight", default=0),
            # JSON's null is no number.
            first_ms=Min(own["first_ms"], filter=~Q(timelines__summary__first_ms=None)),
            last_ms=Max(own["last_ms"], filter=~Q(timelines__summary__last_ms=None)),
        )
    )
    matching: dict[str, int] = {}
    if asked.q or asked.narrows:
        counted = _timelines(asked).filter(imports__in=list(found)).values_list("imports")
        matching = dict(counted.annotate(count=Count("pk")).order_by())
    rows = {}
    for one in found:
        gravest = one.timelines.defer("scenario").order_by(*order_of(one)).first()
        rows["import", one.pk] = {
            "kind": "import",
            "id": one.pk,
            "url": reverse("import", args=[one.pk]),
            "title": one.title,
            "source": SOURCES[Timeline.Source.IMPORT],
            "status": one.status,
            "problem": one.problem,
            "waits": waits_of(one.status, queue_of(one)),
            "headline": _headline(gravest) if gravest else "",
            "gravest": or_title(gravest.group, gravest.title) if gravest else "",
            "severity": one.weight // LEVEL_MS,
            "groups": one.groups,
            "in_trouble": one.in_trouble,
            "matching": matching.get(one.pk, 0) if asked.q or asked.narrows else None,
            "first_ms": one.first_ms,
            "last_ms": one.last_ms,
            **_made(one, Target(one.author_id), rights),
        }
    return rows


def _timeline_rows(
    ids: Iterable[str], q: str, rights: Rights | None
) -> dict[tuple[str, str], dict[str, Any]]:
    found = Timeline.objects.filter(pk__in=list(ids)).defer("scenario", "verdict", "packs")
    found = found.select_related("author") if q else found.defer("words").select_related("author")
    return {
        ("timeline", one.pk): {
            "kind": "timeline",
            "id": one.pk,
            "url": reverse("board", args=[one.pk]),
            "title": or_title(one.group, one.title),
            "group": one.group,
            "source": SOURCES[Timeline.Source(one.source)],
            "status": one.status,
            "problem": one.problem,
            "waits": why_it_waits(one.status, one.source, one.lease_owner),
            "headline": _headline(one),
            "found": storage.found_in(one, q) if q else [],
            "severity": one.weight // LEVEL_MS,
            "entries": one.last,
            "semantics": one.semantics,
            "seed": one.seed,
            "first_ms": one.summary.get("first_ms") if one.source in CLOCKED else None,
            "last_ms": one.summary.get("last_ms") if one.source in CLOCKED else None,
            **_made(one, Target(one.author_id, one.cluster_id), rights),
        }
        for one in found
    }


def _headline(timeline: Timeline) -> str:
    text = timeline.headline
    return str(named(text, timeline.topic_names)) if timeline.topic_names else text


def _made(one: Timeline | Import, target: Target, rights: Rights | None) -> dict[str, Any]:
    """When, by whom, and why the reader may not delete it; no author where a command or a worker has made it."""
    return {
        "created_ms": round(one.created.timestamp() * 1000),
        "ago": ago(timezone.now() - one.created),
        "author": one.author.get_username() if one.author else "",
        "not_deletable": rights.refused(Action.DELETE, target) if rights else "",
    }
