"""``python -m tests.parts TIER… [--only PART…]``: runs the parts of the tests, some at a time, and names at the end what failed.

``quick`` is ``make test``; ``quick rest`` is ``make test-all`` (see ``tiers``). The output of a part goes to
``var/tests/TIER-PART.log`` and is printed when the part has ended. Where a few tests of the rest failed and nothing else
did, these run once more alone, and the last lines say what came of it (see ``again``).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.reaper import reap_after
from tests.tiers import Tier

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "var" / "tests"

PYTEST: Final = (sys.executable, "-m", "pytest")
ON_SERVICES: Final = (sys.executable, "-m", "tests.services", *PYTEST)
"""With PostgreSQL and Redis started for the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Tests that run in one process: what they are, and the command of each tier that has some.

    ``whole``: the commands of both tiers share no test, so each takes all tests that it names.
    """

    name: str
    what: str
    quick: tuple[str, ...] | None
    rest: tuple[str, ...] | None
    whole: bool = False


def tests(name: str, what: str, *words: str) -> Part:
    """A part of pytest's whose tests are divided by their marker ``long``."""
    return Part(name=name, what=what, quick=(*PYTEST, *words), rest=(*PYTEST, *words))


IN_ONE_PROCESS: Final = "not broker and not browser and not inner and not spark"

HOUSE: Final = ("attack", "figures", "fuzz", "house", "incidents", "pages", "sharing")
"""The rooms of one half of what needs no real part: together they take as many seconds as all others do."""

PARTS: Final = (
    tests("browser", "Chromium", "-m", "browser", "tests/browser", "tests/demo"),
    tests("clusters", "live clusters of real brokers", "-m", "broker and not browser", "tests/clusters"),
    tests(
        "broker",
        "a real Kafka broker",
        *("-m", "broker and not browser", "tests/broker"),
        "tests/simulations/test_kafka_answers.py",
    ),
    tests(
        "server",
        "storage, tasks, API and accounts, on SQLite and in one process",
        *("-m", IN_ONE_PROCESS),
        *(f"--ignore=tests/{room}" for room in ("browser", "history", "simulations", "wire", *HOUSE)),
    ),
    Part(
        name="services",
        what="sockets, storage, tasks and API again, on PostgreSQL and Redis",
        quick=(*ON_SERVICES, "-m", "not once", "tests/sockets"),
        rest=(
            *(*ON_SERVICES, "-m", "not once", "tests/storage", "tests/tasks", "tests/api", "tests/access"),
            "tests/pipeline/test_imports.py",
        ),
        whole=True,
    ),
    tests(
        "house",
        "pages, what is shared, attacks and the house, on SQLite and in one process",
        *("-m", IN_ONE_PROCESS),
        *(f"tests/{room}" for room in HOUSE),
    ),
    tests("simulations", "simulator and wire formats", "-m", "inner", "tests/simulations", "tests/wire"),
    tests(
        "spark",
        "imports and sweeps through Spark",
        *("-m", "spark and not broker and not browser", "tests/pipeline", "tests/incidents", "tests/house"),
        *("tests/simulations/test_fuzzing.py", "tests/simulations/test_sweeps.py"),
    ),
    tests("history", "the history of a group", "-m", "inner", "tests/history"),
    Part(
        name="live",
        what="the live board again, on PostgreSQL and Redis, with processes for web and worker",
        quick=None,
        rest=(
            *(*ON_SERVICES, "-m", "not once", "tests/browser/test_live.py", "tests/browser/test_playing.py"),
            "tests/browser/test_scrubbing.py",
        ),
        whole=True,
    ),
    Part(
        name="js",
        what="the browser's modules in Node",
        quick=("node", "--test", *sorted(map(str, (ROOT / "tests/javascript").glob("*.test.js")))),
        rest=None,
    ),
)
"""In the order in which they start: those that wait the longest first, so that those that only compute fill what they leave idle,
and the short ones fill the end. Behind all others, the services' one ran alone for three to five minutes, on one of two cores."""

SEED: Final = 1_630_762_982
"""The rest draws the examples of properties by it: another number draws others. It is changed with what a draw found mended, so
that nobody's change is judged by examples that nobody has tried. ``make proof`` draws other ones in each run."""

