"""Forks over HTTP: what a moment gives, a branch with its parent, the tree; and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from explorer.pages.runs import starting
from groups import storage
from groups.models import Timeline
from simulations.jobs import run_tasks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(starting.run_tasks.run, "delay", sent.append)
    return sent


def posted(client: Client, timeline: str, body: Any, status: int = 201) -> Any:
    answer = client.post(f"/api/timelines/{timeline}/forks", body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def simulated(name: str = "released-six-partitions") -> Timeline:
    timeline = starting.start_run(name)
    run_tasks.run(timeline.id)
    return storage.get(timeline.id)


def test_a_fork_of_a_run_without_a_change_equals_it_and_has_it_as_its_parent(
    client: Client, queued: list[str]
) -> None:
    run = simulated()
    made = posted(client, run.id, {"at": 30})
    assert (made["how"], queued[-1]) == ("same run", made["id"])
    run_tasks.run(made["id"])
    branch = storage.get(made["id"])
    assert (branch.parent_id, branch.fork_sequence, branch.last) == (run.id, 30, run.last)
    assert list(storage.every_entry(branch)) == list(storage.every_entry(run))
    tree = client.get(f"/api/timelines/{branch.id}/forks").json()["branches"]
    assert [(each["id"], each["parent"], each["at"]) for each in tree] == [
        (run.id, None, None),
        (branch.id, run.id, 30),
    ]
    # Without its parent a branch is still there.
    assert client.delete(f"/api/timelines/{run.id}").status_code in (200, 204)
    assert len(client.get(f"/api/timelines/{branch.id}/forks").json()["branches"]) == 1


def test_a_fork_with_a_setting_starts_at_the_moment(client: Client) -> None:
    run = simulated()
    at = run.last
    start = client.get(f"/api/timelines/{run.id}/forks?at={at}").json()["start"]
    assert (start["why"], start["same_run"]) == (None, True)
    faults = [{"do": "kill", "who": start["members"][0], "after_ms": 5_000}]
    made = posted(
        client, run.id, {"at": at, "title": "Range", "set": {"assignor": "range"}, "faults": faults}
    )
    assert made["how"] == "taken over"
    run_tasks.run(made["id"])
    branch = storage.get(made["id"])
    assert (branch.title, branch.status, branch.parent_id) == ("Range", "complete", run.id)
    frame = storage.frame_at(run, at)
    first = next(storage.every_entry(branch))  # type: ignore[call-overload]
    assert frame is not None
    assert first["at_ms"] == frame["at_ms"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"at": 10**9}, 409, "there is no 1000000000"),
        ({"at": "x"}, 400, "at must be an entry's number"),
        ({"when": 1}, 400, "is no field"),
        ({"at": 30, "faults": [{"do": "kill", "who": "Nobody"}]}, 400, "unknown member Nobody"),
        ({"at": 30, "set": {"assignor": "best"}}, 400, "must be one of uniform"),
        ({"at": 30, "set": {"session_timeout_ms": 0}}, 400, "from 1 to"),
    ],
)
def test_a_fork_that_cannot_be_made_is_refused_in_a_sentence(
    client: Client, body: Any, status: int, words: str
) -> None:
    run = simulated()
    assert words in posted(client, run.id, body, status)["error"]["message"]
    assert Timeline.objects.filter(parent__isnull=False).count() == 0
