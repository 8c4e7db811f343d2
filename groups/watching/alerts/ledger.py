"""The rules of one cluster as they stand in the database, and the alerts of theirs that hold: read, begun, ended."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from groups import storage
from groups.alert_models import Alert, AlertRule, Silence
from groups.cluster_models import Cluster
from groups.history.words import duration
from groups.watching.alerts import registry
from groups.watching.alerts.deliveries import enqueue
from groups.watching.alerts.rules import BadRule, Held, Kind, Rule
from groups.watching.alerts.silences import is_silent
from groups.watching.together import Together

READ_RULES_EVERY_S: Final = 2.0

FLAPS: Final = 3
FLAP_MS: Final = 600_000
"""An alert that began so many times within so long comes and goes: it stays until it has been over for so long."""

Place = tuple[str, str]
"""Rule and group; a rule on the cluster itself has the empty group."""


@dataclass(slots=True)
class Ledger:
    """The rules of some kinds; one process has them, that which watches."""

    cluster: Cluster
    kinds: Collection[Kind]
    rules: list[tuple[AlertRule, Rule]] = field(default_factory=list)
    open: dict[Place, Alert] = field(default_factory=dict)
    silences: list[Silence] = field(default_factory=list)
    _numbers: dict[Place, int | None] = field(default_factory=dict)
    """What the alerts that hold count, as their sentences have it."""

    _causes: dict[Place, tuple[str, int]] = field(default_factory=dict)
    """Rule and beginning of the event that several groups share, of alerts that hold."""

    _began: dict[Place, list[int]] = field(default_factory=dict)
    """When the last alerts of a place began."""

    _over: dict[Place, int] = field(default_factory=dict)
    """Since when the condition of an alert that comes and goes is over."""

    _sent: set[tuple[str, int]] = field(default_factory=set)
    """Those of which a message was sent."""

    read_s: float | None = None
    """When the rules were last read, on the monotonic clock; null: they are read at the next look."""

    def refresh(self) -> bool:
        """Read the rules again where that is due; whether there are others than before."""
        now_s = time.monotonic()
        if self.read_s is not None and now_s - self.read_s < READ_RULES_EVERY_S:
            return False
        is_first, self.read_s = self.read_s is None, now_s
        self.silences = list(Silence.objects.filter(cluster=self.cluster))
        kinds = [kind.value for kind in self.kinds]
        rows = AlertRule.objects.filter(cluster=self.cluster, enabled=True, kind__in=kinds)
        rules = []
        for row in rows.select_related("cluster"):
            try:
                rules.append((row, registry.values(row)))
            except BadRule:
                continue
        if not is_first and {row.pk for row, _ in rules} == {row.pk for row, _ in self.rules}:
            return False
        self.rules = rules
        ids = {row.pk for row, _ in rules}
        held = Alert.objects.filter(cluster=self.cluster, ended_ms=None, rule__in=ids)
        self.open = {(alert.rule_id, alert.group): alert for alert in held.select_related("rule__cluster")}
        return True

    def begin(
        self,
        row: AlertRule,
        group: str,
        at_ms: int,
        held: Held,
        timeline_id: str | None = None,
        key: str = "",
        together: Together | None = None,
    ) -> Alert:
        """Store the alert and what is to be sent of it; with ``key`` it is a finding, which is sent once.

        Of alerts with one cause (``together``) one message is sent.
        """
        text = held.text if together is None else f"{held.text}. {together.text}"
        if not key and self._comes_and_goes((row.pk, group), at_ms):
            text += (
                f". It began {FLAPS} times in {duration(FLAP_MS)}, and ends when it has been over for as long"
            )
        alert = Alert.objects.create(
            id=storage.new_id(),
            rule=row,
            cluster=self.cluster,
            group=group,
            key=key,
            says=text,
            since_ms=held.since_ms,
            at_ms=at_ms,
            # A finding is sent once; a condition lasts until it is over.
            ended_ms=at_ms if key else None,
            timeline_id=timeline_id,
            sequence=held.sequence,
            silenced=is_silent(self.silences, row.kind, group, at_ms),
        )
        if not key:
            self.open[row.pk, group] = alert
            self._numbers[row.pk, group] = held.number
        cause = (row.pk, together.from_ms) if together is not None else None
        if alert.silenced:
            return alert
        if cause is None or cause not in self._sent:
            enqueue(row, alert, "found" if key else "began", text)
        if cause is not None:
            self._sent.add(cause)
            self._causes[row.pk, group] = cause
        return alert

    def now(self, place: Place, held: Held) -> bool:
        """Have the alert of a place say what is so now; false where its number is that of before."""
        self._over.pop(place, None)
        if held.number is None or self._numbers.get(place, held.number) == held.number:
            self._numbers.setdefault(place, held.number)
            return False
        self._numbers[place] = held.number
        self.open[place].says = held.text
        return bool(Alert.objects.filter(pk=self.open[place].pk).update(says=held.text))

    def end(self, place: Place, at_ms: int, why: str, *, for_good: bool = False) -> list[Alert]:
        """End the alert of a place; empty where none holds there, or somebody ended it.

        One that came and went goes on until it has been over for ``FLAP_MS``, unless its group is gone (``for_good``).
        """
        if place not in self.open:
            return []
        if not for_good and len(self._began.get(place, ())) >= FLAPS:
            over_ms = self._over.setdefault(place, at_ms)
            if at_ms - over_ms < FLAP_MS:
                return []
        alert = self.open.pop(place)
        self._over.pop(place, None)
        alert.ended_ms = at_ms
        if not Alert.objects.filter(pk=alert.pk).update(ended_ms=at_ms):
            return []
        cause = self._causes.pop(place, None)
        if alert.silenced:
            return [alert]
        if cause is None or cause not in self._causes.values():
            text = f"Over after {duration(at_ms - alert.since_ms)} ({why}): {alert.says}"
            enqueue(alert.rule, alert, "ended", text)
        return [alert]

    def resume(self, at_ms: int) -> bool:
        """Send that alerts began which hold and are silent no more; whether there are such."""
        ended = [
            alert
            for alert in self.open.values()
            if alert.silenced and not is_silent(self.silences, alert.rule.kind, alert.group, at_ms)
        ]
        for alert in ended:
            alert.silenced = False
            Alert.objects.filter(pk=alert.pk).update(silenced=False)
            enqueue(alert.rule, alert, "began", alert.says)
        return bool(ended)

    def _comes_and_goes(self, place: Place, at_ms: int) -> bool:
        """Count an alert that begins; whether it is one of ``FLAPS`` within ``FLAP_MS``."""
        recent = [began_ms for began_ms in self._began.get(place, ()) if began_ms > at_ms - FLAP_MS]
        self._began[place] = [*recent, at_ms]
        return len(self._began[place]) >= FLAPS
