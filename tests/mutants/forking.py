"""One process that has loaded a room's tests, and forks itself for each fault: ``python -m tests.mutants.forking PLAN``.

It runs in the copy with the faults. First all tests run without a fault, each file in a fork, which tells what each test
reaches and takes; then, for each fault, the tests that reach it run in a fork with the fault on, the cheapest first, then the
others of the same files (a fixture or a cache may have reached it for them), up to the first that fails. A line of JSON is printed to the file ``answers`` for each. A fault whose place is reached as the modules load is
on too late in a fork: it is told as ``loading``, and takes a process of its own (``alone``).
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NotRequired, TypedDict

import pytest
from _pytest.tmpdir import tmppath_result_key

from tests.mutants import switch

LIMIT_TIMES: Final = 10
LIMIT_LEAST_S: Final = 4.0
"""A fault may make a loop endless: so many times a test's own processor time, and some seconds at least."""
WAITS_TIMES: Final = 50
"""A fault may make a test wait for ever: it may take so many times its limit by the clock, on a machine that others use."""
MEMORY_MOST_BYTES: Final = 6 << 30
"""A fault may make a list endless: a child that wants more gets a ``MemoryError``."""


NO_END: Final = "no end, or no memory"


class Plan(TypedDict):
    """What is to be done: ``alone`` has one fault that is on from the first, else all are tried by forks."""

    tests: list[str]
    answers: str
    folder: str
    faults: list[int]
    alone: NotRequired[int]
    limit_s: NotRequired[float]


class Reach(TypedDict):
    """A test without a fault: which faults' places it reaches, its processor time, and whether it passed."""

    test: str
    reached: list[int]
    took_s: float
    passed: bool


class Answer(TypedDict):
    """A fault that was tried: the test that failed, "" if none did; the tests that ran; processor time in all."""

    fault: int
    by: str
    tests: int
    took_s: float


class Loaded(TypedDict):
    """Faults whose places are reached as modules load."""

    loading: list[int]