AT_ONCE = 3
"""Tests with a broker or a browser wait now and then, so one part more than two cores runs at a time. With four at any time, both
cores had five tests or more that wanted to run, and some waited for their turn until their limits ended."""

IDLE_SHARE: Final = 0.25
"""One more runs where the processors had nothing to do for such a share of the time since the last look."""

BESIDE_NICE: Final = 10
"""Of a part of the rest that only computes: one of them runs beside the others, on what these leave, a quarter of the processors
in the first twenty minutes. It has a session of its own, since Linux shares the processors among sessions first."""

LOOK_EVERY_S: Final = 15.0
"""Long enough that a broker's start or a page's wait is not taken for an idle machine."""

AGAIN_MOST: Final = 5
"""So many failed tests of the rest run once more. More than these are not the machine's doing."""

AGAIN: Final = " once more"
"""Behind the name of a part whose failed tests ran once more."""

LINE_MOST = 240
"""Characters of a failure's line: the part's output above has all of it."""

ALIVE_EVERY_S = 60.0
"""A line is printed at least so often: a reader takes silence for a standstill."""

NO_TESTS = 5
"""pytest's exit code where nothing was selected: a part may have nothing in one of the tiers."""

FAILURE = re.compile(r"^(FAILED|ERROR) \S|^\s*(not ok \d+ - |✖ )")
"""Lines of pytest's short summary, and of Node's two ways to report."""

SUMMARY = "short test summary info"

PASSED: Final = re.compile(r"^=.*\b(\d+) passed", re.MULTILINE)
"""In pytest's last line."""

SOME_FAILED = 1
"""pytest's exit code where tests failed, and nothing else was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A part's exit code, output, duration, and the processors' time of all its processes that have ended."""

    part: str
    code: int
    output: str
    took_s: float
    busy_s: float = 0.0


Work = tuple[Tier, Part]

running: dict[str, subprocess.Popen[bytes]] = {}


def command_of(tier: Tier, part: Part) -> tuple[str, ...] | None:
    """The part's command in a tier; ``None`` if it has no test there."""
    return part.quick if tier is Tier.QUICK else part.rest


def run(tier: Tier, part: Part, seed: int, *, once_more: bool = False) -> Outcome:
    """Runs a part in its tier, or what failed of it once more.

    Without Node the part in JavaScript is skipped, unless ``REQUIRE_ALL`` is set.
    """
    name, beside = name_of(tier, part), is_beside((tier, part)) and not once_more
    command = [*(command_of(tier, part) or ())]
    begun_s = time.monotonic()
    if shutil.which(command[0]) is None:
        needed = bool(os.environ.get("REQUIRE_ALL"))
        reason = f"{command[0]} is not installed" + (", and REQUIRE_ALL is set" if needed else "")
        return Outcome(part=name, code=int(needed), output=f"SKIPPED {name}: {reason}\n", took_s=0.0)
    if "pytest" in command:
        command += ["-o", f"cache_dir={cache_of(name)}"]
        command += [f"--hypothesis-seed={seed}"] if tier is Tier.REST else []
        command += ["--last-failed"] if once_more else []
    log = LOGS / f"{name}{'-once-more' if once_more else ''}.log"
    with log.open("wb") as out:
        running[name] = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "TIER": Tier.ALL if part.whole else tier},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=beside,
        )
        if beside:
            make_nice(running[name].pid)
        # In place of `wait`, which does not return what the processes used.
        _, status, used = os.wait4(running[name].pid, 0)
    running[name].returncode = code = os.waitstatus_to_exitcode(status)
    del running[name]
    return Outcome(
        part=name + AGAIN * once_more,
        code=0 if code == NO_TESTS and not once_more else code,
        output=log.read_text(encoding="utf-8", errors="replace"),
        took_s=time.monotonic() - begun_s,
        busy_s=used.ru_utime + used.ru_stime,
    )


def is_beside(work: Work) -> bool:
    """Whether a part runs beside the others: one that only computes. Not in the quick tier, in which a failure is final."""
    tier, part = work
    return tier is Tier.REST and "inner" in (part.rest or ())


def make_nice(pid: int) -> None:
    """The process gives way to all others, and what it will start does so, too."""
    os.setpriority(os.PRIO_PROCESS, pid, BESIDE_NICE)
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(BESIDE_NICE))


def name_of(tier: Tier, part: Part) -> str:
    return f"{tier}-{part.name}"


