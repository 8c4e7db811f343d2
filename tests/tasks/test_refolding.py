"""A cache of another fold is made anew in a child process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from explorer.server import housekeeping
from groups import storage, tasks
from groups.history.replay.fold import FOLD_VERSION
from groups.jobs import children
from groups.models import Folded, Timeline
from groups.storage import refolding
from tests.stories import a_day_of_three


@pytest.fixture
def _children_use_the_tests_database(monkeypatch: pytest.MonkeyPatch, database_of_the_test: str) -> None:
    monkeypatch.setenv("DATABASE_URL", database_of_the_test)


@pytest.mark.usefixtures("_children_use_the_tests_database")
def test_the_sweep_asks_once_and_the_child_makes_it(
    stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = stored(a_day_of_three())
    before = storage.frame_at(timeline, 12)
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    Folded.objects.update(fold_version=FOLD_VERSION - 1)
    queued: list[str] = []
    monkeypatch.setattr(tasks.refold, "delay", queued.append)
    housekeeping.sweep()
    housekeeping.sweep()
    assert queued == [timeline.id]

    tasks.refold(timeline.id)
    found = storage.get(timeline.id)
    assert found.fold_version == FOLD_VERSION
    assert storage.frame_at(found, 12) == before
    assert found.lease_owner == ""


def test_a_server_that_ends_meanwhile_leaves_the_cache_for_its_next_start(
    stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is no failure: nothing is raised, so no traceback is logged."""
    timeline = stored(a_day_of_three())
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    monkeypatch.setattr(children.shutting_down, "is_set", lambda: True)
    tasks.refold(timeline.id)
    assert storage.get(timeline.id).fold_version == FOLD_VERSION - 1


def test_a_cache_that_was_asked_for_and_did_not_come_is_asked_for_again(
    stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fold that was cut short still holds its lease when the first task comes, which then does nothing."""
    timeline = stored(a_day_of_three())
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    queued: list[str] = []
    monkeypatch.setattr(tasks.refold, "delay", queued.append)
    housekeeping.sweep()
    monkeypatch.setattr(housekeeping, "REFOLD_AGAIN_S", 0.0)
    housekeeping.sweep()
    assert queued == [timeline.id, timeline.id]


def test_a_fold_that_lost_its_lease_ends_and_leaves_the_cache_to_the_other(
    stored: Callable[..., Timeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stood still for longer than a lease goes on beside whoever took the work over."""
    timeline = stored(a_day_of_three())
    Timeline.objects.update(fold_version=FOLD_VERSION - 1)
    monkeypatch.setattr(refolding, "RENEW_EVERY_S", 0.0)
    entries = list(storage.every_entry(timeline))

    def taken_over(_: Timeline) -> Iterator[dict[str, Any]]:
        yield from entries[:3]
        Timeline.objects.update(lease_owner="the other")
        yield from entries[3:]

    monkeypatch.setattr(refolding, "every_entry", taken_over)
    assert not refolding.refold(timeline.id, "the first")
    found = storage.get(timeline.id)
    assert (found.fold_version, found.lease_owner) == (FOLD_VERSION - 1, "the other")
