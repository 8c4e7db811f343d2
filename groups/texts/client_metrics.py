"""Metrics of consumers as events of their groups: as the JMX exporter prints Java's for Prometheus, and as clients push them (KIP-714).

A scrape has a line for each metric and client, and no time: it has that of the line with a time before it (as ``date`` prints one), or of the file.
Releases 1.x of the exporter leave ``_total`` off. Pushes have times, and counts since the push before.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.words import counted
from groups.texts import telemetry
from groups.texts.found import Found, LineProblem, LogEvent, Remark
from groups.texts.line_time import MOST_MS, line_time

CLIENTS_MOST: Final = 10_000
POLL_LATE_S: Final = 30
"""An age of the last poll that is noted: clients poll several times a second, and leave after five minutes by default."""

BUSY_RATIO: Final = 0.05
"""A client that is in ``poll`` for less of its time is noted: its application takes all of it."""

_CALLBACKS: Final[Mapping[str, str]] = {
    f"partition_{what}_latency_max": f"onPartitions{what.title()}" for what in ("revoked", "assigned", "lost")
}
_COUNTS: Final = ("rebalance", "failed_rebalance", "rebalance_latency")
_READ: Final = (
    *("failed_rebalance", "rebalance_latency_max", "rebalance", *_CALLBACKS, "commit_latency_max"),
    *("last_rebalance_seconds_ago", "last_poll_seconds_ago", "poll_idle_ratio_avg"),
)
METRIC: Final = re.compile(
    r"^kafka_consumer_(?:consumer_)?(?:coordinator_)?metrics_"
    rf"(?P<name>{'|'.join(_READ)})(?:_total)?\b"
    r"(?:\{(?P<labels>[^}]{0,2000})\}\s+(?P<value>\S{1,40})(?:\s+(?P<at_ms>\d{1,15}))?\s*$)?",
    re.MULTILINE,
)
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_CLIENT: Final = ("client_id", "clientid", "clientId", "group_instance_id", "group_member_id", "member_id")
_GROUP: Final = ("group_id", "group", "groupid", "groupId")
VALUE_MOST: Final = 300_000_000
"""Of a count, of milliseconds, and of seconds: these are ten years."""

_TIME_LINE_CHARS: Final = 40


Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Client:
    """What a client's last scrape counted."""

    counts: dict[str, float] = field(default_factory=dict)
    is_late: bool = False
    is_busy: bool = False


