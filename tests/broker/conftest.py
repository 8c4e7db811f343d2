"""One broker for the whole session; skipped with the reason where this machine cannot run it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from . import jars
from .fresh import Recorded, record
from .node import Node
from .replayed import Replayed, replay_requests
from .share_and_streams import Snapshots, play
from .simulated import STATIC_MEMBERS, Run, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """All that one broker did for the tests: a scenario of its own, a share and a streams group, and two runs' requests."""

    recorded: Recorded
    run: Run
    replayed: list[Replayed]
    static_run: Run
    static_replayed: list[Replayed]
    modern: Snapshots
    problem: list[Exception]


@pytest.fixture(scope="session")
def released_jars() -> str:
    """The class path of the released jars."""
    try:
        return jars.class_path()
    except jars.BrokerUnavailableError as problem:
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(f"REQUIRE_ALL is set, and {problem}")
        pytest.skip(str(problem))


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The released basic case, simulated."""
    return simulate(tmp_path_factory.mktemp("simulated"))


@pytest.fixture(scope="session")
def session(released_jars: str, run: Run, tmp_path_factory: pytest.TempPathFactory) -> Session:
    static_run = simulate(tmp_path_factory.mktemp("static"), STATIC_MEMBERS)
    replayed: list[Replayed] = []
    static_replayed: list[Replayed] = []
    modern: Snapshots = []
    problem: list[Exception] = []

    def beside(node: Node) -> None:
        # Whatever goes wrong here is the affair of the tests that compare the run.
        def attempt(work: Callable[[], None]) -> None:
            try:
                work()
            except Exception as error:
                problem.append(error)

        def replay(run: Run, into: list[Replayed]) -> None:
            into.append(replay_requests(node, run.entries, group=run.group, until_ms=run.until_ms))

        works: list[Callable[[], None]] = [
            lambda: replay(run, replayed),
            lambda: replay(static_run, static_replayed),
            lambda: modern.extend(play(node)),
        ]
        with ThreadPoolExecutor(len(works)) as pool:
            list(pool.map(attempt, works))

    recorded = record(tmp_path_factory.mktemp("broker"), beside)
    return Session(
        recorded=recorded,
        run=run,
        replayed=replayed,
        static_run=static_run,
        static_replayed=static_replayed,
        modern=modern,
        problem=problem,
    )


@pytest.fixture(scope="session")
def recorded(session: Session) -> Recorded:
    """A short scenario, played by released consumers on a released broker just now."""
    return session.recorded
