"""A cluster's groups against its rules: after each round alerts begin, go on and end.

A group is looked at when it changed, and while something of it is pending: a condition that does not hold long enough yet,
or an alert that has not ended. All others cost nothing. While a group cannot be seen, its last state counts.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from groups.alert_models import Alert, AlertRule
from groups.cluster_models import Cluster
from groups.history.findings.finding import Finding
from groups.history.polls.recording import Condition
from groups.history.story.common_causes import APART_MS, GROUPS_LEAST
from groups.watching.alerts.deliveries import publish
from groups.watching.alerts.lag_course import KEPT_MS, LagCourse
from groups.watching.alerts.ledger import Ledger
from groups.watching.alerts.registry import ShownAlert, shown_alert
from groups.watching.alerts.rules import (
    AFTER_A_LOSS,
    LOSS_FINDINGS,
    NEED_COURSE,
    OF_CLUSTER,
    Free,
    Held,
    Kind,
    Look,
    Rule,
    found,
    holds,
    long_enough,
)
from groups.watching.live_group import LiveGroup
from groups.watching.together import Losses

LOOK_EVERY_S: Final = 0.5

FINDING_FRESH_MS: Final = 600_000
"""A finding that is older than this when it is first seen is history: somebody took up the watching again."""


@dataclass(slots=True)
class Lookout:
    """The rules of one cluster under way; one process has it, that which watches."""

    cluster: Cluster
    losses: Losses = field(default_factory=Losses)
    ledger: Ledger = field(init=False)
    _looked_s: float | None = None
    _since: dict[tuple[str, str], int] = field(default_factory=dict)
    """Since when a condition is there, for those whose time is not in the group itself."""

    _begun: set[tuple[str, str, str]] = field(default_factory=set)
    """Findings that were sent, by rule, group and key."""

    _late: set[str] = field(default_factory=set)
    """Groups that lost a member a moment ago."""

    _courses: dict[str, LagCourse] = field(default_factory=dict)
    """Of the groups about which a rule needs it."""

    _is_other: bool = False
    """Whether an alert that holds has another sentence than at the last look."""

    _looks: dict[str, tuple[object, ...]] = field(default_factory=dict)
    """What each group was when it was last looked at: the same again is passed over."""

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.cluster, frozenset(Kind) - OF_CLUSTER)

    def look(self, groups: Mapping[str, LiveGroup], at_ms: int) -> list[ShownAlert]:
        """Hold the rules against the groups; the alerts that began or ended are stored, sent, announced and given back."""
        now_s = time.monotonic()
        if self._looked_s is not None and now_s - self._looked_s < LOOK_EVERY_S:
            return []
        self._looked_s = now_s
        if self.ledger.refresh():
            self._forget_others()
        if not self.ledger.rules:
            return []
        self._is_other = self.ledger.resume(at_ms)
        changed: list[Alert] = []
        self.losses.take(groups)
        restless = {group for _, group in (*self.ledger.open, *self._since)} | self._late
        self._late = set()
        for name, watched in groups.items():
            mark = (watched.facts, watched.row.condition, watched.row.timeline_id, watched.last)
            before = self._looks.get(name)
            if name not in restless and before is not None and before == mark:
                continue
            self._looks[name] = mark
            look = self._with_course(look_at(name, watched, at_ms))
            for row, rule in self.ledger.rules:
                if rule.is_about(name):
                    changed += self._held_against(row, rule, look, watched)
        shown = [shown_alert(alert) for alert in changed]
        if shown or self._is_other:
            publish(self.cluster.pk, shown)
        self._is_other = False
        return shown

    def _forget_others(self) -> None:
        """Other rules: all groups are looked at again, and what was pending for former rules is dropped."""
        self._looks.clear()
        ids = {row.pk for row, _ in self.ledger.rules}
        self._since = {place: since for place, since in self._since.items() if place[0] in ids}
        for place, alert in self.ledger.open.items():
            # Another process noticed when it began.
            self._since.setdefault(place, alert.since_ms)
        self._begun = {
            (alert.rule_id, alert.group, alert.key)
            for alert in Alert.objects.filter(cluster=self.cluster).exclude(key="")
        }

    def _held_against(self, row: AlertRule, rule: Rule, look: Look, watched: LiveGroup) -> list[Alert]:
        place = (row.pk, look.group)
        if rule.kind is Kind.FINDING:
            return self._findings(row, rule, look, watched)
        if watched.row.condition == Condition.DELETED:
            self._since.pop(place, None)
            return self.ledger.end(place, look.at_ms, "the group was deleted", for_good=True)
        if not look.is_seen and rule.kind is not Kind.UNREADABLE:
            return []
        held = holds(rule, look, self._since.get(place))
        if (
            held is None
            and rule.kind in NEED_COURSE
            and place in self.ledger.open
            and not _is_over(rule, look)
        ):
            return []
        if held is None:
            self._since.pop(place, None)
            return self.ledger.end(place, look.at_ms, "it is over")
        self._since[place] = held.since_ms
        if place in self.ledger.open:
            # Another partition, another rebalance: the alert goes on only while one lasts that is as long.
            if not long_enough(rule, held, look.at_ms):
                return self.ledger.end(place, look.at_ms, "it is over")
            self._is_other = self.ledger.now(place, held) or self._is_other
            return []
        return [self._begins(row, look, held, watched)] if long_enough(rule, held, look.at_ms) else []

    def _with_course(self, look: Look) -> Look:
        needed = any(rule.kind in NEED_COURSE and rule.is_about(look.group) for _, rule in self.ledger.rules)
        if not needed:
            self._courses.pop(look.group, None)
            return look
        course = self._courses.setdefault(look.group, LagCourse())
        if look.lag is None:
            return look
        course.add(look.at_ms, look.lag, look.rebalanced_ms[-1] if look.rebalanced_ms else None)
        return replace(look, course=course)

    def _findings(self, row: AlertRule, rule: Rule, look: Look, watched: LiveGroup) -> list[Alert]:
        created_ms = round(row.created.timestamp() * 1000)
        began = []
        for held in found(rule, look, max(created_ms, look.at_ms - FINDING_FRESH_MS)):
            key = f"{watched.row.timeline_id} {held.key}"[:200]
            if (row.pk, look.group, key) in self._begun:
                continue
            others = len(self._looks) >= GROUPS_LEAST
            if others and rule.finding in LOSS_FINDINGS and look.at_ms - held.since_ms < APART_MS:
                # Other groups may lose members at the same time: that is one cause.
                self._late.add(look.group)
                continue
            self._begun.add((row.pk, look.group, key))
            began.append(self._begins(row, look, held, watched, key=key))
        return began

    def _begins(self, row: AlertRule, look: Look, held: Held, watched: LiveGroup, key: str = "") -> Alert:
        together = self.losses.of(look.group) if row.kind in AFTER_A_LOSS else None
        if row.kind == Kind.FINDING and row.limits.get("finding") not in LOSS_FINDINGS:
            together = None
        timeline_id = watched.row.timeline_id
        return self.ledger.begin(row, look.group, look.at_ms, held, timeline_id, key, together)


def _is_over(rule: Rule, look: Look) -> bool:
    """Whether a process that may have begun to watch after the alert knows that it is over."""
    if look.course is None:
        return False
    return (
        look.lag == 0
        or look.course.knows(look.at_ms, rule.within_s * 1000 or KEPT_MS)
        or look.course.was_behind
    )


def look_at(name: str, watched: LiveGroup, at_ms: int) -> Look:
    """The group as rules see it."""
    facts, row = watched.facts, watched.row
    recorder = watched.recorder
    if recorder is not None:
        findings, epochs = recorder.findings, recorder.finder.epochs.starts
    else:
        summary = row.timeline.summary if row.timeline is not None else {}
        findings, epochs = summary.get("findings", ()), summary.get("epochs", ())
    since = facts.get("since_ms") if facts.get("rebalancing") else None
    return Look(
        group=name,
        at_ms=at_ms,
        state=row.state,
        is_seen=row.condition == Condition.SEEN,
        members=_number(facts.get("members")),
        lag=_number(facts.get("lag")),
        lag_ms=_number(facts.get("lag_ms")),
        lag_is_least=bool(facts.get("lag_is_least")),
        lost_records=_number(facts.get("lost_records")) or 0,
        lost_partition=str(facts.get("lost_partition") or ""),
        rebalancing_since_ms=_number(since),
        rebalanced_ms=[at for at in _list(facts.get("rebalanced_ms")) if isinstance(at, int)],
        free=_free(findings, watched.skew_ms),
        last=watched.last or None,
        epoch_began=watched.phase_began or (epochs[-1]["sequence"] if epochs else None),
        findings=findings,
        skew_ms=watched.skew_ms or 0,
    )


def _free(findings: Sequence[Finding], skew_ms: int | None) -> Free | None:
    """The partition that has been without an owner for the longest time. ``skew_ms``: null where the log's clock is not measured yet."""
    opens = [each for each in findings if each["kind"] == "no_owner" and each.get("open")]
    if not opens:
        return None
    first = min(opens, key=lambda each: each["from_ms"])
    since_ms = None if skew_ms is None else first["from_ms"] - skew_ms
    return Free(name=first["partition"], since_ms=since_ms, sequence=first["sequences"][0], count=len(opens))


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