@dataclass(slots=True)
class ClientMetrics:
    """Scrapes and pushes of any number of clients; ``groups``: the group of each client that another line named."""

    written_ms: int
    groups: Mapping[str, str]
    at_ms: int | None = None
    scrape: dict[Labels, dict[str, float]] = field(default_factory=dict)
    """By the labels of a client what its lines of the scrape have, and under ``at_ms`` their time."""

    ready: list[Found] = field(default_factory=list)
    before: dict[Labels, _Client] = field(default_factory=dict)
    undated: int = 0
    groupless: int = 0

    def take(self, number: int, line: str) -> list[Found] | None:
        """What the scrape before has, where this line belongs to another one."""
        if telemetry.LINE.match(line) is not None:
            return self._pushed(number, line)
        if (found := METRIC.match(line)) is None:
            if len(line) <= _TIME_LINE_CHARS and (time := line_time(line)) is not None:
                # Tables read the time, too.
                self.ready += self._scraped()
                self.at_ms = time.at_ms
            return None
        name = found["name"]
        try:
            value = float(found["value"])
        except (TypeError, ValueError):
            return [LineProblem(number, None, f"the metric {name} is cut off, or has no number")]
        at_ms = int(found["at_ms"]) if found["at_ms"] else self.at_ms
        labels = tuple(_LABEL.findall(found["labels"]))
        if why := self._why_not(labels, name, value, at_ms or 0):
            return [LineProblem(number, None, why)]
        self.undated += at_ms is None
        self._measured(labels, name, value, self.written_ms if at_ms is None else at_ms)
        return self._let_go()

    def _pushed(self, number: int, line: str) -> list[Found]:
        self.ready += self._scraped()
        try:
            points = telemetry.points(line)
        except ValueError as error:
            return [*self._let_go(), LineProblem(number, None, str(error))]
        problem = None
        for point in points:
            name = point.name.removesuffix("_total")
            if name not in _READ and name not in _COUNTS:
                continue
            labels = tuple(sorted(point.attributes.items()))
            if why := self._why_not(labels, name, point.value, point.at_ms):
                problem = problem or LineProblem(number, None, why)
                continue
            self._measured(labels, name, point.value, point.at_ms, is_delta=point.is_delta)
        return [*self._let_go(), *([problem] if problem else [])]

    def end(self) -> Iterator[Found]:
        yield from self.ready
        yield from self._scraped()
        if self.undated:
            yield Remark(
                f"{counted(self.undated, 'metric')} of clients have no time: they have that of the file"
            )
        if self.groupless:
            yield Remark(
                f"{counted(self.groupless, 'scrape')} of clients that neither a label nor a log line before puts into a group"
            )

    @staticmethod
    def _why_not(labels: Labels, name: str, value: float, at_ms: int) -> str | None:
        # A client that did not rebalance, or poll, yet has -1 as the age.
        least = -1 if name.endswith("_ago") else 0
        if not (math.isnan(value) or least <= value <= VALUE_MOST) or not 0 <= at_ms < MOST_MS:
            return f"the metric {name} has a value or a time that cannot be"
        return None if any(each in _CLIENT for each, _ in labels) else f"the metric {name} names no client"

    def _measured(
        self, labels: Labels, name: str, value: float, at_ms: int, *, is_delta: bool = False
    ) -> None:
        if math.isnan(value):
            return
        if name in self.scrape.get(labels, ()):
            self.ready += self._scraped()
        if labels not in self.scrape and len(self.scrape) >= CLIENTS_MOST:
            return
        values = self.scrape.setdefault(labels, {})
        values["at_ms"] = at_ms
        if is_delta:
            values["is_delta"] = 1
            before = self.before.get(labels)
            value += before.counts.get(name, 0) if before else 0
        values[name] = value

    def _let_go(self) -> list[Found]:
        out, self.ready = self.ready, []
        return out

    def _scraped(self) -> Iterator[Found]:
        scrape, self.scrape = self.scrape, {}
        for labels, values in scrape.items():
            known = dict(labels)
            client = next(known[each] for each in _CLIENT if each in known)
            group = next((known[each] for each in _GROUP if each in known), self.groups.get(client))
            if not group:
                self.groupless += 1
                continue
            if labels not in self.before and len(self.before) >= CLIENTS_MOST:
                continue
            before = self.before.setdefault(labels, _Client())
            for at_ms, sentence in _news(before, values):
                yield LogEvent(group, at_ms, client, "reason", {"reason": sentence})


def _news(before: _Client, values: Mapping[str, float]) -> Iterator[tuple[int, str]]:
    """What changed since the client's scrape before, each with its time; ``before`` is moved on."""
    at_ms = int(values["at_ms"])
    known = before.counts
    now = {name: values.get(name, known.get(name, 0)) for name in _COUNTS}
    count, failed, spent_ms = (now[name] - known.get(name, 0) for name in _COUNTS)
    if count < 0 or failed < 0:
        yield (
            at_ms,
            f"its counters began again, {known['rebalance']:,.0f} rebalances before: it was started again",
        )
    else:
        if count > 0:
            ago_ms = round(1000 * max(0.0, values.get("last_rebalance_seconds_ago", 0)))
            what = f"rebalance {now['rebalance']:,.0f} since it started"
            if "is_delta" in values:
                what = f"{counted(round(count), 'rebalance')} since its metrics before"
            yield max(0, at_ms - ago_ms), "; ".join([what, *_latencies(values)])
        elif spent_ms > 0 and "rebalance" not in values:
            # librdkafka pushes no count.
            yield at_ms, f"it rebalanced since its metrics before; that took {spent_ms:,.0f} ms"
        if failed > 0:
            yield at_ms, f"{counted(round(failed), 'rebalance')} failed since its metrics before"
    age_s = values.get("last_poll_seconds_ago", 0)
    if age_s >= POLL_LATE_S and not before.is_late:
        yield at_ms, f"it polled last {age_s:,.0f} s before"
    ratio = values.get("poll_idle_ratio_avg", 1)
    if ratio < BUSY_RATIO and not before.is_busy:
        yield at_ms, f"it is in poll for {100 * ratio:.0f} % of its time: its application takes the rest"
    before.counts, before.is_late, before.is_busy = now, age_s >= POLL_LATE_S, ratio < BUSY_RATIO


def _latencies(values: Mapping[str, float]) -> Iterator[str]:
    """What took how long of late."""
    if "rebalance_latency_max" in values:
        yield f"the longest of late took {values['rebalance_latency_max']:,.0f} ms"
    for name, what in (*_CALLBACKS.items(), ("commit_latency_max", "a commit")):
        if values.get(name, 0) > 0:
            yield f"{what} up to {values[name]:,.0f} ms"
