"""Figures from the database: the same whichever process is asked. Read at most once in ``KEPT_S``, however many ask."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.db.models import Count, F

from explorer.server.metrics.table import BLOCKERS_MOST, CAUSES, GROUPS_MOST
from explorer.server.queues import queue_counts
from groups.cluster_models import Cluster, WatchedGroup
from groups.models import Delivery, Import, Timeline

_OF_KIND: Final = {
    "formed": "formed",
    "began": "formed",
    "midway": "formed",
    "joined": "joined",
    "first_assigned": "topics",
    "partitions_added": "topics",
    "topics_deleted": "topics",
    "topics_remade": "topics",
    "matched": "topics",
    "causeless_rebalances": "none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFigures:
    """Figures of one timeline up to its last entry. Seconds; ``last_rebalance_s`` is null while the group changes."""

    rebalances: int
    causes: Mapping[str, int]
    unassigned_s: float
    not_read_s: float
    last_rebalance_s: float | None
    blocked_s: Mapping[str, float]


def group_figures(summary: Mapping[str, Any]) -> GroupFigures:
    """The figures of a summary; of one without findings all are 0."""
    findings: Sequence[Mapping[str, Any]] = summary.get("findings", ())
    epochs: Sequence[Mapping[str, Any]] = summary.get("epochs", ())
    causes = _cause_by_sequence(findings)
    return GroupFigures(
        rebalances=next((one["count"] for one in findings if one["kind"] == "epochs"), len(epochs)),
        causes=Counter(causes.get(epoch["sequence"], "other") for epoch in epochs),
        unassigned_s=sum(one["length_ms"] for one in findings if one["kind"] == "no_owner") / 1000,
        not_read_s=sum(_silent_ms(summary)) / 1000,
        last_rebalance_s=_last_rebalance_s(findings, epochs),
        blocked_s=_blocked_s(findings),
    )


def _cause_by_sequence(findings: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Entry → what is found to have happened there; of several the first by the order of ``CAUSES``."""
    found: dict[int, str] = {}
    for one in findings:
        cause = _removed(one) if one["kind"] == "removed" else _OF_KIND.get(one["kind"])
        if cause is None:
            continue
        for sequence in [*one["sequences"], *one.get("steps", ())]:
            if sequence not in found or CAUSES.index(cause) < CAUSES.index(found[sequence]):
                found[sequence] = cause
    return found


def _removed(finding: Mapping[str, Any]) -> str:
    why = finding.get("why") or finding.get("looks_like")
    return why if why in CAUSES else "removed"


def _silent_ms(summary: Mapping[str, Any]) -> Iterator[int]:
    for span in summary.get("silences", ()):
        to_ms = summary["last_ms"] if span["to_ms"] is None else span["to_ms"]
        for partition in span["partitions"]:
            yield max(to_ms - partition["from_ms"], 0)


def _last_rebalance_s(
    findings: Sequence[Mapping[str, Any]], epochs: Sequence[Mapping[str, Any]]
) -> float | None:
    stable = next((one for one in findings if one["kind"] == "stable"), None)
    if stable is None or not epochs or stable["from_ms"] < epochs[-1]["at_ms"]:
        return None
    return float(stable["from_ms"] - epochs[-1]["at_ms"]) / 1000


