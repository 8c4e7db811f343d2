"""A team's workers and servers are killed in the middle of an import and of a run: what was acknowledged is there, and the work ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groups.history.state.group import Semantics
from simulations.world.engine import run as simulate
from simulations.world.scenario import load
from tests.benchmarks.generated.mixes import typical
from tests.services.asked import Asked, until
from tests.services.test_team import SCENARIO

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

RECORDS = 150_000
"""More than 16 MB: a smaller import waits in the queue of runs."""
ENTRIES_AT_ONCE = 2000
"""As many as one answer has at most."""

LEFT = 2
"""The server that is not killed."""


def kill(team: Asked, name: str) -> None:
    """SIGKILL: the process can neither finish nor hand over anything."""
    team.processes[name].kill()
    team.processes[name].wait()


def entries(team: Asked, server: int, timeline: str, last: int) -> list[Any]:
    """The timeline's first entries, as many as are asked for and one answer has at most."""
    last = min(last, ENTRIES_AT_ONCE)
    found: list[Any] = team.ask(server, f"/api/timelines/{timeline}/entries?from=1&to={last}")["entries"]
    return found


def stored_count(imported: Any) -> int:
    """Timelines that are stored so far."""
    return next((stage["done"] for stage in imported.get("stages", ()) if stage["name"] == "Stored"), 0)


def test_what_was_acknowledged_outlives_killed_workers_and_servers_and_the_work_is_resumed(
    team: Asked, tmp_path: Path
) -> None:
    body = json.dumps({"scenario": SCENARIO}).encode()
    run = team.ask(0, "/api/runs", body)["id"]
    log = typical(tmp_path / "log", RECORDS)
    found = team.upload(1, [Path(each) for each in log.files])["id"]

    def facts(path: str) -> Any:
        return team.ask(LEFT, path) or {"status": "away", "last": 0}

    until(lambda: facts(f"/api/timelines/{run}")["last"] > 0)
    known = entries(team, 0, run, facts(f"/api/timelines/{run}")["last"])
    assert known
    for name in ("runs", "server-0"):
        kill(team, name)
    # Some of its groups are finished, and others are still being folded.
    until(lambda: stored_count(facts(f"/api/imports/{found}")))
    for name in ("imports", "server-1"):
        kill(team, name)
    # The server that is left has all that the killed ones acknowledged.
    assert entries(team, LEFT, run, len(known)) == known
    assert facts(f"/api/imports/{found}")["id"] == found
    for queue in ("runs", "imports"):
        team.start_worker(queue)
    team.start_server(0)

    # A run is resumed by itself; it is the run that it would have been.
    until(lambda: facts(f"/api/timelines/{run}")["status"] not in ("running", "waiting", "away"))
    ended = facts(f"/api/timelines/{run}")
    assert ended["status"] == "complete", ended["problem"]
    whole = list(simulate(load(SCENARIO), Semantics.KAFKA, ended["seed"]))
    assert ended["last"] == len(whole)
    first = [json.loads(json.dumps(each.to_json())) for each in whole[:ENTRIES_AT_ONCE]]
    assert entries(team, LEFT, run, ended["last"]) == first

    # An import begins again by itself, from what was uploaded, and takes over the groups that were finished.
    until(lambda: facts(f"/api/imports/{found}")["status"] in ("complete", "failed"))
    read = facts(f"/api/imports/{found}")
    assert read["status"] == "complete", read["problem"]
    assert read["records"]["read"] == log.records
    assert (read["begun_again"], read["timelines_in_all"]) == (1, len(log.groups))
    assert 0 < read["finished_before"] < len(log.groups)
