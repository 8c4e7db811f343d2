"""A team's workers and servers are killed in the middle of an import and of a run: what was acknowledged is there, and the work ends."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generated.mixes import typical
from tests.services.test_team import SCENARIO, TOKEN, Team, team, until

__all__ = ["team"]

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

RECORDS = 100_000
LEFT = 2
"""The server that is not killed."""


def kill(team: Team, name: str) -> None:
    """SIGKILL: the process can neither finish nor hand over anything."""
    team.processes[name].kill()
    team.processes[name].wait()


def page(team: Team, server: int, path: str) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{team.ports[server]}{path}")
    request.add_header("Authorization", f"Bearer {TOKEN}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return text


def entries(team: Team, server: int, timeline: str, last: int) -> list[Any]:
    """The timeline's first entries, as many as are asked for and one answer has at most."""
    found: list[Any] = team.ask(server, f"/api/timelines/{timeline}/entries?from=1&to={min(last, 2000)}")[
        "entries"
    ]
    return found


def test_what_was_acknowledged_outlives_killed_workers_and_servers_and_the_work_is_resumed_or_repeated(
    team: Team, tmp_path: Path
) -> None:
    body = json.dumps({"scenario": SCENARIO}).encode()
    run = team.ask(0, "/api/runs", body)["id"]
    found = team.upload(1, [Path(each) for each in typical(tmp_path / "log", RECORDS).files])["id"]

    def facts(path: str) -> Any:
        return team.ask(LEFT, path) or {"status": "away", "last": 0}

    until(lambda: facts(f"/api/timelines/{run}")["last"] > 0)
    # Its files are recognised, so Spark runs and reads them now.
    until(lambda: (facts(f"/api/imports/{found}").get("progress") or {}).get("sources"))
    known = entries(team, 0, run, facts(f"/api/timelines/{run}")["last"])
    assert known
    for name in ("runs", "imports", "server-0", "server-1"):
        kill(team, name)
    # The server that is left has all that the killed ones acknowledged.
    assert entries(team, LEFT, run, len(known))[: len(known)] == known
    assert facts(f"/api/imports/{found}")["id"] == found
    for queue in ("runs", "imports"):
        team.start_worker(queue)
    team.start("server-0", "serve", "--port", str(team.ports[0]))

    # A run is resumed by itself; it is the run that it would have been.
    until(lambda: facts(f"/api/timelines/{run}")["status"] not in ("running", "waiting", "away"))
    ended = facts(f"/api/timelines/{run}")
    assert ended["status"] == "complete", ended["problem"]
    assert entries(team, LEFT, run, len(known))[: len(known)] == known
    again = team.ask(LEFT, "/api/runs", body)["id"]
    until(lambda: facts(f"/api/timelines/{again}")["status"] == "complete")
    assert facts(f"/api/timelines/{again}")["last"] == ended["last"]
    assert entries(team, LEFT, again, 2000) == entries(team, LEFT, run, 2000)

    # An import states what happened to it, and is read again from what was uploaded.
    until(lambda: facts(f"/api/imports/{found}")["status"] not in ("running", "away"))
    assert facts(f"/api/imports/{found}")["status"] == "failed"
    assert "Its worker ended" in facts(f"/api/imports/{found}")["problem"]
    assert "Its worker ended" in page(team, LEFT, f"/import/{found}")
    assert facts(f"/api/imports/{found}")["repeatable"]
    until(lambda: team.ask(0, f"/api/imports/{found}/repeat", b"{}"))
    until(lambda: facts(f"/api/imports/{found}")["status"] in ("complete", "failed"))
    read = facts(f"/api/imports/{found}")
    assert read["status"] == "complete", read["problem"]
    assert read["report"]["records"]["read"] == RECORDS
