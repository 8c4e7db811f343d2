"""``make chaos``: a team under load whose parts are killed, stopped and cut off at random; at the end everything acknowledged is accounted for.

Runs and imports are begun over HTTP all the time. Meanwhile servers and workers get SIGKILL or stand still, Redis restarts empty, and PostgreSQL restarts.
At the end each run that was acknowledged has the entries of the same simulation in this process, and each import the groups and entries of an import of
the same log in this process.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from groups.history.state.group import Semantics
from groups.pipeline.local.engine import LocalEngine
from simulations.world.engine import run as simulate
from simulations.world.scenario import load
from tests.benchmarks.generated.mixes import typical
from tests.pipeline.folds import import_with_engine
from tests.reaper import reap_after
from tests.services.asked import TOKEN, Asked, asked_team, until
from tests.services.servers import Absent

SCENARIO = """\
name: chaos
topics: {foo: {partitions: 6}}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}}
script:
  - {at: 0s, join: A}
""" + "".join(
    f"  - {{at: {20 * number + 10}s, join: B}}\n  - {{at: {20 * number + 20}s, leave: B}}\n"
    for number in range(20)
)

RECORDS = 10_000
"""Of each import: read in about a second, so that faults hit all of its stages."""

ENTRIES_AT_ONCE = 2000
TIMELINES_AUDITED = 6
"""Of each import: its entries are asked for and compared, some of the groups, drawn anew for each."""

PAUSE_S = (1.0, 6.0)
"""Between two faults."""

STILL_S = (1.0, 40.0)
"""How long a process stands still: also longer than its lease."""

ENDS_S = 900.0
SOCKETS = 20


@dataclass(slots=True)
class Chaos:
    """What was acknowledged, what was done to the team, and what did not hold."""

    team: Asked
    folder: Path
    draw: random.Random
    runs: set[str] = field(default_factory=set)
    imports: dict[str, list[Path]] = field(default_factory=dict)
    """The log of each: another one each time, since equal timelines of two imports are stored once."""

    faults: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _still: dict[str, threading.Timer] = field(default_factory=dict)

    def rage(self, length_s: float) -> None:
        """Load and faults for so long; then everything runs again."""
        threads = [threading.Thread(target=self._load, args=(random.Random(self.draw.random()),))]
        threads += [threading.Thread(target=self._listen) for _ in range(SOCKETS)]
        for thread in threads:
            thread.start()
        until_s = time.monotonic() + length_s
        while time.monotonic() < until_s:
            time.sleep(self.draw.uniform(*PAUSE_S))
            self._supervise()
            fault = self.draw.choice((self._kill, self._kill, self._freeze, self._redis, self._postgresql))
            self.faults[fault.__name__.removeprefix("_")] += 1
            fault()
        self._ended.set()
        for thread in threads:
            thread.join()
        for timer in self._still.values():
            timer.join()

    def _load(self, draw: random.Random) -> None:
        while not self._ended.wait(draw.uniform(0.5, 2)):
            server = draw.randrange(len(self.team.ports))
            if draw.random() < 0.25:
                log = written(self.folder, len(self.imports))
                if found := self.team.upload(server, log):
                    self.imports[found["id"]] = log
            elif found := self.team.ask(server, "/api/runs", json.dumps({"scenario": SCENARIO}).encode()):
                self.runs.add(found["id"])

    def _listen(self) -> None:
        """A browser's socket that is opened again whenever it ends."""
        number = 0
        while not self._ended.wait(0.5):
            number += 1
            address = f"ws://127.0.0.1:{self.team.ports[number % 3]}/ws/timelines/kip848-basic"
            with (
                contextlib.suppress(Exception),
                connect(
                    address, additional_headers={"Authorization": f"Bearer {TOKEN}"}, open_timeout=5
                ) as opened,
            ):
                while not self._ended.is_set():
                    opened.recv(timeout=2)

    def _alive(self) -> str:
        return self.draw.choice(sorted(self.team.processes.keys() - self._still.keys()))

    def _kill(self) -> None:
        name = self._alive()
        self.team.processes[name].kill()
        self.team.processes[name].wait()
        self._start(name)

    def _supervise(self) -> None:
        """As systemd does: what ended is started again. A server that starts while Redis or PostgreSQL is away ends with a line; a traceback is a fault."""
        for name, process in self.team.processes.items():
            if process.poll() is not None:
                log = self.team.log(name).read_text()[-2000:]
                if "Traceback" in log:
                    self.problems.append(f"{name} ended by itself: {log}")
                self.faults["started again"] += 1
                self._start(name)

    def _start(self, name: str) -> None:
        if name.startswith("server-"):
            self.team.start_server(int(name[-1]))
        else:
            self.team.start_worker(name)

    def _freeze(self) -> None:
        if len(self._still) > 1:
            return
        name = self._alive()
        process = self.team.processes[name]
        process.send_signal(signal.SIGSTOP)

        def goes_on() -> None:
            process.send_signal(signal.SIGCONT)
            del self._still[name]

        self._still[name] = threading.Timer(self.draw.uniform(*STILL_S), goes_on)
        self._still[name].start()

    def _redis(self) -> None:
        self.team.redis.stop()
        time.sleep(self.draw.uniform(0, 3))
        self.team.redis.start()

    def _postgresql(self) -> None:
        self.team.database.stop()
        time.sleep(self.draw.uniform(0, 3))
        self.team.database.start()

    def audit(self) -> None:
        """Wait for the end of all that was acknowledged, and compare it."""
        self._supervise()
        for run in sorted(self.runs):
            self._check(f"run {run}", lambda run=run: self._run(run))  # type: ignore[misc]
        for found in sorted(self.imports):
            self._check(f"import {found}", lambda found=found: self._import(found))  # type: ignore[misc]

    def _check(self, what: str, holds: Callable[[], str]) -> None:
        try:
            problem = holds()
        except AssertionError as error:
            problem = str(error)
        if problem:
            self.problems.append(f"{what}: {problem}")

    def _run(self, run: str) -> str:
        ended = self._ended_of(f"/api/timelines/{run}")
        if ended["status"] != "complete":
            return f"{ended['status']}: {ended['problem']}"
        whole = plain(each.to_json() for each in simulate(load(SCENARIO), Semantics.KAFKA, ended["seed"]))
        return (
            ""
            if entries_of(self.team, run, ended["last"]) == whole
            else "other entries than the same simulation"
        )

    def _import(self, found: str) -> str:
        ended = self._ended_of(f"/api/imports/{found}")
        tries = 0
        while ended["status"] == "failed" and ended["repeatable"] and tries < 5:
            self.team.ask(0, f"/api/imports/{found}/repeat", b"{}")
            ended, tries = self._ended_of(f"/api/imports/{found}"), tries + 1
        if ended["status"] != "complete":
            return f"{ended['status']}: {ended['problem']}"
        timelines = timelines_of(self.team, found)
        with tempfile.TemporaryDirectory() as store:
            folds = import_with_engine(LocalEngine(0), Path(store), *self.imports[found])
            expected = {
                line["group"]: folds.entries(f"{line['group']}#{line['incarnation']}")
                for line in folds.of("timeline")
            }
        numbers = {each["group"]: each["entries"] for each in timelines}
        if len(timelines) != len(expected) or numbers != {
            group: len(entries) for group, entries in expected.items()
        }:
            return "other groups, or other numbers of entries, than an import in one process"
        for each in self.draw.sample(timelines, min(TIMELINES_AUDITED, len(timelines))):
            if entries_of(self.team, each["id"], each["entries"]) != plain(expected[each["group"]]):
                return f"other entries of {each['group']} than an import in one process"
        return ""

    def _ended_of(self, path: str) -> Any:
        def ended() -> Any:
            seen = self.team.ask(0, path)
            return seen if seen and seen["status"] in ("complete", "failed", "cancelled") else None

        return until(ended, ENDS_S)


