"""Imports at the sizes that people have: beside Kafka's own dump tool on the same file, and by what bounds them.

Wall time and processor time of whole processes (Java and Python's workers with them), memory sampled from ``/proc``.
``IMPORT_RECORDS`` makes all of it smaller, to try it out.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.generated.mixes import MIXES
from tests.broker import jars
from tests.broker.dump import DUMP_LOG
from tests.serving import ROOT, served

RECORDS: Final = int(os.environ.get("IMPORT_RECORDS") or 5_000_000)
DUMP_PAIR: Final = ("typical", "churn")
SAMPLE_S: Final = 0.2
OPENINGS: Final = 20
SMALL_RECORDS: Final = 800
"""About 100 KB."""
SEGMENT_RECORDS: Final = 930_000
"""About 120 MB."""

GOALS: Final = {"typical": 5.0, "churn": 1.0}
"""How many times Kafka's dump tool an import should be."""


@dataclass(slots=True)
class Cost:
    """What a process and all below it took: seconds of the wall and of processors, and most memory in MB by kind."""

    wall_s: float = 0.0
    processor_s: float = 0.0
    java_mb: float = 0.0
    worker_mb: float = 0.0
    report: Any = None
    answers: list[str] = field(default_factory=list)


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for mix in DUMP_PAIR:
            yield from beside_dump(folder / mix, mix, RECORDS if mix == "typical" else RECORDS // 5)
        yield from linear(folder / "linear")
        yield from two_cores(folder / "cores")
        yield from many(folder / "many")
        yield from from_the_page(folder / "page")
        yield proven(
            f"a segment of {min(SEGMENT_RECORDS, RECORDS):,} records dropped in Chromium, till one of its groups is open",
            "tests/browser/test_large_import.py::test_a_dropped_segment_becomes_groups_that_open",
            min(SEGMENT_RECORDS, RECORDS),
        )
        yield proven(
            f"{RECORDS:,} records on two workers, one killed half-way, into PostgreSQL; and alone, to compare",
            "tests/pipeline/test_cluster.py",
            RECORDS,
            on=("tests/services/run.sh",),
        )


def beside_dump(folder: Path, mix: str, records: int) -> Iterator[Figure]:
    log = MIXES[mix](folder / "log", records)
    dumped = measured(
        ["java", "-Xmx256m", "-cp", jars.class_path(), DUMP_LOG, "--offsets-decoder", "--print-data-log", "--files",
         ",".join(map(str, log.files))],
        environment=dict(os.environ),
    )  # fmt: skip
    cost = imported(folder, log.files[0].parent)
    size = log.size_bytes / 1e6
    yield Figure(
        what=f"{mix}, {records:,} records ({size:,.0f} MB): Kafka's dump tool", value=dumped.wall_s, unit="s"
    )
    yield Figure(
        what=f"the same imported ({cost.processor_s:,.0f} s of processors, the tool {dumped.processor_s:,.0f} s)",
        value=cost.wall_s,
        unit="s",
    )
    yield Figure(
        what=f"{mix}: times Kafka's dump tool",
        value=dumped.wall_s / cost.wall_s,
        unit="times",
        goal=GOALS[mix],
        at_least=True,
    )
    yield from bounds(mix, folder, records, cost)


def bounds(what: str, folder: Path, records: int, cost: Cost) -> Iterator[Figure]:
    stored = sum(path.stat().st_size for path in (folder / "var").rglob("*") if stored_for_good(path))
    yield Figure(what=f"{what}: store and database", value=stored / records, unit="bytes a record", goal=100)
    yield Figure(what=f"{what}: memory of Java at most", value=cost.java_mb, unit="MB", goal=600)
    yield Figure(what=f"{what}: memory of a Python worker at most", value=cost.worker_mb, unit="MB", goal=400)


def stored_for_good(path: Path) -> bool:
    return path.is_file() and ("store" in path.parts or ".sqlite3" in path.name)


def linear(folder: Path) -> Iterator[Figure]:
    """A fifth, the whole and four times the records: the same time for each."""
    for records in (RECORDS // 5, 4 * RECORDS):
        log = MIXES["typical"](folder / "log", records)
        cost = imported(folder, log.files[0].parent)
        yield Figure(
            what=f"typical, {records:,} records ({log.size_bytes / 1e6:,.0f} MB) imported",
            value=cost.wall_s,
            unit="s",
        )
        yield Figure(what="of them a second", value=records / cost.wall_s, unit="records/s")
        yield from bounds(f"{records:,} records", folder, records, cost)
        shutil.rmtree(folder, ignore_errors=True)


def two_cores(folder: Path) -> Iterator[Figure]:
    log = MIXES["typical"](folder / "log", RECORDS // 5)
    one, two = (imported(folder / word, log.files[0].parent, master=f"local[{word}]") for word in ("1", "2"))
    yield Figure(
        what="two cores beside one", value=one.wall_s / two.wall_s, unit="times", goal=1.7, at_least=True
    )


def many(folder: Path) -> Iterator[Figure]:
    share = min(1.0, RECORDS / 5_000_000)
    for mix, count, what in (
        ("many-groups", round(20_000 * share), "groups that rebalance five times each"),
        ("large-group", round(20_000 * share), "members in one group"),
    ):
        log = MIXES[mix](folder / mix / "log", count)
        cost = imported(folder / mix, log.files[0].parent)
        yield Figure(
            what=f"{count:,} {what}, {log.records:,} records, imported", value=cost.wall_s, unit="s", goal=120
        )
        yield from bounds(what, folder / mix, log.records, cost)


def from_the_page(folder: Path) -> Iterator[Figure]:
    """A warm server: a small log, a whole segment, and any moment of its timelines."""
    small = MIXES["typical"](folder / "small", SMALL_RECORDS)
    segment = MIXES["typical"](folder / "segment", min(SEGMENT_RECORDS, RECORDS), segment_bytes=None)
    (folder / "var").mkdir()
    with served(folder / "var") as server:
        ask(server, folder / "first", small.files[0])
        warm = middle([ask(server, folder / f"small-{n}", small.files[0])[0] for n in range(3)])
        yield Figure(
            what="a warm server: 100 KB uploaded to its list of groups", value=warm, unit="s", goal=2
        )
        took, told = ask(server, folder / "segment-upload", segment.files[0])
        size = segment.size_bytes / 1e6
        yield Figure(
            what=f"a segment of {size:,.0f} MB uploaded to its list of groups", value=took, unit="s", goal=30
        )
        opened = [open_somewhere(server, row["id"]) for row in told["timelines"][:OPENINGS]]
        yield Figure(
            what="a moment of one of its timelines, first opened, median", value=middle(opened), unit="s"
        )
        yield Figure(what="the slowest of them", value=max(opened), unit="s", goal=2)


def proven(what: str, test: str, records: int, *, on: tuple[str, ...] = ()) -> Figure:
    """Runs a test at full size: that it holds is the point, how long all of it took is told."""
    begun_s = time.monotonic()
    subprocess.run(
        [*on, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        cwd=ROOT, env={**os.environ, "IMPORT_RECORDS": str(records), "REQUIRE_ALL": "1"}, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return Figure(what=what, value=time.monotonic() - begun_s, unit="s")


def ask(server: Any, folder: Path, file: Path) -> tuple[float, Any]:
    """Uploads a file as the page does; seconds until its groups are there, and the answer."""
    folder.mkdir(parents=True, exist_ok=True)
    begun_s = time.monotonic()
    done = subprocess.run(
        ["curl", "-sS", "-H", f"Authorization: Bearer {server.token}", "-F", f"files=@{file}",
         "-F", f"paths=__consumer_offsets-17/{file.name}", f"{server.url}/api/imports"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    made = json.loads(done.stdout)
    while True:
        told = json.load(server.open(f"/api/imports/{made['import']}"))
        if told["status"] not in ("waiting", "running"):
            break
        time.sleep(0.05)
    if told["status"] != "complete":
        raise RuntimeError(f"The import ended {told['status']}: {told['problem']}")
    return time.monotonic() - begun_s, told


def open_somewhere(server: Any, timeline: str) -> float:
    """Seconds until a board that begins at some entry has its chunk."""
    begun_s = time.monotonic()
    detail = json.load(server.open(f"/api/timelines/{timeline}"))
    chunk = random.Random(timeline).choice(detail["chunks"])
    server.open(f"/api/timelines/{timeline}/chunks/{chunk['first']}?v={detail['version']}").read()
    return time.monotonic() - begun_s


def imported(folder: Path, log: Path, master: str = "local[2]") -> Cost:
    var = folder / "var"
    shutil.rmtree(var, ignore_errors=True)
    var.mkdir(parents=True)
    # The archive of Java's classes is made once on an installation, behind the first start.
    with contextlib.suppress(OSError):
        shutil.copytree(ROOT / "var" / "spark", var / "spark", ignore=shutil.ignore_patterns("scratch"))
    return measured(
        [sys.executable, str(ROOT / "manage.py"), "import_log", str(log), "--master", master],
        environment={**os.environ, "REBALANCE_VAR": str(var)},
    )


def measured(command: list[str], environment: dict[str, str]) -> Cost:
    cost = Cost()
    before = os.times()
    begun_s = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    ended = threading.Event()
    sampler = threading.Thread(target=_sample, args=(process.pid, cost, ended), daemon=True)
    sampler.start()
    _, errors = process.communicate()
    cost.wall_s = time.monotonic() - begun_s
    ended.set()
    sampler.join()
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    cost.processor_s = max(used, cost.processor_s)
    if process.returncode != 0:
        raise RuntimeError(errors.decode(errors="replace")[-2_000:])
    return cost


def _sample(pid: int, cost: Cost, ended: threading.Event) -> None:
    """Notes the most memory of Java and of any Python worker, and processor time that no parent waits for."""
    page, tick = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")
    used: dict[int, float] = {}
    while not ended.wait(SAMPLE_S):
        for folder in _below(pid):
            with contextlib.suppress(OSError, IndexError, ValueError):
                name, _, rest = (folder / "stat").read_text().rpartition(")")
                fields = rest.split()
                used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / tick
                resident = int((folder / "statm").read_text().split()[1]) * page / 1e6
                if "(java" in name:
                    cost.java_mb = max(cost.java_mb, resident)
                elif b"pyspark.daemon" in (folder / "cmdline").read_bytes():
                    cost.worker_mb = max(cost.worker_mb, resident)
        cost.processor_s = sum(used.values())


def _below(pid: int) -> list[Path]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return [Path(f"/proc/{number}") for number in found]
