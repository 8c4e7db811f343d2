"""Who owned a timeline's partitions and when, and its rebalances, as the cost of one is computed from them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from groups.history.digests import values, window
from groups.history.digests.digest_json import partition_answer
from groups.history.entries import Entry, Kind
from groups.history.evidence.not_read import not_read
from groups.history.lag.course import Course, Place, Rebalance, Stretch, Tenure
from groups.models import Timeline
from groups.storage.digests import Wanted
from groups.storage.lag_sources import Known
from groups.storage.logs import log_of

FINE: Final = 2**31
"""So many columns that the finest digest answers: each moment is one."""


@dataclass(frozen=True, slots=True)
class Courses:
    """``earlier``: rebalances before the stretch; null where part of it was not opened yet, so that owners are not known."""

    by_place: Mapping[Place, Course]
    rebalances: Sequence[Rebalance]
    earlier: int | None

    def owners(self, place: Place, looks: Sequence[int]) -> list[str | None]:
        """Who owned a partition at each of these times."""
        tenures = self.by_place[place].tenures if place in self.by_place else ()
        times = [one.from_ms for one in tenures]
        found = []
        for at_ms in looks:
            number = bisect_right(times, at_ms) - 1
            found.append(tenures[number].owner if number >= 0 else None)
        return found


def courses_of(timeline: Timeline, first: int, last: int, known: Known) -> Courses:
    """Of entries ``first`` to ``last``, with what is known of their offsets."""
    summary: dict[str, Any] = log_of(timeline).summary()
    names = {
        topic["id"]: name for name, topic in (summary.get("topics") or {}).items() if topic.get("id")
    } | timeline.topic_names
    tenures, is_whole = _tenures(timeline, first, last, names)
    silent, end_ms = _silent(summary), max([summary.get("last_ms") or 0, *known.looks[-1:]])
    unread: Mapping[Place, Sequence[Stretch]] = {}
    if summary.get("consumption"):
        lines = log_of(timeline).entries_between(1, last)
        notes = (Entry.from_json(line) for line in lines if line["kind"] == Kind.NOTE)
        unread = not_read(timeline.group, notes, end_ms)
    courses = {
        place: Course(
            tenures=tenures.get(place, ()),
            silent=silent.get(place, ()),
            ends=known.partitions.get(place),
            lags=known.lags.get(place, ()),
            not_read=unread.get(place),
        )
        for place in sorted({*tenures, *known.partitions, *unread})
    }
    starts = [one for one in summary.get("epochs") or () if one["sequence"] <= last]
    within = [one for one in starts if one["sequence"] >= first]
    begins = _begins(within, tenures)
    eager = {
        sequence
        for one in summary.get("findings") or ()
        if one["kind"] == "eager_rebalance"
        for sequence in one["steps"]
    }
    rebalances = [
        Rebalance(
            sequence=one["sequence"],
            epoch=one["epoch"],
            at_ms=begins[at],
            until_ms=begins[at + 1] if at + 1 < len(within) else end_ms,
            stops_all=one["sequence"] in eager,
            is_last=at + 1 == len(within),
        )
        for at, one in enumerate(within)
    ]
    return Courses(courses, rebalances if is_whole else [], len(starts) - len(within) if is_whole else None)


def _begins(starts: Sequence[Mapping[str, Any]], tenures: Mapping[Place, Sequence[Tenure]]) -> list[int]:
    """When each rebalance began. Of a classic group that is when its members gave up what they had, where a round saw that.

    The record of a generation is written when its joining phase has ended.
    """
    given_up: dict[int, int] = {}
    for some in tenures.values():
        for free, taken in pairwise(some):
            if free.owner is None and free.exists and taken.owner is not None:
                given_up[taken.from_ms] = min(free.from_ms, given_up.get(taken.from_ms, free.from_ms))
    begins: list[int] = []
    before_ms: int | None = None
    for one in starts:
        at_ms = one["at_ms"]
        began_ms = given_up.get(at_ms, at_ms)
        is_later = before_ms is not None and began_ms > before_ms
        begins.append(began_ms if one.get("classic") and is_later else at_ms)
        before_ms = at_ms
    return begins


def _tenures(
    timeline: Timeline, first: int, last: int, names: Mapping[str, str]
) -> tuple[dict[Place, list[Tenure]], bool]:
    """By partition, topics by name; and whether all of the stretch was opened."""
    digest = log_of(timeline).digest(first, last, FINE, Wanted(members=False, partitions=True))
    if digest is None:
        return {}, True
    answer = partition_answer(window(digest, first, last))
    columns, ids, offsets = answer["columns"], answer["ids"], answer["offsets"]
    found: dict[Place, list[Tenure]] = {}
    for topic in answer["topics"]:
        for partition in range(topic["partitions"]):
            row = topic["first_row"] + partition
            runs = found[names.get(topic["topic"], topic["topic"]), partition] = []
            for at in range(offsets[row], offsets[row + 1]):
                owner = answer["owner"][at]
                tenure = Tenure(
                    columns["from_ms"][answer["start"][at]],
                    ids[owner] if owner >= 0 else None,
                    answer["mode"][at] != values.ABSENT,
                )
                if not runs or (runs[-1].owner, runs[-1].exists) != (tenure.owner, tenure.exists):
                    runs.append(tenure)
    return found, not any(columns["unknown"])


def _silent(summary: Mapping[str, Any]) -> dict[Place, list[Stretch]]:
    """When owners were silent, and when a whole group stopped for an eager rebalance; inferred."""
    found: dict[Place, list[Stretch]] = defaultdict(list)
    end_ms = summary.get("last_ms") or 0
    for one in summary.get("silences") or ():
        to_ms = end_ms if one["to_ms"] is None else one["to_ms"]
        for each in one["partitions"]:
            found[each["topic"], each["partition"]].append(Stretch(each["from_ms"], to_ms))
    for one in summary.get("findings") or ():
        if one["kind"] == "group_stopped":
            for name in one["partitions"]:
                topic, _, number = name.rpartition("-")
                if number.isdecimal():
                    found[topic, int(number)].append(Stretch(one["from_ms"], one["to_ms"]))
    return found
