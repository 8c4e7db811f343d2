"""A team's processes, as in "Run it for a team": servers that start together, and each part restarted in the middle of the work."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generated.mixes import typical
from tests.services.servers import PostgreSQL, Redis, free_port, postgresql, temporary_folder
from tests.services.team import Processes

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

RECORDS = int(os.environ.get("TEAM_RECORDS") or 100_000)
LIMIT_S = 600.0
SOON_S = 300.0
"""Long before ``groups.jobs.leases.QUEUED_S`` ends, when a server queues again what no worker took."""

AWAY_S = 2.0

TOKEN = "a-token-of-the-teams-own"


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


class Asked(Processes):
    """Three servers, a worker for runs and one for imports, on one database, one Redis and one folder."""

    def __init__(self, folder: Path, database: PostgreSQL, redis: Redis) -> None:
        self.database, self.redis = database, redis
        more = {"DATABASE_URL": database.url, "REDIS_URL": redis.url, "REBALANCE_VAR": str(folder / "var"),
            "ACCESS_TOKEN": TOKEN, "SECRET_KEY": "a-secret-of-twenty-letters", "CLUSTERS_KEY": "a-key-of-twenty-letters",
            "DEBUG": "0", "WATCH_CLUSTERS": "0", "LOG_LEVEL": "WARNING",
        }  # fmt: skip
        super().__init__(folder, os.environ | more)
        self.ports = [free_port() for _ in range(3)]

    def start_worker(self, queue: str) -> None:
        self.start(queue, "worker", "--queues", queue, "--concurrency", "1")

    def stop_worker(self, queue: str) -> None:
        self.processes[queue].send_signal(signal.SIGTERM)
        self.processes[queue].wait(60)

    def restart_worker(self, queue: str) -> None:
        self.stop_worker(queue)
        self.start_worker(queue)

    def ask(self, server: int, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
        """The answer of one server; null while it cannot answer, as it may not while the database is away."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports[server]}{path}", data=body)
        request.add_header("Authorization", f"Bearer {TOKEN}")
        if body is not None:
            request.add_header("Content-Type", kind)
        with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
        return None

    def upload(self, server: int, files: list[Path]) -> Any:
        mark = uuid.uuid4().hex
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="paths"\r\n\r\n{file.parent.name}/{file.name}\r\n'.encode()
            + f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="{file.name}"\r\n\r\n'.encode()
            + file.read_bytes()
            + b"\r\n"
            for file in files
        ]
        body = b"".join(parts) + f"--{mark}--\r\n".encode()
        return self.ask(server, "/api/imports", body, f"multipart/form-data; boundary={mark}")


def until(holds: Callable[[], Any], within_s: float = LIMIT_S) -> Any:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.2)
    raise AssertionError("it did not come about in time")


@pytest.fixture
def team() -> Iterator[Asked]:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        database = stack.enter_context(postgresql(folder))
        redis = Redis(free_port())
        redis.start()
        stack.callback(redis.stop)
        made = Asked(folder, database, redis)
        stack.callback(made.end)
        for number, port in enumerate(made.ports):
            made.start(f"server-{number}", "serve", "--port", str(port))
        for queue in ("runs", "imports"):
            made.start_worker(queue)
        for queue in ("runs", "imports"):
            until(lambda queue=queue: "Working on" in made.log(queue).read_text())
        for number in range(3):
            until(lambda number=number: "plays at" in made.log(f"server-{number}").read_text())
        yield made


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

    def log_has(words: str) -> bool:
        return words in team.log("runs").read_text()

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
