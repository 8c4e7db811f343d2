"""Metrics of Java consumers as the JMX exporter prints them for Prometheus, as events of their groups.

A scrape has a line for each metric and client, and no time: it has that of the line with a time before it (as ``date`` prints one), or of the file.
Releases 1.x of the exporter leave ``_total`` off.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.words import counted
from groups.texts.found import Found, LineProblem, LogEvent, Remark
from groups.texts.line_time import MOST_MS, line_time

CLIENTS_MOST: Final = 10_000
POLL_LATE_S: Final = 30
"""An age of the last poll that is noted: clients poll several times a second, and leave after five minutes by default."""

METRIC: Final = re.compile(
    r"^kafka_consumer_(?:consumer_)?(?:coordinator_)?metrics_"
    r"(?P<name>(?:failed_)?rebalance|last_rebalance_seconds_ago|rebalance_latency_max|last_poll_seconds_ago)(?:_total)?\b"
    r"(?:\{(?P<labels>[^}]{0,2000})\}\s+(?P<value>\S{1,40})(?:\s+(?P<at_ms>\d{1,15}))?\s*$)?",
    re.MULTILINE,
)
_LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_CLIENT, _GROUP = ("client_id", "clientid", "clientId"), ("group_id", "group", "groupid", "groupId")
VALUE_MOST: Final = 300_000_000
"""Of a count, of milliseconds, and of seconds: these are ten years."""

_TIME_LINE_CHARS: Final = 40


@dataclass(slots=True)
class _Client:
    """What a client's last scrape counted."""

    rebalances: int = 0
    failed: int = 0
    is_late: bool = False


@dataclass(slots=True)
class ClientMetrics:
    """Scrapes of any number of clients; ``groups``: the group of each client that another line named."""

    written_ms: int
    groups: Mapping[str, str]
    at_ms: int | None = None
    scrape: dict[str, dict[str, float]] = field(default_factory=dict)
    """By the labels of a client what its lines of the scrape have, and under ``at_ms`` their time."""

    ready: list[Found] = field(default_factory=list)
    before: dict[str, _Client] = field(default_factory=dict)
    undated: int = 0
    groupless: int = 0

    def take(self, number: int, line: str) -> list[Found] | None:
        """What the scrape before has, where this line belongs to another one."""
        if (found := METRIC.match(line)) is None:
            if len(line) <= _TIME_LINE_CHARS and (time := line_time(line)) is not None:
                # Tables read the time, too.
                self.ready += self._scraped()
                self.at_ms = time.at_ms
            return None
        name, labels = found["name"], found["labels"]
        try:
            value = float(found["value"])
        except (TypeError, ValueError):
            return [LineProblem(number, None, f"the metric {name} is cut off, or has no number")]
        at_ms = int(found["at_ms"]) if found["at_ms"] else self.at_ms
        if math.isnan(value):
            return []
        # A client that did not rebalance, or poll, yet has -1 as the age.
        if not (-1 if name.endswith("_ago") else 0) <= value <= VALUE_MOST or (at_ms or 0) >= MOST_MS:
            return [LineProblem(number, None, f"the metric {name} has a value or a time that cannot be")]
        if not any(each in _CLIENT for each, _ in _LABEL.findall(labels)):
            return [LineProblem(number, None, f"the metric {name} names no client")]
        if name in self.scrape.get(labels, ()):
            self.ready += self._scraped()
        out, self.ready = self.ready, []
        if labels in self.scrape or len(self.scrape) < CLIENTS_MOST:
            self.undated += at_ms is None
            self.scrape.setdefault(labels, {}).update(
                {name: value, "at_ms": self.written_ms if at_ms is None else at_ms}
            )
        return out

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

    def _scraped(self) -> Iterator[Found]:
        scrape, self.scrape = self.scrape, {}
        for labels, values in scrape.items():
            known = dict(_LABEL.findall(labels))
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
    count = int(values.get("rebalance", before.rebalances))
    failed = int(values.get("failed_rebalance", before.failed))
    if count < before.rebalances or failed < before.failed:
        yield (
            at_ms,
            f"its counters began again, {before.rebalances:,} rebalances before: it was started again",
        )
    else:
        if count > before.rebalances:
            ago_ms = round(1000 * max(0.0, values.get("last_rebalance_seconds_ago", 0)))
            longest = values.get("rebalance_latency_max")
            took = "" if longest is None else f"; the longest of late took {longest:,.0f} ms"
            yield max(0, at_ms - ago_ms), f"rebalance {count:,} since it started{took}"
        if failed > before.failed:
            yield at_ms, f"{counted(failed - before.failed, 'rebalance')} failed since its metrics before"
    age_s = values.get("last_poll_seconds_ago", 0)
    if age_s >= POLL_LATE_S and not before.is_late:
        yield at_ms, f"it polled last {age_s:,.0f} s before"
    before.rebalances, before.failed, before.is_late = count, failed, age_s >= POLL_LATE_S
