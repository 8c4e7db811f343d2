"""A fork of a run of a hundred members, and a search for what would have helped thirty, as a reader waits for them."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.figures import Figure, middle
from tests.serving import Served, served

FORKED_MEMBERS: Final = 100
FORKS: Final = 5
FIRST_STEP_GOAL_S: Final = 1.0

HELPED_MEMBERS: Final = 30
SEEDS: Final = 20
FIRST_ROW_GOAL_S: Final = 3.0
ANSWER_GOAL_S: Final = 20.0

OPEN: Final = ("waiting", "running")


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "var") as server:
        yield from _fork(server)
        yield from _search(server)


def _fork(server: Served) -> Iterator[Figure]:
    parent = _run_of(server, FORKED_MEMBERS, "{at: 60s, kill: m003}")
    firsts = []
    for _ in range(FORKS):
        began_s = time.monotonic()
        made = _asked(
            server,
            f"/api/timelines/{parent['id']}/forks",
            {"at": parent["last"] // 2, "set": {"assignor": "range"}},
        )
        branch = f"/api/timelines/{made['id']}"
        _until(lambda at=branch: _asked(server, at)["last"] > 0)  # type: ignore[misc]
        firsts.append(time.monotonic() - began_s)
        _until(lambda at=branch: _asked(server, at)["status"] not in OPEN)  # type: ignore[misc]
    what = f"fork of {FORKED_MEMBERS} members with another assignor, asked to the first stored step, median"
    yield Figure(what=what, value=middle(firsts), unit="s", goal=FIRST_STEP_GOAL_S)


def _search(server: Served) -> Iterator[Figure]:
    # A member goes amid the others: its partitions are unread until its session ends.
    parent = _run_of(server, HELPED_MEMBERS, "{at: 60s, kill: m003}")
    body = {"at": parent["last"] // 2, "seeds": SEEDS}
    began_s = time.monotonic()
    made = _asked(server, f"/api/timelines/{parent['id']}/remedies", body)
    search = f"/api/remedies/{made['id']}"
    _until(lambda: (_asked(server, search)["answer"] or {}).get("rows"))
    first_s = time.monotonic() - began_s
    _until(lambda: _asked(server, search)["status"] not in OPEN)
    took_s = time.monotonic() - began_s
    found = _asked(server, search)
    if found["answer"]["why"]:
        raise RuntimeError(found["answer"]["why"])
    what = f"what would have helped {HELPED_MEMBERS} members, {found['runs']} runs of {SEEDS} seeds"
    yield Figure(what=f"{what}, asked to the first row", value=first_s, unit="s", goal=FIRST_ROW_GOAL_S)
    yield Figure(what=f"{what}, asked to the answer", value=took_s, unit="s", goal=ANSWER_GOAL_S)


def _run_of(server: Served, members: int, line: str) -> dict[str, Any]:
    """A run of so many members that join at once, with six partitions each, and one line of script at the end."""
    names = [f"m{number:03}" for number in range(members)]
    text = "\n".join(
        (
            "group: many",
            f"topics: {{orders: {{partitions: {3 * members}}}, payments: {{partitions: {3 * members}}}}}",
            "members:",
            *(f"  {name}: {{subscribe: [orders, payments]}}" for name in names),
            "script:",
            f"  - {{at: 0s, join: [{', '.join(names)}]}}",
            f"  - {line}",
            "seed: 5",
            "until: 180s",
        )
    )
    timeline = f"/api/timelines/{_asked(server, '/api/runs', {'scenario': text})['id']}"
    _until(lambda: _asked(server, timeline)["status"] not in OPEN)
    return _asked(server, timeline)


def _asked(server: Served, address: str, body: object = None) -> dict[str, Any]:
    with server.open(address, None if body is None else json.dumps(body).encode()) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def _until(holds: Callable[[], object]) -> None:
    while not holds():
        time.sleep(0.02)
