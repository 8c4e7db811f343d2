"""Tries faults on a copy of the tree: the room's own tests, stopped at the first that fails, under a time limit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.rooms import Room
from tests.mutants.sites import Site, sites

ROOT: Final = Path(__file__).resolve().parents[2]

LIMIT_TIMES: Final = 4
LIMIT_LEAST_S: Final = 60.0
"""A fault may make a loop endless: so many times what the tests take without one, and a minute at least."""

NO_TESTS_FAILED: Final = 0
ENDS_OF_TESTS: Final = (0, 1, 2)
"""pytest's codes: all passed, some failed, none could be collected, since the module does not even load."""


class CannotTry(Exception):
    """The tests fail without a fault, or could not be run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A fault, whether the tests noticed it, and how: the test's name, or that time ran out."""

    site: Site
    noticed: bool
    by: str


def copied(folder: Path) -> Path:
    """The tree's own files in a folder of their own; the environment is shared."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def sites_of(room: Room, root: Path = ROOT) -> list[Site]:
    """Every fault that can be put into the room."""
    found: list[Site] = []
    for path in sorted((root / room.folder).rglob("*.py")):
        found += sites(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    return found


def run(folder: Path, tests: Iterable[str], limit_s: float | None) -> tuple[int, str]:
    """pytest's code and the last line that it said; ``TimeoutExpired`` beyond the limit."""
    # Whoever runs this under pytest has told it of a project that the folder need not hold.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTEST_") and name != "DJANGO_SETTINGS_MODULE"
    }
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--no-header",
            "--tb=no",
            *tests,
        ],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    told = failed[0] if failed else (done.stdout + done.stderr).strip().splitlines()[-1]
    return done.returncode, told


def tried(folder: Path, room: Room, site: Site, limit_s: float) -> Tried:
    """One fault in the copy, which is as it was afterwards."""
    path = folder / site.file
    text = path.read_text(encoding="utf-8")
    path.write_text(site.applied(text), encoding="utf-8")
    try:
        code, told = run(folder, room.paths, limit_s)
    except subprocess.TimeoutExpired:
        return Tried(site=site, noticed=True, by=f"no end after {limit_s:.0f} s")
    finally:
        path.write_text(text, encoding="utf-8")
    if code not in ENDS_OF_TESTS:
        raise CannotTry(f"{site.key}: pytest ended with {code}: {told}")
    return Tried(site=site, noticed=code != NO_TESTS_FAILED, by=told)