def entries_of(team: Asked, timeline: str, last: int) -> list[Any]:
    found: list[Any] = []
    while len(found) < last:
        path = f"/api/timelines/{timeline}/entries?from={len(found) + 1}&to={min(last, len(found) + ENTRIES_AT_ONCE)}"
        page = until(lambda path=path: team.ask(0, path))["entries"]  # type: ignore[misc]
        assert page, "entries are missing"
        found += page
    assert [entry["sequence"] for entry in found] == list(range(1, last + 1)), "entries are not dense"
    return found


def plain(entries: Iterable[dict[str, Any]]) -> list[Any]:
    """Entries as the API has them."""
    return [json.loads(json.dumps(entry)) for entry in entries]


def timelines_of(team: Asked, found: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while True:
        path = f"/api/imports/{found}/groups?after={len(rows)}"
        page = until(lambda path=path: team.ask(0, path))  # type: ignore[misc]
        rows += page["timelines"]
        if len(rows) >= page["matching"] or not page["timelines"]:
            return rows


def written(folder: Path, number: int) -> list[Path]:
    return [Path(each) for each in typical(folder / f"log-{number}", RECORDS, seed=number + 1).files]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder, asked_team() as team:
            chaos = Chaos(team, Path(folder), random.Random(options.seed))
            chaos.rage(60 * options.minutes)
            done = ", ".join(f"{count} × {name}" for name, count in sorted(chaos.faults.items()))
            sys.stdout.write(
                f"{done}; {len(chaos.runs)} runs and {len(chaos.imports)} imports were acknowledged.\n"
            )
            chaos.audit()
    except Absent as absent:
        sys.stderr.write(f"{absent}\n")
        return 2
    for problem in chaos.problems:
        sys.stdout.write(f"NOT HELD: {problem}\n")
    sys.stdout.write(
        "Everything that was acknowledged is there, whole and once.\n" if not chaos.problems else ""
    )
    return 1 if chaos.problems else 0


if __name__ == "__main__":
    reap_after()
    sys.exit(main())
