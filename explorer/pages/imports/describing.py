"""An import as its page and the API show it: the row, its timelines, and the ids that have no name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Case, When
from django.urls import reverse

from explorer.web.endpoint import number, searched_for
from explorer.web.times import time_element
from groups import storage
from groups.imports.lifecycle import GETTING_SPARK, can_be_repeated, queue_of, waits_for
from groups.jobs.leases import waits_of
from groups.models import Import, Timeline
from groups.packs.listed_summary import headline_text, listed_summary
from groups.pipeline.reading.recognising import READ
from groups.pipeline.topics.naming import SOURCE_TEXTS
from groups.shown import shown_name
from groups.storage.names import named_summary
from groups.storage.trouble_table import releases_why

GROUPS_A_PAGE = 100
"""Groups of one answer; the page asks for more."""

NAMELESS_MOST = 200
"""Ids without a name that are listed: each is a field that somebody would have to fill."""


def listed(found: Import) -> dict[str, Any]:
    """An import in a list."""
    return {
        "id": found.id,
        "title": found.title,
        "status": found.status,
        "problem": found.problem,
        "waits": waits_of(found.status, queue_of(found)),
        "created": found.created.isoformat(),
        "finished": found.finished.isoformat() if found.finished else None,
        "url": reverse("import", args=[found.id]),
        "bytes": size_of(found),
        "records": int((found.report.get("records") or {}).get("read", 0)),
        "groups": len((found.report or {}).get("timelines", ())),
        "span": span(found),
    }


def size_of(found: Import) -> int:
    """Bytes of the files that were read: one that repeats another, and one that is no log, hold nothing of it."""
    return sum(
        int(source["bytes"])
        for source in (found.progress or {}).get("sources", ())
        if source["kind"] in READ and not source.get("repeats")
    )


def described(found: Import) -> dict[str, Any]:
    """What the page that lists imports shows beyond that: when, and what happened in the group that had most."""
    span_ms = span(found)
    gravest = found.timelines.order_by(*order_of(found)).first()
    return {
        "created_ms": round(found.created.timestamp() * 1000),
        "created_shown": time_element(round(found.created.timestamp() * 1000)),
        "span_shown": time_element(*span_ms) if span_ms else "",
        "gravest": {
            "group": shown_name(gravest.group),
            "url": reverse("board", args=[gravest.id]),
            "headline": headline_text(gravest.in_short()),
        }
        if gravest
        else None,
    }


def detail(found: Import) -> dict[str, Any]:
    """Everything that the page shows of an import; of its groups the gravest."""
    report = found.report or {}
    reports = {timeline["id"]: timeline for timeline in report.get("timelines", ())}
    progress = found.progress or {}
    running = found.status in (Import.Status.WAITING, Import.Status.RUNNING)
    listed_groups = groups(found, {})
    return listed(found) | {
        "waits": waits_for(found),
        "repeatable": can_be_repeated(found),
        "stage": progress.get("stage", ""),
        "stages": progress.get("stages", []),
        # What was read so far while it runs; then what the files weigh that were read, as the list of imports shows it.
        "bytes": progress.get("bytes", 0) if running else size_of(found),
        "stuck": progress.get("stuck", "") if running else "",
        "remaining_s": progress.get("remaining_s") if running else None,
        "found": progress.get("found"),
        "sources": progress.get("sources", []),
        "waiting_groups": progress.get("groups", []) if running else [],
        "spark": {"ready": progress.get("stage") != GETTING_SPARK}
        if found.status == Import.Status.WAITING
        else None,
        "timelines": listed_groups["timelines"],
        "timelines_in_all": found.timelines.count(),
        "matching": listed_groups["matching"],
        "span": span(found),
        "again": again(reports.values()),
        "named": named_counts(reports.values()),
        "nameless": nameless(found, reports),
        "records": report.get("records") or {"read": 0, "decoded": 0, "skipped": []},
        "repeated": report.get("repeated", 0),
        "times": report.get("times", []),
        "begun_again": max(found.options.get("attempts", 0) - 1, 0),
        "finished_before": report.get("finished", 0),
        "engine": report.get("engine"),
        "log": report.get("log", []),
    }


def groups(found: Import, asked: Mapping[str, str]) -> dict[str, Any]:
    """A page of an import's groups, the gravest first.

    ``q``: words of a group (``storage.matches``). ``from_ms``, ``until_ms``: something of it lies between. ``after``: how many were
    shown before. ``BadRequest`` where a number is none.
    """
    report = found.report or {}
    rows = found.timelines.filter(storage.matches(searched_for(asked))).defer("scenario", "words")
    if asked.get("from_ms"):
        rows = rows.filter(summary__last_ms__gte=number(asked, "from_ms", 0))
    if asked.get("until_ms"):
        rows = rows.filter(summary__first_ms__lte=number(asked, "until_ms", 0))
    after = number(asked, "after", 0)
    reports = {timeline["id"]: timeline for timeline in report.get("timelines", ())}
    page = rows.order_by(*order_of(found))[after : after + GROUPS_A_PAGE]
    return {
        "matching": rows.count(),
        "timelines": [timeline_row(timeline, reports.get(timeline.id, {})) for timeline in page],
    }


def order_of(found: Import) -> tuple[Any, ...]:
    """The group that a sample is about, then the gravest (``problems.gravity``)."""
    leads = Case(When(group=found.options.get("lead") or "", then=0), default=1)
    return (leads, "-weight", "-last", "group", "id")


def span(found: Import) -> list[int] | None:
    """From when to when the import's timelines reach."""
    reports = [
        (timeline["first_ms"], timeline["last_ms"])
        for timeline in (found.report or {}).get("timelines", ())
        if timeline["first_ms"] is not None
    ]
    return [min(first for first, _ in reports), max(last for _, last in reports)] if reports else None