class Forks:
    """The plugin: takes pytest's loop over the tests into its own hands."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._failed = ""
        self._why = ""
        self._database: Path | None = None
        self._rows = b""
        self._takes: dict[str, float] = {}

    def pytest_sessionstart(self) -> None:
        # pytest wants to be the first that imports it.
        from hypothesis import Phase
        from hypothesis import settings as hypothesis_settings

        # After the conftest loaded its own: to find the smallest example of a failure is of no use here, and is most of the time.
        hypothesis_settings.register_profile(
            "faults",
            hypothesis_settings.get_profile("tier"),
            phases=(Phase.explicit, Phase.generate),
            database=None,
        )
        hypothesis_settings.load_profile("faults")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self._failed:
            self._failed = report.nodeid
            self._why = report.longreprtext

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be loaded")
        with Path(self._plan["answers"]).open("a", encoding="utf-8") as answers:
            if "alone" in self._plan:
                failed = self._run(session.items)
                _tell(
                    answers,
                    Answer(fault=self._plan["alone"], by=failed, tests=len(session.items), took_s=_used_s()),
                )
            else:
                self._all(session, answers)
        return True

    def _all(self, session: pytest.Session, answers: IO[str]) -> None:
        loading = switch.taken()
        _tell(answers, Loaded(loading=loading))
        self._set_database_up(session)
        switch.taken()
        for items in _by_file(session.items).values():
            if code := self._fork(lambda items=items: self._reach(items, answers)):
                raise session.Interrupted(f"{items[0].path} without a fault ended with {code}")
        lines = Path(self._plan["answers"]).read_text(encoding="utf-8").splitlines()
        told: list[Reach] = [json.loads(line) for line in lines if line.startswith('{"test"')]
        if any(not reach["passed"] for reach in told):
            return
        self._takes = {reach["test"]: reach["took_s"] for reach in told}
        reached = {reach["test"]: set(reach["reached"]) for reach in told}
        for fault in self._plan["faults"]:
            if fault in loading:
                continue
            items = self._chosen(session.items, {test for test, faults in reached.items() if fault in faults})
            before_s = _children_s()
            code = self._fork(lambda items=items, fault=fault: self._try(items, fault, answers))
            if code:
                took_s = _children_s() - before_s
                _tell(answers, Answer(fault=fault, by=NO_END, tests=len(items), took_s=took_s))

    def _chosen(self, items: Sequence[pytest.Item], reaching: set[str]) -> list[pytest.Item]:
        """File by file, the one with the least time for each test first."""
        files = [
            inside for inside in _by_file(items).values() if any(item.nodeid in reaching for item in inside)
        ]
        files.sort(key=lambda inside: sum(self._takes[item.nodeid] for item in inside) / len(inside))
        return [item for inside in files for item in inside if item.nodeid in reaching] + [
            item for inside in files for item in inside if item.nodeid not in reaching
        ]

    def _reach(self, items: Sequence[pytest.Item], answers: IO[str]) -> None:
        for item, after in _with_the_next(items, items[0].session):
            before_s, self._failed = _used_s(), ""
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            _tell(
                answers,
                Reach(
                    test=item.nodeid,
                    reached=switch.taken(),
                    took_s=round(_used_s() - before_s, 4),
                    passed=not self._failed,
                ),
            )
            if self._failed:
                Path(self._plan["answers"]).with_name("why").write_text(self._why, encoding="utf-8")
                return

    def _try(self, items: Sequence[pytest.Item], fault: int, answers: IO[str]) -> None:
        switch.turn_on(fault)
        failed = self._run(items)
        _tell(answers, Answer(fault=fault, by=failed, tests=len(items), took_s=_used_s()))

    def _run(self, items: Sequence[pytest.Item]) -> str:
        """The first test that fails; "" if none does."""
        if not items:
            return ""
        # A fixture of a file may be set up by any of its tests, so each may take what the longest does.
        longest_s = {
            path: max(self._takes.get(item.nodeid, 0.0) for item in inside)
            for path, inside in _by_file(items).items()
        }
        for item, after in _with_the_next(items, items[0].session):
            if self._takes:
                limit_s = max(LIMIT_LEAST_S, LIMIT_TIMES * longest_s[item.path])
                signal.setitimer(signal.ITIMER_PROF, limit_s)
                signal.setitimer(signal.ITIMER_REAL, WAITS_TIMES * limit_s)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if self._failed:
                return self._failed
        return ""

    def _fork(self, work: Callable[[], None]) -> int:
        """0 if the work was done, in a process of its own that leaves nothing behind."""
        self._restore_database()
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            # What a fault's tests started may still be there.
            with _ignored(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            return status
        os.setpgid(0, 0)
        # By their default they end the process, which no test can catch.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MOST_BYTES, MEMORY_MOST_BYTES))
        try:
            work()
        except BaseException as problem:
            sys.stderr.write(f"{problem!r}\n")
            os._exit(1)
        os._exit(0)

    def _set_database_up(self, session: pytest.Session) -> None:
        """Once, before the forks, where a test needs it; each fork then finds the file as it was."""
        for item in session.items:
            if "django_db_setup" in getattr(item, "fixturenames", ()):
                # Of a test that did not run, whose folder would be looked for as it is torn down.
                item.stash[tmppath_result_key] = {}
                session._setupstate.setup(item)
                session._setupstate.teardown_exact(session)  # type: ignore[arg-type]  # All but the session's own.
                # As pytest leaves a test that it may run again.
                item._request = False  # type: ignore[attr-defined]
                item.funcargs = None  # type: ignore[attr-defined]
                from django.db import connection

                self._database = Path(connection.settings_dict["NAME"])
                self._rows = self._database.read_bytes()
                return

    def _restore_database(self) -> None:
        if self._database is None:
            return
        for left in self._database.parent.glob(f"{self._database.name}-*"):
            left.unlink()
        self._database.write_bytes(self._rows)


@contextmanager
def _ignored(kind: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kind:
        return


def _by_file(items: Sequence[pytest.Item]) -> dict[Path, list[pytest.Item]]:
    found: dict[Path, list[pytest.Item]] = {}
    for item in items:
        found.setdefault(item.path, []).append(item)
    return found


def _with_the_next(
    items: Sequence[pytest.Item], session: pytest.Session
) -> Iterator[tuple[pytest.Item, pytest.Item]]:
    """pytest tears down after a test what the next one does not need; after the last, what is the session's stays."""
    return zip(items, [*items[1:], session], strict=True)  # type: ignore[list-item]


def _used_s() -> float:
    """Processor time of this process and of those that it started."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _tell(answers: IO[str], line: Reach | Answer | Loaded) -> None:
    answers.write(json.dumps(line) + "\n")
    answers.flush()


def main(path: str) -> int:
    plan: Plan = json.loads(Path(path).read_text(encoding="utf-8"))
    if "limit_s" in plan:
        limit_s = int(plan["limit_s"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s + 5))
    options = ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "--basetemp", plan["folder"]]
    return int(pytest.main([*options, *plan["tests"]], plugins=[Forks(plan)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
