"""The next assignment over HTTP: of a moment of a stored timeline, and of what came beside what was foretold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from groups.models import Timeline
from groups.watching import registry as clusters
from groups.watching.storing import Store
from tests.api.conftest import Api
from tests.stories import a_day_of_three
from tests.watching.rounds import BEGIN_MS, described, round_of

pytestmark = pytest.mark.once

Stored = Callable[..., Timeline]


def watched(*shares: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]) -> Timeline:
    """The timeline of a live group that was described so, one epoch after the other."""
    cluster = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(cluster.pk, "test")
    store = Store(cluster, "test")
    for epoch, each in enumerate(shares, 4):
        store.take(round_of(BEGIN_MS + epoch * 1000, described("orders", each, epoch=epoch)))
    return Timeline.objects.get(group="orders")


ONE = {"anna": ((0, 1, 2, 3), (0, 1, 2, 3))}
TWO = {"anna": ((0, 1), (0, 1)), "ben": ((2, 3), (2, 3))}
ODD = {"anna": ((1, 2), (1, 2)), "ben": ((0, 3), (0, 3))}


@pytest.mark.django_db(transaction=True)
def test_a_live_groups_target_came_as_it_was_foretold(api: Api) -> None:
    timeline = watched(TWO, ONE)
    _, told = api.get(f"timelines/{timeline.id}/assignment")
    assert (told["why"], told["assignor"]) == (None, "uniform")
    assert told["came"] | {"sequence": 0} == {
        "epoch": 5,
        "sequence": 0,
        "equal": 4,
        "of": 4,
        "differences": [],
    }


@pytest.mark.django_db(transaction=True)
def test_one_that_came_otherwise_is_told_partition_by_partition(api: Api) -> None:
    timeline = watched(TWO, ODD)
    _, told = api.get(f"timelines/{timeline.id}/assignment")
    assert (told["came"]["equal"], told["came"]["of"]) == (2, 4)
    assert told["came"]["differences"][0] == {"partition": "orders-0", "before": "anna", "after": "ben"}


@pytest.mark.django_db(transaction=True)
def test_who_would_leave_or_join_is_asked_for(api: Api) -> None:
    timeline = watched(ONE, TWO)
    _, told = api.get(f"timelines/{timeline.id}/assignment", leaves="ben")
    assert told["next"]["target"] == {"anna": {"orders": [0, 1, 2, 3]}}
    assert (told["next"]["epoch"], told["next"]["is_due"]) == (6, False)
    _, told = api.get(f"timelines/{timeline.id}/assignment", joins="1")
    assert len(told["next"]["moves"]) == 1
    _, told = api.get(f"timelines/{timeline.id}/assignment", leaves="nobody")
    assert (told["next"], told["why"]) == (None, "No member nobody is in the group at this moment.")


@pytest.mark.django_db(transaction=True)
def test_a_target_after_others_that_nobody_saw_is_not_compared(api: Api) -> None:
    cluster = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(cluster.pk, "test")
    store = Store(cluster, "test")
    store.take(round_of(BEGIN_MS, described("orders", TWO, epoch=3)))
    store.take(round_of(BEGIN_MS + 1000, described("orders", ODD, epoch=7)))
    _, told = api.get(f"timelines/{Timeline.objects.get(group='orders').id}/assignment")
    assert told["came"] is None
    assert told["next"]["epoch"] == 8


def test_a_moment_that_is_none_is_refused(stored: Stored, api: Api) -> None:
    timeline = stored(a_day_of_three())
    address = f"timelines/{timeline.id}/assignment"
    refusals: list[tuple[dict[str, Any], int]] = [
        ({"at": 99}, 404),
        ({"at": "x"}, 400),
        ({"joins": "yes"}, 400),
    ]
    for query, status in refusals:
        assert api.get(address, **query)[0] == status
    assert api.get(address, at=0)[0] == 200