def _blocked_s(findings: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    blocked: Counter[str] = Counter()
    for one in findings:
        if one["kind"] == "waited_for":
            blocked[one["name"]] += one["length_ms"]
    return {name: length / 1000 for name, length in blocked.most_common(BLOCKERS_MOST)}


KEPT_S: Final = 5.0
"""Several Prometheus servers ask within the same seconds; none of them asks more often."""

Sample = tuple[str, tuple[str, ...], float]
"""A metric's name, the values of its labels, and its value."""


def samples() -> list[Sample]:
    """All figures of the database. Raises ``DatabaseError`` where it does not answer."""
    with _lock:
        if not _kept or time.monotonic() - _kept[0][0] >= KEPT_S:
            _kept[:] = [(time.monotonic(), [*_work(), *_clusters()])]
        return _kept[0][1]


_lock: Final = threading.Lock()
_kept: Final[list[tuple[float, list[Sample]]]] = []
_figures: Final[dict[str, tuple[int, GroupFigures]]] = {}
"""Timeline → its last entry and the figures up to it: a summary is read again only when its timeline has grown."""


def _work() -> Iterator[Sample]:
    imports = dict(Import.objects.order_by().values_list("status").annotate(Count("pk")))
    for queue, count in queue_counts().items():
        yield "queue_waiting", (queue,), count.waiting
    for status in Import.Status.values:
        yield "imports", (status,), imports.get(status, 0)
    last = Import.objects.filter(status=Import.Status.COMPLETE).order_by("-finished").first()
    for stage in last.report.get("times", ()) if last else ():
        yield "import_stage_seconds", (stage["stage"],), stage["seconds"]
        if stage["seconds"]:
            yield "import_stage_rate", (stage["stage"], stage["unit"]), stage["rows"] / stage["seconds"]
    messages = dict(Delivery.objects.order_by().values_list("state").annotate(Count("pk")))
    for state in Delivery.State.values:
        yield "webhook_messages", (state,), messages.get(state, 0)


def _clusters() -> Iterator[Sample]:
    now_ms = time.time() * 1000
    rows = (
        WatchedGroup.objects.exclude(condition="deleted")
        .order_by("cluster__name", F("timeline__weight").desc(nulls_last=True), "group")
        .values("cluster__name", "group", "facts", "timeline", "timeline__last")
    )
    by_cluster = {name: list(some) for name, some in groupby(rows, lambda row: row["cluster__name"])}
    for cluster in Cluster.objects.all():
        name, seen = (cluster.name,), cluster.seen
        groups = by_cluster.get(cluster.name, [])
        yield "cluster_up", name, float(cluster.status == Cluster.Status.CONNECTED)
        if seen.get("at_ms") is not None:
            yield "cluster_look_age_seconds", name, max(now_ms - seen["at_ms"], 0) / 1000
        if seen.get("took_ms") is not None:
            yield "cluster_look_seconds", name, seen["took_ms"] / 1000
        yield "cluster_groups", name, len(groups)
        yield "cluster_groups_left_out", name, max(len(groups) - GROUPS_MOST, 0)
    shown = [row for some in by_cluster.values() for row in some[:GROUPS_MOST]]
    _read_summaries(shown)
    for row in shown:
        yield from _of_facts((row["cluster__name"], row["group"]), row["facts"])
        if row["timeline"] in _figures:
            yield from _of_timeline((row["cluster__name"], row["group"]), _figures[row["timeline"]][1])


def _read_summaries(rows: Sequence[Mapping[str, Any]]) -> None:
    """Bring ``_figures`` up to date with the timelines of these rows, and forget all others."""
    last = {row["timeline"]: row["timeline__last"] for row in rows if row["timeline"] is not None}
    for gone in _figures.keys() - last.keys():
        del _figures[gone]
    grown = [pk for pk, at in last.items() if pk not in _figures or _figures[pk][0] != at]
    for timeline in Timeline.objects.filter(pk__in=grown).only("last", "summary", "verdict").iterator(20):
        _figures[timeline.pk] = (timeline.last, group_figures(timeline.in_short()))


def _of_facts(labels: tuple[str, str], facts: dict[str, Any]) -> Iterator[Sample]:
    for name, fact in (
        ("group_members", "members"),
        ("group_members_behind", "behind"),
        ("group_epoch", "group_epoch"),
        ("group_lag_records", "lag"),
        ("group_lost_records", "lost_records"),
    ):
        if facts.get(fact) is not None:
            yield name, labels, facts[fact]
    if facts.get("lag_ms") is not None:
        yield "group_lag_seconds", labels, facts["lag_ms"] / 1000
    yield "group_rebalancing", labels, float(bool(facts.get("rebalancing")))


def _of_timeline(labels: tuple[str, str], figures: GroupFigures) -> Iterator[Sample]:
    yield "group_rebalances", labels, figures.rebalances
    for cause in CAUSES:
        yield "group_rebalances_by_cause", (*labels, cause), figures.causes.get(cause, 0)
    yield "group_unassigned_partition_seconds", labels, figures.unassigned_s
    yield "group_not_read_partition_seconds", labels, figures.not_read_s
    if figures.last_rebalance_s is not None:
        yield "group_last_rebalance_seconds", labels, figures.last_rebalance_s
    for name, seconds in figures.blocked_s.items():
        yield "group_blocked_seconds", (*labels, name), seconds
