"""Assignors beside Kafka's own: the call alone, warm against warm, taking turns on the same group.

``make bench`` runs the usual cells among the other benchmarks; by itself,
``python -m tests.benchmarks.assignors [--all] [--only WORDS] [--write]`` prints the table and ``--write`` puts it into
``docs/explanation/assignor-speed.md``. Each cell has a Java process of its own. The garbage collectors of both sides run as
they do anywhere. Both answers are compared.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import IO, Any, Final

from simulations.protocol.assignors import ASSIGNORS, GroupAssignment, GroupSpec
from simulations.protocol.assignors.spec_document import read_spec
from tests.benchmarks.assignor_shapes import Cell, cells
from tests.benchmarks.figures import Figure
from tests.broker import jars

SOURCES: Final = Path(__file__).parent / "java_assignors"
CLASSES: Final = jars.HOME / "assignor-classes"
PAGE: Final = Path(__file__).parents[2] / "docs" / "explanation" / "assignor-speed.md"
KEPT: Final = jars.HOME.parent.parent / "benchmarks" / "assignors.json"
"""What was measured so far, so that cells can be measured one by one; the page is made of it."""

HEAP: Final = "-Xmx4g"
JAVA_LIMIT_S: Final = 60.0
"""A call of Java's that takes longer is not waited for; the table says so."""
WARM_S: Final = 2.0
"""Java's compilers are done by then; a call that takes longer by itself is warm enough after one."""
ROUNDS: Final = 5
TURN_S: Final = 0.25
CELL_S: Final = 12.0
"""After so long no further round is begun."""

GOAL: Final = 1.0
GENERAL_STICKY_GOAL: Final = 0.1


@dataclass(slots=True, kw_only=True)
class Measured:
    """Nanoseconds of each call. ``java`` is empty without Java, or where it took too long. ``new`` are calls with a
    group that was not assigned before."""

    ours: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    java: list[int] = field(default_factory=list)
    too_long: bool = False
    same: bool | None = None

    @property
    def ratio(self) -> float | None:
        return min(self.ours) / min(self.java) if self.java else None


def run() -> Iterator[Figure]:
    for cell in cells(everything=False):
        found = measured(cell)
        kept(cell, found)
        what = f"assigned by {cell.name}: {cell.shape}, {cell.subscriptions}, {cell.event}"
        ratio = found.ratio
        if ratio is None:
            yield Figure(what=what, value=min(found.ours) / 1e6, unit="ms")
            continue
        what += f" ({milliseconds(min(found.ours))} ms; Java {milliseconds(min(found.java))} ms"
        what += ")" if found.same else "; ANOTHER ANSWER)"
        yield Figure(what=what, value=ratio, unit="× Java's time", goal=goal_of(cell))


def goal_of(cell: Cell) -> float:
    general = not cell.equal and cell.assignor in ("sticky", "cooperative-sticky")
    return GENERAL_STICKY_GOAL if general else GOAL


def measured(cell: Cell) -> Measured:
    document = cell.document()
    found = Measured()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.json"
        file.write_text(json.dumps(document))
        ours = Ours(cell, read_spec(document).group)
        del document
        java = None if jars.missing() is not None else Java(file)
        try:
            _take_turns(ours, java, found)
        finally:
            if java is not None:
                java.end()
    return found


def _take_turns(ours: Ours, java: Java | None, found: Measured) -> None:
    gc.collect()
    # The group itself is no garbage, and is not looked through for it while it is assigned.
    gc.freeze()
    try:
        ours.call()
        if java is not None and not java.warm():
            found.too_long, java = True, None
        began = time.monotonic()
        for turn in range(ROUNDS):
            if turn and time.monotonic() - began > CELL_S:
                break
            found.new.append(ours.call(replace(ours.group)))
            found.ours += turns(ours.call)
            if java is not None:
                found.java += turns(java.call)
        if java is not None:
            found.same = java.digest() == ours.digest()
    finally:
        gc.unfreeze()


def turns(call: Callable[[], int]) -> list[int]:
    """Calls for one turn's time, at least one."""
    took: list[int] = []
    while sum(took) < TURN_S * 1e9:
        took.append(call())
    return took


