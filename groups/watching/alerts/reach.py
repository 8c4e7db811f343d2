"""Whether the cluster itself answers: alerts of the rules on that, which no group shows.

Times are the watcher's clock. What counts is the last round that was seen whole: a broker that hangs is noticed when a
request has waited for its answer, and has been away since the round before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from groups.alert_models import Alert
from groups.cluster_models import Cluster
from groups.history.words import duration
from groups.watching.alerts.deliveries import publish
from groups.watching.alerts.ledger import Ledger
from groups.watching.alerts.registry import ShownAlert, shown_alert
from groups.watching.alerts.rules import OF_CLUSTER, Held, long_enough

NO_GROUP = ""
"""An alert on the cluster itself is about no group."""


@dataclass(slots=True)
class Reach:
    """One cluster's; one process has it, that which watches."""

    cluster: Cluster
    ledger: Ledger = field(init=False)
    _answered_ms: int | None = None
    _away_ms: int | None = None
    """Since when it is away; null while it answers."""

    _problem: str = ""

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.cluster, OF_CLUSTER)

    def answered(self, at_ms: int) -> list[ShownAlert]:
        """A round was seen at this time; the alerts that it ends."""
        self._answered_ms = at_ms
        if self._away_ms is None and self.ledger.read_s is not None and not self.ledger.open:
            return []
        self._away_ms = None
        self.ledger.refresh()
        places = list(self.ledger.open)
        return self._published(
            [each for place in places for each in self.ledger.end(place, at_ms, "it answers")]
        )

    def failed(self, problem: str, at_ms: int) -> list[ShownAlert]:
        """It did not answer, with the reason in a sentence; the alerts that begin."""
        if self._away_ms is None:
            self._away_ms = at_ms if self._answered_ms is None else self._answered_ms
        self._problem = problem
        return self.look(at_ms)

    def look(self, at_ms: int) -> list[ShownAlert]:
        """The alerts that begin because it has been away for long enough by now."""
        if self._away_ms is None:
            return []
        self.ledger.refresh()
        self.ledger.resume(at_ms)
        began = []
        for row, rule in self.ledger.rules:
            length = duration(at_ms - self._away_ms)
            text = f"{self.cluster.name} has been out of reach for {length}: {self._problem}"
            held = Held(text=text, since_ms=self._away_ms, sequence=None)
            if (row.pk, NO_GROUP) in self.ledger.open:
                self.ledger.now((row.pk, NO_GROUP), held)
            elif long_enough(rule, held, at_ms):
                began.append(self.ledger.begin(row, NO_GROUP, at_ms, held))
        return self._published(began)

    def _published(self, changed: Sequence[Alert]) -> list[ShownAlert]:
        shown = [shown_alert(alert) for alert in changed]
        if shown:
            publish(self.cluster.pk, shown)
        return shown
