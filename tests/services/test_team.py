"""A team's processes, as in "Run it for a team": servers that start together, and each part restarted in the middle of the work."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.benchmarks.generated.mixes import typical
from tests.services.asked import TOKEN, Asked, until

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

RECORDS = int(os.environ.get("TEAM_RECORDS") or 150_000)
"""More than 16 MB: a smaller import waits in the queue of runs."""
SOON_S = 300.0
"""Long before ``groups.jobs.leases.QUEUED_S`` ends, when a server queues again what no worker took."""

AWAY_S = 2.0

COMINGS = "".join(
    f"  - {{at: {20 * number + 10}s, join: B}}\n  - {{at: {20 * number + 20}s, leave: B}}\n"
    for number in range(250)
)
SCENARIO = f"""\
name: long
topics: {{foo: {{partitions: 6}}}}
members:
  A: {{subscribe: [foo]}}
  B: {{subscribe: [foo]}}
script:
  - {{at: 0s, join: A}}
{COMINGS}until: 6000s
"""
"""Simulates for some seconds: B comes and goes, hundreds of times."""


SHORT = """\
name: short
topics: {foo: {partitions: 6}}
members: {A: {subscribe: [foo]}}
script: [{at: 0s, join: A}]
until: 60s
"""


def test_an_import_and_a_run_end_although_redis_postgresql_and_the_workers_restart_meanwhile(
    team: Asked, tmp_path: Path
) -> None:
    run = team.ask(0, "/api/runs", json.dumps({"scenario": SCENARIO}).encode())["id"]
    found = team.upload(1, [Path(each) for each in typical(tmp_path / "log", RECORDS).files])["id"]

    def facts(path: str) -> Any:
        """As another server has it."""
        for name, process in team.processes.items():
            assert process.poll() is None, team.log(name).read_text()[-2000:]
        return team.ask(2, path) or {"status": "away", "last": 0, "progress": {}}

    until(lambda: facts(f"/api/timelines/{run}")["last"] > 0)
    until(lambda: facts(f"/api/imports/{found}")["status"] == "running")
    team.redis.stop()
    time.sleep(AWAY_S)
    team.redis.start()
    team.restart_worker("runs")
    team.database.stop()
    time.sleep(AWAY_S)
    team.database.start()
    before = facts(f"/api/imports/{found}")
    assert before["status"] in ("running", "complete", "away"), before
    team.restart_worker("imports")
    ended = until(
        lambda: (seen := facts(f"/api/imports/{found}"))["status"] in ("complete", "failed") and seen
    )
    if ended["status"] == "failed":
        # The page says why, and what to do.
        assert ended["problem"]
        assert ended["repeatable"], ended
        team.ask(0, f"/api/imports/{found}/repeat", b"{}")
        until(lambda: facts(f"/api/imports/{found}")["status"] == "complete")
    simulated = until(
        lambda: (seen := facts(f"/api/timelines/{run}"))["status"] not in ("running", "away") and seen
    )
    assert simulated["status"] == "complete", simulated["problem"]


def test_a_run_is_done_although_postgresql_is_away_when_its_worker_takes_it_or_starts(team: Asked) -> None:
    def begin() -> str:
        return str(team.ask(0, "/api/runs", json.dumps({"scenario": SHORT}).encode())["id"])

    before = team.written("runs")

    def log_has(words: str) -> bool:
        return words in team.log("runs").read_text()[before:]

    def end_of(run: str) -> Any:
        return until(
            lambda: (seen := team.ask(2, f"/api/timelines/{run}")) and seen["status"] != "running" and seen,
            SOON_S,
        )

    worker = team.processes["runs"]
    worker.send_signal(signal.SIGSTOP)
    taken_late = begin()
    team.database.stop()
    worker.send_signal(signal.SIGCONT)
    until(lambda: log_has("The database is away. Task simulations.run"))
    team.database.start()
    assert end_of(taken_late)["status"] == "complete"

    team.stop_worker("runs")
    started_late = begin()
    team.database.stop()
    team.start_worker("runs")
    until(lambda: log_has("It is tried again for up to"))
    team.database.start()
    assert end_of(started_late)["status"] == "complete"


def test_a_presenter_at_one_server_moves_a_reader_at_another_one_who_sees_notes_too_and_both_are_listed(
    team: Asked,
) -> None:
    timeline = team.ask(0, "/api/runs", json.dumps({"scenario": SHORT}).encode())["id"]

    def window(server: int, who: str) -> ClientConnection:
        address = f"ws://127.0.0.1:{team.ports[server]}/ws/together/{timeline}?who={who}"
        return connect(address, additional_headers={"Authorization": f"Bearer {TOKEN}"})

    def hears(reader: ClientConnection, wanted: Callable[[Any], bool]) -> None:
        until(lambda: wanted(json.loads(reader.recv(timeout=60))), 60)

    with window(0, "presenter") as presenter, window(1, "thereader") as reader:
        people: set[str] = set()
        for one in (presenter, reader):
            people.clear()
            hears(
                one,
                lambda said: (
                    people.update(each["who"] for each in said.get("people", ())) or len(people) == 2
                ),
            )
        said = {"who": "presenter", "does": "presents", "turn": 1, "view": "?at=3"}
        team.ask(0, f"/api/timelines/{timeline}/together", json.dumps(said).encode())
        hears(reader, lambda said: (said["type"], said.get("view")) == ("presents", "?at=3"))
        team.ask(0, f"/api/timelines/{timeline}/notes", json.dumps({"text": "why?", "at": 0}).encode())
        hears(reader, lambda said: said["type"] == "notes")
        assert [one["text"] for one in team.ask(1, f"/api/timelines/{timeline}/notes")] == ["why?"]
