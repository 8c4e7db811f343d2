"""The browser's modules: faults over TypeScript's syntax tree (``tests/javascript/mutants``), noticed by the tests that Node runs.

Drawn from the modules that these tests load and that know no page. What draws on one and listens to a pointer is none of
Node's business: tests in Chromium look at it, and would take minutes for each fault.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypedDict

from tests.mutants.forking import NO_END
from tests.mutants.sites import Site, counted
from tests.mutants.switch import ACTIVE, REACHED
from tests.mutants.trying import ROOT, CannotTry, Tried, copied

MODULES: Final = "static/js"
TESTS: Final = "tests/javascript"
TOOL: Final = f"{TESTS}/mutants/places.js"
SWITCH: Final = f"./{TESTS}/mutants/switch.js"
IMPORTED: Final = re.compile(
    r"""(?:\bfrom|\bimport\()\s*['"](\.[^'"]+)['"]|^import\s+['"](\.[^'"]+)['"]""", re.MULTILINE
)

KNOWS_A_PAGE: Final = re.compile(
    r"\bdocument\b|\b(HTML|SVG)\w*Element\b|\bElement\b|\bcanvas\b|/dom\.js|\bCanvasRenderingContext2D\b"
    r"|\brequestAnimationFrame\b"
)
COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

LIMIT_S: Final = 60.0
"""By the clock: a file of tests takes half a second, on a machine that others use."""


class Place(TypedDict):
    """What the tool tells of a fault; offsets count JavaScript's characters."""

    number: int
    line: int
    where: str
    old: str
    new: str


def loaded(root: Path = ROOT) -> list[str]:
    """The modules that Node's tests load, and those that these load; by their paths."""
    todo = sorted((root / TESTS).glob("*.test.js"))
    seen = set(todo)
    while todo:
        path = todo.pop()
        for one, other in IMPORTED.findall(path.read_text(encoding="utf-8")):
            found = (path.parent / (one or other)).resolve()
            if found.suffix == ".js" and found.is_file() and found not in seen:
                seen.add(found)
                todo.append(found)
    return sorted(
        path.relative_to(root.resolve()).as_posix()
        for path in seen
        if (root / MODULES).resolve() in path.parents
    )


def sites_of(root: Path = ROOT) -> list[Site]:
    """Every fault that can be put into the modules that know no page."""
    files = [
        file
        for file in loaded(root)
        if not KNOWS_A_PAGE.search(COMMENT.sub("", (root / file).read_text(encoding="utf-8")))
    ]
    told = places(_texts(root, files))
    return counted(
        Site(
            file=file,
            number=place["number"],
            line=place["line"],
            where=place["where"],
            old=place["old"],
            new=place["new"],
        )
        for file in files
        for place in told[file]
    )


def places(texts: Mapping[str, str]) -> dict[str, list[Place]]:
    """Of each file, the faults that can be put into it."""
    told: dict[str, list[Place]] = json.loads(_tool({"texts": texts}))
    return told


def tried(faults: Sequence[Site], root: Path = ROOT) -> Iterator[Tried]:
    """Each fault: the files of tests that reach it, the fastest first, up to the first that fails."""
    with copied(root) as folder:
        chosen: dict[str, dict[str, int]] = {}
        for number, site in enumerate(faults):
            chosen.setdefault(site.file, {})[str(site.number)] = number
        changed: dict[str, str] = json.loads(_tool({"texts": _texts(root, list(chosen)), "chosen": chosen}))
        for file, text in changed.items():
            (folder / file).write_text(text, encoding="utf-8")
        tests = sorted((folder / TESTS).glob("*.test.js"))
        reach: dict[Path, set[int]] = {}
        takes: dict[Path, float] = {}
        for test in tests:
            reached = folder / "reached"
            reached.write_text("")
            begun_s = time.monotonic()
            if failed := _fails(folder, test, {REACHED: str(reached)}):
                raise CannotTry(f"without a fault, {test.name} fails: {failed}")
            takes[test] = time.monotonic() - begun_s
            reach[test] = set(map(int, reached.read_text().split()))
        for number, site in enumerate(faults):
            chosen_tests = sorted((test for test in tests if number in reach[test]), key=takes.__getitem__)
            begun_s = time.monotonic()
            by = next(
                (
                    f"{test.name}: {failed}"
                    for test in chosen_tests
                    if (failed := _fails(folder, test, {ACTIVE: str(number)}))
                ),
                "",
            )
            yield Tried(
                site=site,
                noticed=bool(by),
                by=by,
                tests=len(chosen_tests),
                took_s=time.monotonic() - begun_s,
            )


def _fails(folder: Path, test: Path, environment: Mapping[str, str]) -> str:
    """The first test of the file that fails; "" if all pass."""
    try:
        done = subprocess.run(
            ["node", "--import", SWITCH, "--test-reporter", "tap", str(test)],
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return NO_END
    if not done.returncode:
        return ""
    failed = re.search(r"^\s*not ok \d+ - (.*)$", done.stdout, re.MULTILINE)
    return failed[1] if failed else (done.stderr.strip().splitlines() or ["it does not load"])[-1]


def _texts(root: Path, files: Sequence[str]) -> dict[str, str]:
    return {file: (root / file).read_text(encoding="utf-8") for file in files}


def _tool(asked: object) -> str:
    done = subprocess.run(
        ["node", TOOL], cwd=ROOT, input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CannotTry(f"node {TOOL}: {done.stderr.strip().splitlines()[-1:]}")
    return done.stdout
