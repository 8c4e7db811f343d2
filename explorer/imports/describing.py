"""An import as its page and the API tell it: the row, its timelines, and the ids that have no name."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from groups.logstore.headline import headline
from groups.models import Import, Timeline
from groups.pipeline.naming import SAYS
from groups.spark_ready import missing_packages
from groups.storage.names import named_summary

TIMELINES_MOST = 1000
"""Timelines of one answer, those with findings first; the page draws a window of them."""

NAMELESS_MOST = 200
"""Ids without a name that are told: each is a field that somebody would have to fill."""


def listed(found: Import) -> dict[str, Any]:
    """An import in a list."""
    return {
        "id": found.id,
        "title": found.title,
        "status": found.status,
        "problem": found.problem,
        "created": found.created.isoformat(),
        "finished": found.finished.isoformat() if found.finished else None,
        "url": reverse("import", args=[found.id]),
    }


def detail(found: Import) -> dict[str, Any]:
    """Everything that the page shows of an import."""
    report = found.report or {}
    told = {timeline["id"]: timeline for timeline in report.get("timelines", ())}
    stored = list(found.timelines.defer("scenario").order_by("created", "id"))
    rows = [timeline_row(timeline, told.get(timeline.id, {})) for timeline in stored]
    rows.sort(key=lambda row: (-row["weight"], -row["entries"], row["group"]))
    begun = {row["group"] for row in rows}
    progress = found.progress or {}
    return listed(found) | {
        "stage": progress.get("stage", ""),
        "stages": progress.get("stages", []),
        "sources": progress.get("sources", []),
        "waiting_groups": [group for group in progress.get("groups", ()) if group["group"] not in begun],
        "spark": {"ready": not missing_packages()} if found.status == Import.Status.WAITING else None,
        "timelines": rows[:TIMELINES_MOST],
        "timelines_in_all": len(rows),
        "named": named_counts(told.values()),
        "nameless": nameless(stored, told),
        "records": report.get("records") or {"read": 0, "decoded": 0, "skipped": []},
        "repeated": report.get("repeated", 0),
    }


def timeline_row(timeline: Timeline, told: dict[str, Any]) -> dict[str, Any]:
    # Timelines of releases before packs have their whole summary in the row.
    summary = timeline.summary if "weight" in timeline.summary else headline(timeline.summary)
    shown = named_summary(summary, timeline.topic_names)
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
        "deleted": told.get("deleted", False),
        "same_as": told.get("same_as"),
        "continues": told.get("continues"),
        "continues_after": told.get("continues_after"),
        "overlaps": told.get("overlaps") or [],
    }


def named_counts(told: Any) -> list[dict[str, Any]]:
    """How many topic ids each kind of source named, in the page's words."""
    ids: dict[str, set[str]] = {}
    for timeline in told:
        for topic in timeline.get("named", ()):
            ids.setdefault(topic["source"], set()).add(topic["id"])
    return [
        {"source": source, "says": SAYS.get(source, source), "count": len(found)}
        for source, found in ids.items()
    ]


def nameless(stored: list[Timeline], told: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Ids without a name, each with the timelines that show it and the name that a user gave it."""
    found: dict[str, dict[str, Any]] = {}
    for timeline in stored:
        for topic in told.get(timeline.id, {}).get("nameless", ()):
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
