"""The report of a timeline: one page to print, and the same as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from explorer.figures.thumbnails import thumbnail
from explorer.pages.forks.starting import tree_of
from explorer.pages.home.pictures import picture_of
from explorer.pages.timelines.notes import ShownNote, shown_notes
from explorer.web.endpoint import shown_on_a_page
from groups import storage
from groups.exporting import fresh_key
from groups.history.verdict.rebalances import RebalanceRow, rebalances_of
from groups.history.words import CLOCK_LEAST_MS, duration, time_words
from groups.incidents.pieces import frames_at_moments
from groups.models import Note, Timeline
from groups.storage.handing_on import CannotHandOn, incident
from groups.terminal import page_text
from simulations.models import RemedySearch

REBALANCES_MOST: Final = 30
"""Rows of the table; a report is read, and the page of rebalances has all of them."""

FINDINGS_MOST: Final = 12
BRANCHES_MOST: Final = 20

DAY_MS: Final = 24 * 3_600_000

SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~])")
MENTION: Final = re.compile(r"(?<!\w)@(?=\w)")


class Rebalance(NamedTuple):
    """A row of the table, in words."""

    sequence: int
    epoch: int | None
    at: str
    why: str
    who: str
    took: str
    moved: int
    interrupted: str


class Found(NamedTuple):
    """A finding with its advice: ``text`` is what the records show."""

    sequence: int
    text: str
    severity: str
    certain: bool
    causes: tuple[str, ...]
    look_at: tuple[str, ...]


class Remedy(NamedTuple):
    name: str
    outcome: str
    not_read: str


class Report(NamedTuple):
    group: str
    period: str
    headline: str
    figures: tuple[tuple[str, str], ...]
    story: str
    picture: SafeString
    rebalances: tuple[Rebalance, ...]
    rebalances_more: int
    findings: tuple[Found, ...]
    findings_more: int
    not_shown: tuple[str, ...]
    """What the log cannot show."""
    branches: tuple[tuple[str, str], ...]
    """Ids and titles."""
    remedies: tuple[Remedy, ...]
    notes: tuple[ShownNote, ...]
    entries: int


@require_http_methods(["GET", "HEAD"])
def show(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """The page; with ``format=md`` its Markdown; with ``notes=1`` either has the notes; with ``names=hidden`` pseudonyms, and leads nowhere."""
    timeline = shown_on_a_page(storage.get, timeline_id)
    kind = request.GET.get("format", "html")
    if kind not in {"html", "md"}:
        message = f"format={kind[:40]!r} is unknown; there are html and md."
        return HttpResponse(message, content_type="text/plain; charset=utf-8", status=400)
    hidden, notes = request.GET.get("names") == "hidden", request.GET.get("notes") == "1"
    try:
        report = (report_without_names if hidden else report_of)(timeline, notes=notes)
    except CannotHandOn as error:
        return HttpResponse(str(error), content_type="text/plain; charset=utf-8", status=409)
    except storage.NotReady as error:
        response = render(request, "board/not_ready.html", {"says": str(error)}, status=503)
        response["Retry-After"] = "1"
        return response
    if kind == "md":
        response = HttpResponse(
            markdown(report, "" if hidden else request.build_absolute_uri(f"/t/{timeline.id}")),
            content_type="text/markdown; charset=utf-8",
        )
        response["Content-Disposition"] = (
            f'attachment; filename="report-{"without-names" if hidden else timeline.id}.md"'
        )
        return response
    context = {"timeline": timeline, "report": report, "hidden": hidden, "notes": notes}
    return render(request, "board/report.html", context)


def report_of(timeline: Timeline, *, notes: bool = False) -> Report:
    tree = tree_of(timeline)[:BRANCHES_MOST]
    return _report(
        storage.describe(timeline, whole=True)["summary"],
        timeline.last,
        group=timeline.group or timeline.title,
        picture=picture_of(timeline) if timeline.last else SafeString(""),
        branches=tuple((one["id"], one["title"]) for one in tree if one["id"] != timeline.id),
        remedies=tuple(_remedies(timeline)),
        notes=tuple(shown_notes(timeline)) if notes else (),
    )


def report_without_names(timeline: Timeline, *, notes: bool = False) -> Report:
    """Made of the incident as it is handed on with names hidden; branches and remedies, which users name, are left out."""
    found = incident(timeline, key=fresh_key())
    moments = (frames_at_moments(piece.frame, piece.changes, piece.moments) for piece in found.pieces[:1])
    frames = [frame for some in moments for moment, frame in some if moment["shape"] != "commit"]
    cast = [member["id"] for member in found.summary.get("cast") or ()]
    # As ``picture_of``: a picture has no text of the log.
    picture = SafeString(thumbnail(frames, cast))
    return _report(
        found.summary,
        found.stretch.last,
        group=found.group,
        picture=picture,
        notes=tuple(shown_notes(timeline, found.stretch, found.redactor)) if notes else (),
    )


def _report(
    summary: Mapping[str, Any],
    entries: int,
    *,
    group: str,
    picture: SafeString,
    branches: tuple[tuple[str, str], ...] = (),
    remedies: tuple[Remedy, ...] = (),
    notes: tuple[ShownNote, ...] = (),
) -> Report:
    verdict = summary.get("verdict") or {}
    first, last = summary.get("first_ms"), summary.get("last_ms") or 0
    dated = first is not None and (first >= CLOCK_LEAST_MS or last - first > DAY_MS)
    known = summary.get("epochs") or (), summary.get("findings") or ()
    rows = rebalances_of(*known, entries, last)
    findings = [one for one in summary.get("findings") or () if one.get("look_at")]
    findings.sort(key=lambda one: (one.get("severity") == "harmless", one.get("rank", 200)))
    return Report(
        group=group,
        period=""
        if first is None
        else f"{time_words(first, dated=dated)} to {time_words(last, dated=dated)}",
        headline=(verdict.get("headline") or {}).get("text") or "What happened is not known yet.",
        figures=tuple(_figures(verdict.get("headline") or {})),
        story=verdict.get("text", ""),
        picture=picture,
        rebalances=tuple(_row(one) for one in rows[:REBALANCES_MOST]),
        rebalances_more=max(0, len(rows) - REBALANCES_MOST),
        findings=tuple(_found(one) for one in findings[:FINDINGS_MOST]),
        findings_more=max(0, len(findings) - FINDINGS_MOST),
        not_shown=tuple(
            f"{one['title']}: not without {' and '.join(one['lacks'])}"
            for one in summary.get("cannot_tell") or ()
        ),
        branches=branches,
        remedies=remedies,
        notes=notes,
        entries=entries,
    )


def _figures(headline: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    figures = headline.get("figures")
    if not figures:
        return
    if figures["since_ms"] is not None:
        yield ("Since" if figures["still"] else "From"), time_words(figures["since_ms"])
    if figures["unread"]:
        of = f" of {figures['partitions']}" if figures["partitions"] else ""
        yield "Unread", f"{figures['unread']}{of}"
    if figures["longest_ms"]:
        yield "Longest wait", duration(figures["longest_ms"])
    if figures["still"] is not None:
        yield "Still so", "yes" if figures["still"] else "no"


def _row(one: RebalanceRow) -> Rebalance:
    return Rebalance(
        sequence=one["sequence"],
        epoch=one["epoch"],
        at=time_words(one["at_ms"]),
        why="; ".join(one["causes"]),
        who=", ".join(one["who"]),
        took=duration(max(0, one["until_ms"] - one["at_ms"])),
        moved=one["moved"],
        interrupted="every member" if one["stops_all"] else ", ".join(one["interrupted"]),
    )


def _found(one: Mapping[str, Any]) -> Found:
    return Found(
        sequence=one["sequences"][0] if one["sequences"] else 0,
        text=str(one["says"]),
        severity=one.get("severity") or "",
        certain=bool(one.get("certain", True)),
        causes=tuple(one.get("causes") or ()),
        look_at=tuple(one["look_at"]),
    )


def _remedies(timeline: Timeline) -> Iterable[Remedy]:
    """Of the last search that ended with a ranking."""
    for search in RemedySearch.objects.filter(timeline=timeline, status=RemedySearch.Status.COMPLETE)[:1]:
        answer = search.answer or {}
        if answer.get("why"):
            return
        for row in answer.get("rows", ()):
            if row["not_read_ms"] is not None:
                name = f"{row['name']}: {row['setting']}".removesuffix(": ")
                yield Remedy(name, row["outcome"] or "", duration(row["not_read_ms"]["median"]))


def markdown(report: Report, url: str) -> str:
    """The report for a ticket or a wiki; ``url`` is the board's address, empty for a report that leads nowhere."""
    lines = [f"# {_plain(report.headline)}", "", f"Group {_plain(report.group)}. {report.period}".strip(), ""]
    lines += [f"* {name}: {value}" for name, value in report.figures]
    if report.story:
        lines += ["", _plain(report.story)]
    if report.rebalances:
        lines += [
            "",
            "## Rebalances",
            "",
            "| Epoch | At | Why | Took | Moved | Interrupted |",
            "|---:|---|---|---:|---:|---|",
        ]
        for row in report.rebalances:
            epoch = "" if row.epoch is None else row.epoch
            cells = (
                _linked(str(epoch), url, row.sequence),
                row.at,
                _plain(row.why),
                row.took,
                row.moved,
                _plain(row.interrupted),
            )
            lines.append(f"| {' | '.join(map(str, cells))} |")
        if report.rebalances_more:
            lines += ["", f"{report.rebalances_more} more."]
    if report.findings:
        lines += ["", "## Findings"]
        for found in report.findings:
            inferred = "" if found.certain else " (inferred)"
            lines += ["", f"* {_linked(_plain(found.text), url, found.sequence)}{inferred}"]
            lines += [f"  * Usual cause: {_plain(one)}" for one in found.causes]
            lines += [f"  * Where to look: {_plain(one)}" for one in found.look_at]
    if report.remedies:
        lines += [
            "",
            "## What would have helped",
            "",
            "| Remedy | Partition time not read | |",
            "|---|---:|---|",
        ]
        lines += [f"| {_plain(one.name)} | {one.not_read} | {one.outcome} |" for one in report.remedies]
    if report.notes:
        lines += ["", "## Notes", ""]
        for one in report.notes:
            who = f" {_plain(one.author)}" if one.author else ""
            who += ", a question" if one.kind == Note.Kind.QUESTION else ""
            lines.append(f"* {_linked(f'At {one.when}', url, one.at)}{who}: {_plain(one.text)}")
            lines += [f"  * {_plain(author or 'Reply')}: {_plain(text)}" for author, text in one.replies]
    if report.branches:
        lines += ["", "## Branches", "", *(f"* {_plain(title)} ({name})" for name, title in report.branches)]
    if report.not_shown:
        lines += ["", "## What this log cannot show", "", *(f"* {_plain(one)}" for one in report.not_shown)]
    lines += ["", f"From {report.entries:,} entries{f': {url}' if url else '.'}", ""]
    return "\n".join(lines)


def _linked(text: str, url: str, sequence: int) -> str:
    return f"[{text}]({url}?at={sequence})" if url else text


def _plain(text: str) -> str:
    """Text of a log as Markdown that reads as the text, and notifies nobody where it is pasted: names may have any character."""
    escaped = SPECIAL.sub(r"\\\1", re.sub(r"\s*[\r\n]\s*", " ", page_text(text)))
    return MENTION.sub("@&#8203;", escaped)
