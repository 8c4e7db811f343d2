"""What would have helped over HTTP and in a terminal: a search that runs in its child, its rows, a branch, what is refused."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from explorer.pages.remedies import views
from explorer.pages.runs import starting
from groups import storage
from groups.models import Timeline
from simulations.jobs import run_tasks
from simulations.jobs.remedy_runs import searches
from simulations.models import RemedySearch

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(starting.run_tasks.run, "delay", sent.append)
    monkeypatch.setattr(views.run_search, "delay", sent.append)
    return sent


def incident() -> Timeline:
    timeline = starting.start_run("incident-session-expiry")
    run_tasks.run(timeline.id)
    return storage.get(timeline.id)


def asked(client: Client, url: str, body: Any, status: int = 201) -> Any:
    answer = client.post(url, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_search_ranks_remedies_and_a_row_becomes_a_branch_next_to_its_log(
    client: Client, queued: list[str]
) -> None:
    run = incident()
    made = asked(client, f"/api/timelines/{run.id}/remedies", {"at": 12, "seeds": 1})
    assert queued[-1] == made["id"]
    url = f"/api/remedies/{made['id']}"
    assert client.get(url).json()["status"] == "waiting"
    searches.perform(made["id"])
    found = client.get(url).json()
    assert (found["status"], found["problem"], found["done"]) == ("complete", "", found["runs"])
    rows = {row["key"]: row for row in found["answer"]["rows"]}
    assert rows["session-10000"]["outcome"] == "less"
    assert rows["session-90000"]["outcome"] == "more"
    assert client.get(made["url"]).status_code == 200
    branch = asked(client, f"{url}/branches", {"remedy": "session-10000"})
    assert branch["compare"] == f"/compare?runs={run.id},{branch['id']}"
    stored = storage.get(branch["id"])
    assert (stored.parent_id, stored.fork_sequence) == (run.id, 12)
    assert stored.title == "Shorter session timeout: session.timeout.ms=10000"
    run_tasks.run(stored.id)
    assert storage.get(stored.id).status == "complete"
    assert "is no remedy" in asked(client, f"{url}/branches", {"remedy": "wish"}, 400)["error"]["message"]
    assert (
        asked(client, f"{url}/cancel", {}, 409)["error"]["message"] == "The search has ended: it is complete."
    )


def test_a_search_that_is_cancelled_ends_and_what_cannot_be_searched_has_a_sentence(client: Client) -> None:
    run = incident()
    url = f"/api/timelines/{run.id}/remedies"
    for body, words in (
        ({"at": "x"}, "at must be an entry's number"),
        ({"at": 12, "seeds": 51}, "from 1 to 50"),
        ({"at": 10**9}, "from 0 to"),
    ):
        assert words in asked(client, url, body, 400)["error"]["message"]
    made = asked(client, url, {"at": 12})
    assert asked(client, f"/api/remedies/{made['id']}/cancel", {}, 200)["status"] == "cancelled"
    assert searches.perform(made["id"]).status == "cancelled"
    late = asked(client, url, {"at": run.last})
    searches.perform(late["id"])
    found = client.get(f"/api/remedies/{late['id']}").json()
    assert found["status"] == "failed"
    assert found["problem"].startswith("Nothing to remedy: ") or "Nothing happens after" in found["problem"]
    assert client.get("/api/remedies/nowhere").status_code == 404
    storage.delete(run.id)
    assert not RemedySearch.objects.exists()


def test_the_command_prints_the_recording_and_a_line_for_each_row() -> None:
    run, out = incident(), io.StringIO()
    call_command("helped", run.id, "--at", "12", "--seeds", "1", stdout=out)
    first, *rows = map(json.loads, out.getvalue().splitlines())
    assert first["why"] is None
    assert rows[0]["key"] == "replay"
    assert {row["outcome"] for row in rows[1:]} == {"less", "no difference", "more"}
    with pytest.raises(CommandError, match=f"--at {run.last}: "):
        call_command("helped", run.id, "--at", str(run.last), stdout=out)


def test_the_rebalances_of_a_timeline_come_with_their_causes_and_costs(client: Client) -> None:
    run, out = incident(), io.StringIO()
    began, expired = client.get(f"/api/timelines/{run.id}/rebalances").json()["rebalances"]
    assert began["causes"] == ["A, B and C were already members"]
    assert (expired["who"], expired["moved"], expired["interrupted"]) == (["B"], 2, ["B"])
    assert expired["cost"]["moved"] == 2
    call_command("timeline", "show", run.id, "--format", "rebalances", stdout=out)
    assert [json.loads(line)["sequence"] for line in out.getvalue().splitlines()] == [
        began["sequence"],
        expired["sequence"],
    ]
    assert client.get(f"/t/{run.id}/rebalances").status_code == 200
    # A range over the last rebalance costs what the table has for it.
    known = client.get(f"/api/timelines/{run.id}/range?from={expired['sequence']}").json()
    assert known["is_known"]
    assert (known["rebalances"], known["moved"], known["interrupted"]) == (1, 2, ["B"])
    for name in ("unassigned_partition_ms", "unread_partition_ms", "read_twice_why"):
        assert known[name] == expired["cost"][name]
    refused = client.get(f"/api/timelines/{run.id}/range?from=9&to=3")
    assert (refused.status_code, "in order" in refused.content.decode()) == (400, True)