def again(reports: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many timelines were there before, went on, or share offsets with others."""
    rows = list(reports)
    return {
        "same": sum("same_as" in row for row in rows),
        "longer": sum("continues" in row for row in rows),
        "overlapping": sum("overlaps" in row for row in rows),
    }


def timeline_row(timeline: Timeline, reports: dict[str, Any]) -> dict[str, Any]:
    # Timelines of releases before packs have their whole summary in the row.
    summary = timeline.in_short() if "weight" in timeline.summary else listed_summary(timeline.summary)
    shown = named_summary(summary, timeline.topic_names)
    head = (shown["verdict"] or {}).get("headline") or {}
    releases = (head.get("figures") or {}).get("releases") or []
    return {
        "id": timeline.id,
        "url": reverse("board", args=[timeline.id]),
        "group": timeline.group,
        "title": timeline.title,
        "protocol": timeline.protocol or "simple",
        "status": timeline.status,
        "problem": timeline.problem,
        "entries": timeline.last,
        "first_ms": shown["first_ms"],
        "last_ms": shown["last_ms"],
        "gaps": len(shown["gaps"]),
        "verdict": shown["verdict"] or {"text": "", "clauses": []},
        "epochs": shown["epochs_ms"],
        "no_owner": shown["no_owner_ms"],
        "weight": shown["weight"],
        "releases": releases,
        "releases_why": releases_why(releases),
        "deleted": reports.get("deleted", False),
        "same_as": reports.get("same_as"),
        "continues": reports.get("continues"),
        "continues_after": reports.get("continues_after"),
        "overlaps": reports.get("overlaps") or [],
    }


def named_counts(reports: Any) -> list[dict[str, Any]]:
    """How many topic ids each kind of source named, in the page's words."""
    ids: dict[str, set[str]] = {}
    for timeline in reports:
        for topic in timeline.get("named", ()):
            ids.setdefault(topic["source"], set()).add(topic["id"])
    return [
        {"source": source, "says": SOURCE_TEXTS.get(source, source), "count": len(found)}
        for source, found in ids.items()
    ]


def nameless(imported: Import, reports: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Ids without a name, each with the timelines that show it and the name that a user gave it."""
    found: dict[str, dict[str, Any]] = {}
    waiting = [pk for pk, row in reports.items() if row.get("nameless")][:NAMELESS_MOST]
    for timeline in imported.timelines.filter(pk__in=waiting).order_by("created", "id"):
        for topic in reports[timeline.id]["nameless"]:
            row = found.get(topic["id"])
            if row is None:
                if len(found) >= NAMELESS_MOST:
                    continue
                row = found[topic["id"]] = {
                    "id": topic["id"],
                    "partitions": None if topic["highest"] is None else topic["highest"] + 1,
                    "suggestion": topic["suggestion"],
                    "groups": [],
                    "timelines": [],
                    "name": None,
                }
            row["groups"].append(timeline.group)
            row["timelines"].append(timeline.id)
            row["suggestion"] = row["suggestion"] or topic["suggestion"]
            row["name"] = row["name"] or timeline.topic_names.get(topic["id"])
    return list(found.values())