def cache_of(name: str) -> Path:
    """Where pytest keeps which tests of a part failed."""
    return LOGS / "failed" / name


def failed_tests(name: str) -> list[str]:
    """The tests of a part that failed when they ran last."""
    kept = cache_of(name) / "v" / "cache" / "lastfailed"
    return sorted(json.loads(kept.read_text())) if kept.exists() else []


def failures(outcome: Outcome) -> Iterator[str]:
    """A line for each failed test of a part; a part that failed otherwise gives its last line."""
    if outcome.code == 0:
        return
    lines = outcome.output.splitlines()
    begins = [number for number, line in enumerate(lines) if SUMMARY in line]
    found = [line.strip() for line in lines[begins[-1] if begins else 0 :] if FAILURE.match(line)]
    if not found:
        printed = [line.strip() for line in lines if line.strip()]
        last = printed[-1] if printed else "nothing"
        found = [f"ended with code {outcome.code} and names no test; its last line: {last}"]
    for line in found:
        yield f"{outcome.part}: {line if len(line) <= LINE_MOST else line[: LINE_MOST - 1] + '…'}"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.parts", description=__doc__.split("\n\n")[0])
    parser.add_argument("tiers", nargs="+", choices=["quick", "rest"], metavar="TIER", help="quick, rest")
    parser.add_argument(
        "--only", nargs="+", choices=[part.name for part in PARTS], metavar="PART", help="parts by name"
    )
    asked = parser.parse_args(words)
    works: list[Work] = [
        (Tier(tier), part)
        for tier in asked.tiers
        for part in PARTS
        if command_of(Tier(tier), part) and part.name in (asked.only or [part.name])
    ]
    return run_all(works, SEED)


def run_all(works: Sequence[Work], seed: int) -> int:
    """Runs the parts and returns the exit code: 0 if each of them passed, or each failed test when it ran alone."""
    LOGS.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(LOGS / "failed", ignore_errors=True)
    names = ", ".join(name_of(*work) for work in works)
    say(
        f"{names}: {AT_ONCE} at a time, one more while the processors are idle, and of the rest one that only computes. The output of a part is in {LOGS}, and is printed when the part has ended."
    )
    begun_s = time.monotonic()
    outcomes = run_at_once(AT_ONCE, works, lambda *work: run(*work, seed))
    verdicts = again(works, outcomes, seed)
    for outcome in outcomes:
        result = "passed" if outcome.code == 0 else "FAILED"
        say(f"{result} {outcome.part} in {outcome.took_s:.0f} s ({outcome.busy_s:.0f} s of a processor)")
    say(f"{time.monotonic() - begun_s:.0f} s in all")
    failed = [line for outcome in outcomes for line in failures(outcome)]
    if failed:
        say(f"\n{len(failed)} failed:")
        say("\n".join(failed))
    if verdicts:
        say("\nOnce more, with nothing beside:")
        say("\n".join(verdict.line for verdict in verdicts))
    is_green = bool(verdicts) and all(verdict.passed for verdict in verdicts)
    return 1 if (failed and not is_green) or len(outcomes) < len(works) else 0


