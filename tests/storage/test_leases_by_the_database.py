"""Leases go by the database's clock: a process whose own clock is wrong takes nothing from the others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from groups import storage
from groups.cluster_models import Cluster
from groups.imports import lifecycle
from groups.models import Import, Timeline
from groups.watching import registry

pytestmark = pytest.mark.django_db

Shift = Callable[[float], None]


@pytest.fixture
def clock_of_this_process(monkeypatch: pytest.MonkeyPatch) -> Shift:
    right: Callable[[], datetime] = timezone.now

    def shift(seconds: float) -> None:
        monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(seconds=seconds))

    return shift


@pytest.mark.parametrize("ahead_s", [40, 4_000, -4_000])
def test_work_that_is_renewed_is_lost_for_no_clock(clock_of_this_process: Shift, ahead_s: float) -> None:
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    assert lifecycle.leases.take(found.id)
    run = storage.create_timeline(title="r", source=Timeline.Source.SIMULATION)
    storage.open_writer(run.id, "a worker")
    cluster = Cluster.objects.create(id="c", name="c")
    assert registry.take(cluster.id, "a watcher")
    clock_of_this_process(ahead_s)
    assert lifecycle.leases.lost() == []
    assert list(storage.lost_timelines()) == []
    with pytest.raises(storage.LeaseLost):
        storage.open_writer(run.id, "another worker")
    assert registry.open_to_take() == []
    assert not registry.take(cluster.id, "another watcher")


@pytest.mark.parametrize("ahead_s", [40, -4_000])
def test_a_lease_that_was_taken_by_a_wrong_clock_expires_in_time(
    clock_of_this_process: Shift, ahead_s: float
) -> None:
    clock_of_this_process(ahead_s)
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    assert lifecycle.leases.take(found.id)
    clock_of_this_process(0)
    until: Any = Import.objects.get(pk=found.id).lease_until
    assert 20 < (until - timezone.now()).total_seconds() <= 30
