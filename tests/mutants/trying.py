"""Tries faults on a copy of the tree in which all of a sample stand, each behind a switch; see ``forking``."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.mutants.forking import NO_END, Answer, Loaded, Plan, Reach
from tests.mutants.rooms import Room
from tests.mutants.sites import Site, sites, with_faults
from tests.mutants.switch import ACTIVE, REACHED

ROOT: Final = Path(__file__).resolve().parents[2]

LIMIT_TIMES: Final = 4
LIMIT_LEAST_S: Final = 30.0
"""Processor time for a fault that is on as the modules load: so many times what all of the room's tests take."""
LINES_TOLD: Final = 20
WAITS_TIMES: Final = 20
"""By the clock it may take so many times its limit, on a machine that others use."""


class CannotTry(Exception):
    """The tests fail without a fault, or could not be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A fault, whether the tests noticed it, by which test, and how many tests reach its place (0: as modules load)."""

    site: Site
    noticed: bool
    by: str
    tests: int
    took_s: float


def sites_of(room: Room, root: Path = ROOT) -> list[Site]:
    """Every fault that can be put into the room."""
    found: list[Site] = []
    for path in sorted((root / room.folder).rglob("*.py")):
        found += sites(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    return found


def drawn(places: Sequence[Site], count: int, seed: str) -> list[Site]:
    """So many of the faults, or all; a larger sample of the same seed begins with the smaller one."""
    shuffled = list(places)
    random.Random(seed).shuffle(shuffled)
    return shuffled[:count]


def tried(room: Room, faults: Sequence[Site], root: Path = ROOT) -> Iterator[Tried]:
    """Each fault, as soon as it is known; what is asked for by hand and cannot be put there raises ``CannotTry``."""
    with copied(root) as folder:
        _put_in(folder, faults)
        (folder / "reached").write_bytes(bytes(len(faults) + 1))
        plan = Plan(
            tests=room.paths,
            answers=str(folder / "answers"),
            folder=str(folder / "base"),
            faults=list(range(len(faults))),
        )
        loading: list[int] = []
        known = 0
        whole_s = 0.0
        for answer in _answers(folder, plan):
            match answer:
                case {"loading": numbers}:
                    loading = numbers
                case {"test": name, "passed": False}:
                    why = (folder / "why").read_text(encoding="utf-8")
                    raise CannotTry(f"without a fault, {name} fails:\n{why}")
                case {"test": _, "took_s": took_s}:
                    whole_s += took_s
                case {"fault": number, "by": by, "tests": tests, "took_s": took_s}:
                    known += 1
                    yield Tried(site=faults[number], noticed=bool(by), by=by, tests=tests, took_s=took_s)
        if known + len(loading) < len(faults):
            raise CannotTry(
                f"{len(faults) - known - len(loading)} faults were not tried: {_last_line(folder)}"
            )
        for number in loading:
            yield _alone(folder, plan, number, faults[number], max(LIMIT_LEAST_S, LIMIT_TIMES * whole_s))


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """The tree's own files in a folder of their own; the environment is shared."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
        text=True,
    ).stdout.split("\0")
    with TemporaryDirectory(prefix="mutants-") as temporary:
        folder = Path(temporary)
        for name in filter(None, listed):
            if (root / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, folder / name)
        yield folder


def _put_in(folder: Path, faults: Sequence[Site]) -> None:
    by_file: dict[str, dict[int, int]] = {}
    for number, site in enumerate(faults):
        by_file.setdefault(site.file, {})[site.number] = number
    for file, chosen in by_file.items():
        path = folder / file
        path.write_text(with_faults(path.read_text(encoding="utf-8"), chosen), encoding="utf-8")


def _answers(folder: Path, plan: Plan) -> Iterator[Loaded | Reach | Answer]:
    """What the process that forks tells, line by line, as it comes."""
    process = _process(folder, plan, {})
    answers = Path(plan["answers"])
    answers.touch()
    with answers.open(encoding="utf-8") as file:
        rest = ""
        while True:
            try:
                code: int | None = process.wait(0.2)
            except subprocess.TimeoutExpired:
                code = None
            *lines, rest = (rest + file.read()).split("\n")
            yield from map(json.loads, lines)
            if code is not None:
                break
    # pytest's code for "no test ran" is what a loop in other hands ends with, or that of the last test that failed.
    if code not in (0, 1, 5):
        raise CannotTry(f"pytest ended with {code}:\n{_last_lines(folder)}")


def _alone(folder: Path, plan: Plan, number: int, site: Site, limit_s: float) -> Tried:
    """A fault that is reached as the modules load: on from the first, with all tests of the room."""
    answers = folder / f"answers-{number}"
    alone = Plan(
        tests=plan["tests"],
        answers=str(answers),
        folder=plan["folder"],
        faults=[],
        alone=number,
        limit_s=limit_s,
    )
    process = _process(folder, alone, {ACTIVE: str(number)})
    try:
        code = process.wait(WAITS_TIMES * limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return Tried(site=site, noticed=True, by=NO_END, tests=0, took_s=limit_s)
    told = answers.read_text(encoding="utf-8") if answers.exists() else ""
    if not told and code == -signal.SIGXCPU:
        return Tried(site=site, noticed=True, by=NO_END, tests=0, took_s=limit_s)
    if not told:
        return Tried(site=site, noticed=True, by=f"does not load: {_last_line(folder)}", tests=0, took_s=0)
    answer: Answer = json.loads(told)
    return Tried(
        site=site, noticed=bool(answer["by"]), by=answer["by"], tests=answer["tests"], took_s=answer["took_s"]
    )


def _process(folder: Path, plan: Plan, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    path = folder / "plan.json"
    path.write_text(json.dumps(plan), encoding="utf-8")
    # Whoever runs this under pytest has told it of a project that the folder need not hold.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name != "DJANGO_SETTINGS_MODULE"
    }
    with (folder / "output").open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-B", "-m", "tests.mutants.forking", str(path)],
            cwd=folder,
            env={
                **inherited,
                "PYTHONPATH": str(folder),
                REACHED: str(folder / "reached"),
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def _last_lines(folder: Path) -> str:
    """What it said last: of a fault of its own, the end of the traceback."""
    lines = (folder / "output").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return "\n".join(lines[-LINES_TOLD:])


def _last_line(folder: Path) -> str:
    lines = (folder / "output").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing was said"
