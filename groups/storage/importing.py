"""The rows of imported timelines: stored all at once, when every pack that they name is whole.

A log that begins with the very entries of a stored timeline continues it, under the same id: links carry sequences, and
those stay what they are. One that holds the same entries is that timeline. Any other overlap makes a new one, marked
as overlapping.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.models import TITLE_LENGTH_MOST, Import, Timeline
from groups.packs.listed_summary import listed_name, plain, read_verdict
from groups.shown import shown_name
from groups.storage.deleting import ROWS_AT_ONCE, collect
from groups.storage.searching import listed_columns
from groups.storage.writing import new_id

EARLIER_MOST: Final = 50_000
"""Stored timelines that an import is sent, the newest first: some megabytes that every task gets."""

OVERLAPS_MOST: Final = 5
"""Earlier timelines that one timeline is said to overlap with."""


def earlier(groups: Sequence[str] | None = None) -> dict[str, list[dict[str, Any]]]:
    """Stored timelines by group, for the folding tasks: ``[{"id", "entries", "digest"}]``."""
    stored = _stored()
    if groups is not None:
        stored = stored.filter(group__in=[listed_name(group) for group in groups])
    found: dict[str, list[dict[str, Any]]] = {}
    rows = stored.order_by("-created").values_list("pk", "group", "last", "digest")[:EARLIER_MOST]
    for pk, group, last, digest in rows:
        found.setdefault(group, []).append({"id": pk, "entries": last, "digest": digest})
    return found


def store(import_id: str, reports: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Make, continue or recognise the timelines that an import found; a row of its report for each."""
    author_id = Import.objects.filter(pk=import_id).values_list("author_id", flat=True).first()
    with transaction.atomic():
        known = _known([one["continues"] for one in reports if one["continues"]])
        spans = _spans({str(one["group"]) for one in reports})
        fresh: list[Timeline] = []
        longer: list[Timeline] = []
        report: list[dict[str, Any]] = []
        replaced: set[str] = set()
        for one in reports:
            old = known.pop(one["continues"], None) if one["continues"] else None
            if old is None:
                timeline = Timeline(
                    id=new_id(), source=Timeline.Source.IMPORT, created=timezone.now(), author_id=author_id
                )
                _fill(timeline, import_id, one)
                fresh.append(timeline)
                report.append(_reported(timeline, one) | _overlaps(one, spans))
            elif old.last == one["entries"]:
                report.append(_reported(old, one) | {"same_as": old.pk})
            else:
                before = old.last
                replaced.add(old.folder)
                _fill(old, import_id, one)
                longer.append(old)
                report.append(_reported(old, one) | {"continues": old.pk, "continues_after": before})
        Timeline.objects.bulk_create(fresh, batch_size=ROWS_AT_ONCE)
        for timeline in longer:
            timeline.save()
        _list(import_id, [row["id"] for row in report])
        transaction.on_commit(lambda: _clear({import_id, *replaced}))
    return report


def _stored() -> Any:
    return Timeline.objects.filter(
        source=Timeline.Source.IMPORT, index_place__isnull=False, fold_version=FOLD_VERSION
    )


def _known(timeline_ids: Sequence[str]) -> dict[str, Timeline]:
    found: dict[str, Timeline] = {}
    for at in range(0, len(timeline_ids), ROWS_AT_ONCE):
        found |= {row.pk: row for row in _stored().filter(pk__in=timeline_ids[at : at + ROWS_AT_ONCE])}
    return found


def _fill(timeline: Timeline, import_id: str, report: Mapping[str, Any]) -> None:
    group, incarnation = str(plain(report["group"])), report["incarnation"]
    name = shown_name(group)
    title = name if incarnation == 1 else f"{name} (created again, {incarnation})"
    headline = plain(report["headline"])
    timeline.title = title[:TITLE_LENGTH_MOST]
    timeline.group = listed_name(report["group"])
    timeline.protocol = str(headline["protocol"] or "")
    timeline.status = Timeline.Status.COMPLETE
    timeline.provenance = "inferred" if report.get("inferred") else ""
    timeline.summary = headline | {"offsets": report["offsets"]}
    timeline.verdict = b64decode(report["verdict"])
    columns = listed_columns({**headline, "verdict": read_verdict(timeline.verdict)})
    timeline.headline, timeline.weight = columns["headline"], columns["weight"]
    timeline.words = plain(report["words"])
    timeline.last = report["entries"]
    timeline.entry_format, timeline.fold_version = ENTRY_FORMAT, FOLD_VERSION
    timeline.index_place = list(report["index"])
    timeline.packs = [report["index"][0]]
    timeline.folder = import_id
    timeline.digest = report["digest"]


def _reported(timeline: Timeline, report: Mapping[str, Any]) -> dict[str, Any]:
    headline = report["headline"]
    row: dict[str, Any] = plain(
        {
            "id": timeline.pk,
            "group": report["group"],
            "incarnation": report["incarnation"],
            "protocol": headline["protocol"],
            "entries": report["entries"],
            "first_ms": headline["first_ms"],
            "last_ms": headline["last_ms"],
            "gaps": report["gaps"],
            "deleted": report["deleted"],
            "named": report["named"],
            "nameless": report["nameless"],
        }
    )
    return row


def _spans(groups: set[str]) -> dict[str, list[tuple[str, list[list[int | None]]]]]:
    """Stored timelines of these groups with the offsets that they span."""
    found: dict[str, list[tuple[str, list[list[int | None]]]]] = {}
    names = sorted({listed_name(group) for group in groups})
    for at in range(0, len(names), ROWS_AT_ONCE):
        some = _stored().filter(group__in=names[at : at + ROWS_AT_ONCE])
        for pk, group, summary in some.values_list("pk", "group", "summary"):
            found.setdefault(group, []).append((pk, summary.get("offsets") or []))
    return found


def _overlaps(
    report: Mapping[str, Any], spans: Mapping[str, list[tuple[str, list[list[int | None]]]]]
) -> dict[str, Any]:
    """Earlier timelines that hold some of the same offsets, though not the same entries from the beginning on."""
    group = listed_name(report["group"])
    found = [
        pk
        for pk, offsets in spans.get(group, ())
        if any(
            mine[0] == theirs[0] and mine[1] <= theirs[2] and theirs[1] <= mine[2]
            for mine in report["offsets"]
            for theirs in offsets
        )
    ]
    return {"overlaps": found[:OVERLAPS_MOST]} if found else {}


def _list(import_id: str, timeline_ids: Iterable[str]) -> None:
    through = Import.timelines.through
    rows = [through(import_id=import_id, timeline_id=pk) for pk in dict.fromkeys(timeline_ids)]
    through.objects.bulk_create(rows, batch_size=ROWS_AT_ONCE, ignore_conflicts=True)


def _clear(folders: Iterable[str]) -> None:
    for folder in folders:
        if folder:
            collect(folder)
