"""Forks of a real broker's log and of a watched group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from groups import storage
from groups.models import Timeline
from groups.places import ROOT
from simulations.jobs import run_tasks
from tests.api.test_assignment import ODD, TWO, watched
from tests.api.test_forks import posted, queued
from tests.tasks.idle import close_idle_children

__all__ = ["queued"]

pytestmark = pytest.mark.django_db(transaction=True)


def shares(timeline: Timeline, at: int) -> list[Any]:
    frame = storage.frame_at(timeline, at)
    assert frame is not None
    return sorted((member.get("epoch") or 0, str(member["assigned"])) for member in frame["members"].values())


def branch_of(client: Client, timeline: Timeline, at: int, **more: Any) -> Timeline:
    """The branch, simulated, which begins with the members' shares and epochs of the moment."""
    made = posted(client, timeline.id, {"at": at, **more})
    assert made["how"] == "taken over"
    run_tasks.run(made["id"])
    branch = storage.get(made["id"])
    assert (branch.status, branch.parent_id, branch.fork_sequence) == ("complete", timeline.id, at)
    wanted = shares(timeline, at)
    assert any(shares(branch, each) == wanted for each in range(1, min(branch.last, 80) + 1))
    return branch


@pytest.mark.long
def test_both_groups_of_the_sample_log_are_forked_at_moments_with_members(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.VAR, settings.STORE_URL = tmp_path / "var", str(tmp_path / "store")
    call_command("import_log", str(ROOT / "groups/samples/orders-enrich"), "--engine", "local")
    close_idle_children()
    protocols = {}
    for timeline in Timeline.objects.all():
        protocols[timeline.group] = timeline.protocol
        for at in (timeline.last // 3, timeline.last // 2):
            branch_of(client, timeline, at)
        start = client.get(f"/api/timelines/{timeline.id}/forks?at={timeline.last // 2}").json()["start"]
        killed = {"do": "kill", "who": start["members"][0], "after_ms": 3_000}
        branch_of(client, timeline, timeline.last // 2, faults=[killed])
    assert protocols == {"orders-enrich": "consumer", "payments-audit": "classic"}


def test_a_watched_group_is_forked_while_its_timeline_still_grows(client: Client) -> None:
    timeline = watched(TWO, ODD)
    assert timeline.status == Timeline.Status.RUNNING
    branch = branch_of(
        client, timeline, timeline.last, faults=[{"do": "kill", "who": "anna", "after_ms": 2_000}]
    )
    last = storage.frame_at(branch, branch.last)
    assert last is not None
    assert [member["assigned"] for member in last["members"].values()] == [{"orders": [0, 1, 2, 3]}]
