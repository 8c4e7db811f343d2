"""The table of what is wrong: a row for each group, the gravest first, on one time axis, with the causes that groups share.

The page of all groups, that of an import, that of a cluster, and `GET /api/groups` show these rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypedDict

from groups.history.story.common_causes import CommonCause, Occurrence, common_causes, is_within
from groups.history.story.problems import RankedProblem
from groups.history.words import counted
from groups.models import Timeline
from groups.packs.listed_summary import headline_clauses, headline_text, listed_summary
from groups.releases import REASONS
from groups.shown import or_title
from groups.storage.names import named_summary

GROUPS_MOST: Final = 2_000
"""Rows of one table, those of the most weight: a browser holds them all, to sort and filter without a question."""

CELLS: Final = 48
"""Cells of the time axis."""

HOUR_MS: Final = 3_600_000

RATE_SPAN_LEAST_MS: Final = 60_000
"""Rebalances an hour are computed over at least so long: one rebalance in a log of a second is no rate."""


class StripCell(TypedDict):
    """A cell of the axis in which something happened; ``unread``: a partition was long without an owner."""

    cell: int
    rebalances: int
    unread: bool


class LinkedText(TypedDict):
    """A clause of a headline; ``sequence`` is the step that proves it."""

    text: str
    sequence: int | None


class TroubleRow(TypedDict):
    """A group in the table. Of ``severity`` (0 to 2), ``worst_ms``, ``worst_member`` and ``per_hour`` the common causes are left out.

    ``at``: the step of the worst moment. ``causes``: places of ``TroubleTable.causes``. ``still``: null where the log cannot show it.
    ``unread``: partitions without an owner at the end, or with one that commits nothing of them.
    ``note``: what else is to be said of the group's log, such as gaps; mostly empty.
    """

    timeline: str
    group: str
    protocol: str
    status: str
    severity: int
    pattern: str
    certain: bool
    headline: str
    clauses: list[LinkedText]
    still: bool | None
    worst_ms: int | None
    worst_member: str
    rebalances: int
    unread: int
    per_hour: float | None
    at: int | None
    strip: list[StripCell]
    causes: list[int]
    topics: list[str]
    hosts: list[str]
    releases: list[str]
    releases_why: str
    note: str


class TroubleTable(TypedDict):
    """``matching``: all groups that there are, of which ``rows`` has at most ``GROUPS_MOST``. The axis reaches from
    ``from_ms`` to ``to_ms`` in ``cells`` cells. ``older``: rows of an earlier release, ranked by their headline alone."""

    from_ms: int | None
    to_ms: int | None
    cells: int
    matching: int
    older: int
    causes: list[CommonCause]
    rows: list[TroubleRow]


def trouble_table(
    timelines: Iterable[Timeline], matching: int, notes: Mapping[str, str] | None = None
) -> TroubleTable:
    """The table of these timelines; ``matching`` is how many there are beyond those given, ``notes`` what an import found by timeline."""
    found = [(timeline, _summary(timeline)) for timeline in timelines]
    starts = [one["first_ms"] for _, one in found if one["first_ms"] is not None]
    ends = [one["last_ms"] for _, one in found if one["last_ms"] is not None]
    axis = (min(starts), max(ends)) if starts and ends else None
    causes = common_causes(
        {timeline.pk: [Occurrence(*each) for each in one.get("occurrences", ())] for timeline, one in found}
    )
    shared: dict[str, list[int]] = {}
    for place, cause in enumerate(causes):
        for key in cause["groups"]:
            shared.setdefault(key, []).append(place)
    rows = [
        _row(
            timeline,
            one,
            axis,
            [(place, causes[place]) for place in shared.get(timeline.pk, ())],
            (notes or {}).get(timeline.pk, ""),
        )
        for timeline, one in found
    ]
    return TroubleTable(
        from_ms=axis[0] if axis else None,
        to_ms=axis[1] if axis else None,
        cells=CELLS,
        matching=matching,
        older=sum("hosts" not in one for _, one in found),
        causes=causes,
        rows=sorted(rows, key=_order),
    )


def _order(row: TroubleRow) -> tuple[int, bool, int, str, str]:
    return -row["severity"], row["still"] is not True, -(row["worst_ms"] or 0), row["group"], row["timeline"]


def _summary(timeline: Timeline) -> dict[str, Any]:
    """In short. A timeline of an earlier release may have no problems, occurrences and hosts there."""
    short = timeline.in_short() if "weight" in timeline.summary else listed_summary(timeline.summary)
    return named_summary(short, timeline.topic_names)


def _row(
    timeline: Timeline,
    short: Mapping[str, Any],
    axis: tuple[int, int] | None,
    causes: list[tuple[int, CommonCause]],
    note: str,
) -> TroubleRow:
    verdict = short.get("verdict") or {}
    head = verdict.get("headline") or {}
    figures = head.get("figures") or {}
    problems: list[RankedProblem] = short.get("problems") or []
    own = [one for one in problems if not _is_shared(causes, one["from_ms"], one["to_ms"])]
    left_out = len(problems) - len(own)
    worst_ms = figures.get("longest_ms")
    if left_out:
        worst_ms = max((one["length_ms"] or 0 for one in own), default=0) or None
    starts: list[int] = short["epochs_ms"]
    kept = [at_ms for at_ms in starts[1:] if not _is_shared(causes, at_ms, at_ms)] if causes else starts[1:]
    # Of many rebalances the row has evenly chosen ones, each of which stands for as many.
    each = max(1.0, short.get("rebalances", 0) / max(1, len(starts) - 1))
    rebalances = round(each * len(kept))
    worst = verdict.get("worst") or {}
    severity = {"critical": 2, "warning": 1}.get(head.get("severity") or "", 0)
    return TroubleRow(
        timeline=timeline.pk,
        group=or_title(timeline.group, timeline.title),
        protocol=timeline.protocol or "simple",
        status=timeline.status,
        severity=max((one["level"] for one in own), default=0) if left_out else severity,
        pattern=short.get("pattern", ""),
        certain=head.get("certain", True),
        headline=headline_text(short),
        clauses=[
            LinkedText(text=one["text"], sequence=one["sequence"]) for one in headline_clauses(short) if head
        ],
        still=figures.get("still"),
        worst_ms=worst_ms,
        worst_member=next((one["name"] for one in own if one["name"]), ""),
        rebalances=rebalances,
        unread=figures.get("unread") or 0,
        per_hour=_per_hour(rebalances, axis),
        at=own[0]["sequence"] if left_out and own else worst.get("sequence"),
        strip=_strip(starts, short.get("no_owner_ms") or [], each, axis),
        causes=[place for place, _ in causes],
        topics=list(short.get("topics") or ()),
        hosts=list(short.get("hosts") or ()),
        releases=figures.get("releases") or [],
        releases_why=releases_why(figures.get("releases") or ()),
        note="; ".join(filter(None, (_gaps(short), note, timeline.problem))),
    )


def releases_why(releases: Iterable[str]) -> str:
    """What in the records shows each of these releases."""
    return "; then ".join(REASONS[each] for each in releases if each in REASONS)


def _gaps(short: Mapping[str, Any]) -> str:
    count = len(short.get("gaps") or ())
    return f"{counted(count, 'gap')} in the log" if count else ""


def _is_shared(causes: Iterable[tuple[int, CommonCause]], from_ms: int, to_ms: int) -> bool:
    return any(is_within(cause, from_ms, to_ms) for _, cause in causes)


def _per_hour(rebalances: int, axis: tuple[int, int] | None) -> float | None:
    if axis is None:
        return None
    return round(rebalances * HOUR_MS / max(RATE_SPAN_LEAST_MS, axis[1] - axis[0]), 1)


def _strip(
    starts: list[int], unread: list[int], each: float, axis: tuple[int, int] | None
) -> list[StripCell]:
    """The cells in which something happened; the group's first epoch is no rebalance."""
    if axis is None:
        return []
    from_ms, span_ms = axis[0], max(1, axis[1] - axis[0])

    def cell_of(at_ms: int) -> int:
        return max(0, min(CELLS - 1, (at_ms - from_ms) * CELLS // span_ms))

    counts = Counter(map(cell_of, starts[1:]))
    red = set(map(cell_of, unread))
    return [
        StripCell(cell=cell, rebalances=round(counts[cell] * each), unread=cell in red)
        for cell in sorted(counts.keys() | red)
    ]