class Ours:
    def __init__(self, cell: Cell, group: GroupSpec) -> None:
        self.make = ASSIGNORS[cell.protocol][cell.assignor]
        self.group = group
        self.answer: GroupAssignment | None = None

    def call(self, group: GroupSpec | None = None) -> int:
        assignor = self.make()
        group = group or self.group
        # The last answer goes before: nobody measures how long it takes to throw it away.
        self.answer = None
        began = time.perf_counter_ns()
        answer = assignor.assign(group)
        took = time.perf_counter_ns() - began
        self.answer = answer
        return took

    def digest(self) -> str:
        assert self.answer is not None
        digest = hashlib.sha256()
        for member_id, owned in sorted(self.answer.members.items()):
            for topic, partitions in sorted(owned.items()):
                if partitions:
                    digest.update(f"{member_id} {topic} {' '.join(map(str, sorted(partitions)))}\n".encode())
        return digest.hexdigest()


class Java:
    """Kafka's assignor in a process of its own."""

    def __init__(self, spec: Path) -> None:
        command = ["java", HEAP, "-cp", jars.class_path(SOURCES, CLASSES), "AssignGroups", str(spec)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.asked: IO[str] = self.process.stdin
        self.told: IO[str] = self.process.stdout
        self.told.readline()

    def warm(self) -> bool:
        """Lets Java compile what it runs; False if one call takes too long to wait for."""
        spent = 0
        while spent < WARM_S * 1e9:
            limit = threading.Timer(JAVA_LIMIT_S, self.process.kill)
            limit.start()
            told = self._ask("call")
            limit.cancel()
            if not told:
                return False
            spent += int(told)
        return True

    def call(self) -> int:
        return int(self._ask("call"))

    def digest(self) -> str:
        return self._ask("answer")

    def _ask(self, request: str) -> str:
        self.asked.write(f"{request}\n")
        self.asked.flush()
        return self.told.readline().strip()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def milliseconds(nanoseconds: float) -> str:
    value = nanoseconds / 1e6
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


HEAD: Final = (
    "| members × topics × partitions | subscriptions | assignor | event "
    "| Java min | median | ours min | median | new group | ratio |\n"
    "|---|---|---|---|---:|---:|---:|---:|---:|---:|\n"
)


def row(cell: Cell, found: Measured) -> str:
    ours = f"{milliseconds(min(found.ours))} | {milliseconds(median(found.ours))} | "
    ours += milliseconds(min(found.new)) if found.new else ""
    if found.ratio is None:
        java, ratio = (f"over {JAVA_LIMIT_S * 1000:,.0f} | " if found.too_long else " | "), ""
        if found.too_long:
            ratio = f"under {min(found.ours) / (JAVA_LIMIT_S * 1e9):.3f}"
    else:
        java = f"{milliseconds(min(found.java))} | {milliseconds(median(found.java))}"
        ratio = f"{found.ratio:.2f}" if found.ratio >= 0.1 else f"{found.ratio:.3f}"
        ratio += "" if found.same else ", another answer"
    return (
        f"| {cell.shape} | {cell.subscriptions} | {cell.name} | {cell.event} | {java} | {ours} | {ratio} |\n"
    )


def kept(cell: Cell, found: Measured) -> None:
    """Puts a cell's figures beside those that were measured before."""
    everything = _read_kept()
    everything[json.dumps(asdict(cell))] = asdict(found)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    KEPT.write_text(json.dumps(everything, indent=0))


def table() -> str:
    """The rows of all cells that were ever measured here, in the cells' order."""
    everything = _read_kept()
    order = {json.dumps(asdict(cell)): cell for every in (True, False) for cell in cells(everything=every)}
    return HEAD + "".join(
        row(cell, Measured(**everything[key])) for key, cell in order.items() if key in everything
    )


def _read_kept() -> dict[str, Mapping[str, Any]]:
    return json.loads(KEPT.read_text()) if KEPT.exists() else {}


def write(page: Path = PAGE) -> None:
    """Replaces the table of the page: all lines that begin with a bar."""
    before, _, rest = page.read_text().partition("| members")
    after = rest.partition("\n\n")[2]
    page.write_text(f"{before}{table()}\n{after}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.assignors")
    parser.add_argument("--all", action="store_true", help="all cells: most of an hour")
    parser.add_argument(
        "--only", default="", help="cells whose row holds all of these words: uniform 10000 join"
    )
    parser.add_argument("--write", action="store_true", help="put the table into the page of the docs")
    told = parser.parse_args(arguments)
    sys.stdout.write(HEAD)
    for cell in cells(everything=told.all):
        words = f"{cell.name} {cell.shape} {cell.subscriptions} {cell.event}".replace(",", "").split()
        if all(word in words for word in told.only.replace(",", "").split()):
            found = measured(cell)
            kept(cell, found)
            sys.stdout.write(row(cell, found))
            sys.stdout.flush()
    if told.write:
        write()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
