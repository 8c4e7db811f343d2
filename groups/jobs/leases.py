"""Work that waits in a queue and is then held by a lease: what imports and sweeps have in common.

A row is taken by one conditional update, so that a task delivered twice finds it taken. The process that has it renews its
lease; work whose lease expired is lost: queued again if it waited, marked as cut short if it was under way. Timelines
have leases with an owner's name, since entries have one writer (``groups.storage.writing``).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.db.models import DateTimeField, ExpressionWrapper, Model, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django.utils import timezone

from groups.jobs.serving import IMPORTS, why_not_served


def from_now(seconds: float = 0.0) -> Combinable:
    """The time of the database, so many seconds later, for filters and updates."""
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


WAITING: Final = "waiting"
RUNNING: Final = "running"

LEASE_S: Final = 30
"""A lease expires this long after its last renewal."""

QUEUED_S: Final = 600
"""Work that no worker took for so long is queued again."""

LOOK_EVERY_S: Final = 1.0
"""How often a working process looks whether its work was cancelled, and renews its lease."""


def end_of_lease() -> Combinable:
    """Until when one holds who begins or renews now."""
    return from_now(LEASE_S)


def end_of_wait() -> Combinable:
    """Until when what is queued now may wait for a worker."""
    return from_now(QUEUED_S)


def waits_of(status: str, queue: str = IMPORTS) -> str:
    """Why an import or a sweep of this status does not begin; empty where a worker will take it, or has."""
    return why_not_served(queue) if status == WAITING else ""


@dataclass(frozen=True, slots=True)
class Leases:
    """The rows of a model with ``status`` (``waiting``, ``running``, or ended) and ``lease_until``."""

    model: type[Model]

    def _rows(self, **facts: Any) -> QuerySet[Any]:
        return self.model._default_manager.filter(**facts)

    def take(self, pk: str, **facts: Any) -> bool:
        """Begin a row that waits, with these facts; false if it is taken, or has ended."""
        taken = self._rows(pk=pk, status=WAITING).update(status=RUNNING, lease_until=end_of_lease(), **facts)
        return bool(taken)

    def lost(self) -> list[str]:
        """Ids of rows whose lease has expired."""
        open_rows = self._rows(status__in=(WAITING, RUNNING), lease_until__lte=from_now())
        return list(open_rows.values_list("pk", flat=True))

    def forget_queue(self) -> int:
        """Call every waiting row lost: a queue in memory is empty when its process starts."""
        return self._rows(status=WAITING).update(lease_until=from_now())

    def requeue(self, pk: str) -> bool:
        """Take a lost waiting row for the queue; false if another process did so."""
        lost = self._rows(pk=pk, status=WAITING, lease_until__lte=from_now())
        return bool(lost.update(lease_until=end_of_wait()))

    def interrupt(self, pk: str, status: str, problem: str, **facts: Any) -> bool:
        """End a lost running row; false if it is not lost."""
        lost = self._rows(pk=pk, status=RUNNING, lease_until__lte=from_now())
        ended = lost.update(
            status=status, problem=problem, finished=timezone.now(), lease_until=None, **facts
        )
        return bool(ended)

    def take_up_lost(self, queue: Callable[[str], object], interrupt: Callable[[str], object]) -> None:
        """Queue lost waiting rows again, and mark lost running ones."""
        for pk in self.lost():
            if self.requeue(pk):
                queue(pk)
            else:
                interrupt(pk)


@dataclass(slots=True)
class Watch:
    """Asked often whether to stop, it looks seldom: by ``renew``, which is false where the lease is gone."""

    renew: Callable[[], bool]
    ended: bool = False
    """The work is done, so that nobody may stop it any more."""

    stopped: bool = False
    looked_s: float = field(default_factory=time.monotonic)

    def __call__(self) -> bool:
        if self.ended or time.monotonic() - self.looked_s < LOOK_EVERY_S:
            return False
        self.looked_s = time.monotonic()
        self.stopped = not self.renew()
        return self.stopped