def run_at_once(at_once: int, works: Sequence[Work], work: Callable[[Tier, Part], Outcome]) -> list[Outcome]:
    """What became of the works, in the order in which they ended; what each printed is printed then.

    Where some run at once and leave the processors idle, one more than ``at_once`` does, and one beside them.
    """
    begun_s = alive_s = time.monotonic()
    outcomes: list[Outcome] = []
    waiting = deque(works)
    left: dict[Future[Outcome], Work] = {}
    idle = Idle()
    with ThreadPoolExecutor(at_once + 2) as pool:
        # Ctrl-C reaches the parts by itself, but for the one beside; SIGTERM reaches none.
        signal.signal(signal.SIGTERM, lambda *_: end(waiting))
        while waiting or left:
            room = at_once + (at_once > 1 and idle.share() >= IDLE_SHARE)
            while following := next_of(waiting, left.values(), room):
                waiting.remove(following)
                left[pool.submit(work, *following)] = following
            try:
                done, _ = wait(left, timeout=LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                waiting.clear()
                for process in list(running.values()):
                    with contextlib.suppress(ProcessLookupError):
                        if os.getsid(process.pid) == process.pid:
                            process.send_signal(signal.SIGINT)
                raise
            for part in done:
                del left[part]
                outcomes.append(part.result())
                say(outcomes[-1].output)
            now_s = time.monotonic()
            if not done and now_s - alive_s >= ALIVE_EVERY_S:
                say(f"{', '.join(running)}: not ended after {now_s - begun_s:.0f} s")
            if done or now_s - alive_s >= ALIVE_EVERY_S:
                alive_s = now_s
    return outcomes


def next_of(waiting: Iterable[Work], under_way: Collection[Work], room: int) -> Work | None:
    """The next part that may start: in ``room`` the first one, and one beside, which has room where only such ones are left."""
    beside = sum(map(is_beside, under_way))
    for work in waiting:
        if len(under_way) - beside < room if not is_beside(work) else room > 1 and not beside:
            return work
    only_such = all(map(is_beside, waiting)) and len(under_way) < room
    return next(iter(waiting), None) if only_such else None


class Idle:
    """For which share of the time the processors had nothing to do, from ``/proc/stat``; where there is none, for no time."""

    TABLE: Final = Path("/proc/stat")

    def __init__(self) -> None:
        self.since_s, self.ticks, self.found = time.monotonic(), self.read(), 0.0

    def share(self) -> float:
        """Since the last look, which is at least ``LOOK_EVERY_S`` ago: else what that look found."""
        if time.monotonic() - self.since_s < LOOK_EVERY_S:
            return self.found
        (idle_before, all_before), (idle, all_now) = self.ticks, self.read()
        self.found = (idle - idle_before) / max(all_now - all_before, 1)
        self.since_s, self.ticks = time.monotonic(), (idle, all_now)
        return self.found

    def read(self) -> tuple[int, int]:
        """Ticks in which all processors had nothing to do but what gives way, or waited for a disk, and all ticks."""
        if not self.TABLE.exists():
            return 0, 0
        ticks = [int(word) for word in self.TABLE.read_text().splitlines()[0].split()[1:9]]
        return ticks[1] + ticks[3] + ticks[4], sum(ticks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Of a test that failed beside others and ran once more alone."""

    test: str
    part: str
    passed: bool

    @property
    def line(self) -> str:
        if self.passed:
            return f"failed beside others, passed alone: {self.test} ({self.part}): a defect of that test, mend it"
        return f"failed beside others, failed alone: {self.test} ({self.part})"


def again(works: Sequence[Work], outcomes: Sequence[Outcome], seed: int) -> list[Verdict]:
    """Runs the few tests of the rest that failed once more, one part after the other; nothing where a failure is final.

    Final is a failure of the quick tier, of a part that ended otherwise than with failed tests, and more than ``AGAIN_MOST``.
    """
    by_name = {name_of(*work): work for work in works}
    failed = {outcome.part: failed_tests(outcome.part) for outcome in outcomes if outcome.code}
    is_final = (
        len(outcomes) < len(works)
        or any(outcome.code not in {0, SOME_FAILED} for outcome in outcomes)
        or any(by_name[name][0] is Tier.QUICK or not named for name, named in failed.items())
        or sum(map(len, failed.values())) > AGAIN_MOST
    )
    if is_final or not failed:
        return []
    say(f"{sum(map(len, failed.values()))} failed beside others: once more, with nothing beside")
    seconds = run_at_once(
        1, [by_name[name] for name in failed], lambda *work: run(*work, seed, once_more=True)
    )
    results = {second.part.removesuffix(AGAIN): second for second in seconds}
    return [
        Verdict(test=test, part=name, passed=passed_alone(test, tests, results.get(name), failed_tests(name)))
        for name, tests in failed.items()
        for test in tests
    ]


def passed_alone(test: str, tests: Sequence[str], second: Outcome | None, still: Sequence[str]) -> bool:
    """Whether a test of those that ran once more passed; of one that was skipped nothing is known."""
    if second is None:
        return False
    if second.code == 0:
        passed = PASSED.findall(second.output)
        return bool(passed) and int(passed[-1]) == len(tests)
    return second.code == SOME_FAILED and bool(still) and test not in still


def end(waiting: deque[Work]) -> None:
    """Ends the parts that run, and starts no other."""
    waiting.clear()
    for process in list(running.values()):
        process.terminate()


def say(text: str) -> None:
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    reap_after()
    sys.exit(main(sys.argv[1:]))
