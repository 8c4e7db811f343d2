"""``python -m tests.fuzz``: hostile bytes for every decoder, by as many processes as there are cores."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from tests.fuzz import corpus

EVER: Final = 1 << 62
INPUTS: Final = "inputs"
"""The folder in which libFuzzer keeps what reached new code."""

NO_SIGN_SECONDS: Final = 180
"""A process that told nothing for so long hangs in an input."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for how long (default 10)")
    parser.add_argument("--inputs", type=int, default=EVER, help="or until so many were tried")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--blind", action="store_true", help="without coverage: several times as many inputs")
    parser.add_argument(
        "--only", default="", metavar="NAME", help="the targets or families whose name has this in it"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument(
        "--folder", type=Path, default=Path("var/fuzz"), help="where inputs and findings are kept"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="FILE", help="try the inputs of a file, and nothing else"
    )
    parser.add_argument("--collect", action="store_true", help="choose the committed inputs anew")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.replay:
        return replay(arguments.replay)
    if arguments.collect:
        return collect(arguments.folder)
    if not arguments.blind and importlib.util.find_spec("atheris") is None:
        parser.error("atheris is not installed: `make fuzz` does that; or use --blind")
    return work(arguments) if arguments.worker else run(arguments)


def collect(folder: Path) -> int:
    from tests.fuzz.targets import every_target
    from tests.fuzz.worker import led_to

    targets = every_target()
    count = corpus.collect(targets, led_to(sorted(targets), folder / INPUTS))
    sys.stdout.write(f"{count} inputs, {corpus.COLLECTED.stat().st_size:,} bytes\n")
    return 0


def replay(path: Path) -> int:
    from tests.fuzz.oracle import Finding, attempt_counting, time_bound
    from tests.fuzz.targets import every_target

    targets = every_target()
    failed = 0
    with time_bound() as restart:
        for line in path.read_text().splitlines():
            name, data = corpus.parse(line)
            restart()
            try:
                read = attempt_counting(targets[name], data)
                sys.stdout.write(f"{name}, {len(data)} bytes: {'read' if read else 'refused'}\n")
            except Finding as finding:
                failed += 1
                sys.stdout.write(f"{name}, {len(data)} bytes: FINDING {finding}\n")
    return 1 if failed else 0


def run(arguments: argparse.Namespace) -> int:
    """Start the processes, wait, add up what they did."""
    began = time.monotonic()
    shutil.rmtree(arguments.folder / "findings", ignore_errors=True)
    (arguments.folder / "findings").mkdir(parents=True)
    # The numbers of targets in them mean something in one run alone.
    shutil.rmtree(arguments.folder / INPUTS, ignore_errors=True)
    for old in arguments.folder.glob("*.json"):
        old.unlink()
    command = [
        sys.executable, "-m", "tests.fuzz", "--minutes", str(arguments.minutes), "--only", arguments.only,
        "--inputs", str(-(-arguments.inputs // arguments.processes)), "--folder", str(arguments.folder),
        *(["--blind"] if arguments.blind else []),
    ]  # fmt: skip
    workers = {}
    for number in range(arguments.processes):
        name = f"process-{number}"
        seed = (arguments.seed + number) % 2**31
        with (arguments.folder / f"{name}.log").open("wb") as log:
            workers[name] = subprocess.Popen(
                [*command, "--worker", name, "--seed", str(seed)], stderr=log, stdout=log
            )
    died = watch(arguments.folder, workers)
    return report(arguments, workers, died, time.monotonic() - began)


def watch(folder: Path, workers: dict[str, subprocess.Popen[bytes]]) -> list[str]:
    died = []
    while any(worker.poll() is None for worker in workers.values()):
        time.sleep(1)
        for name, worker in workers.items():
            figures = folder / f"{name}.json"
            if (
                figures.exists()
                and time.time() - figures.stat().st_mtime > NO_SIGN_SECONDS
                and worker.poll() is None
            ):
                worker.kill()
                died.append(f"{name} hung in an input")
    for name, worker in workers.items():
        if worker.returncode:
            died.append(f"{name} ended with {worker.returncode}; see {folder / f'{name}.log'}")
    return died


def report(arguments: argparse.Namespace, workers: dict[str, Any], died: list[str], seconds: float) -> int:
    tried: Counter[str] = Counter()
    read: Counter[str] = Counter()
    findings = dict.fromkeys(died, "")
    peak = 0
    for name in workers:
        path = arguments.folder / f"{name}.json"
        if not path.exists():
            continue
        told = json.loads(path.read_text())
        tried.update(told["tried"])
        read.update(told["read"])
        findings |= told["findings"]
        peak = max(peak, told["peak_bytes"])
    how = "blind" if arguments.blind else "led by coverage"
    out = sys.stdout.write
    out(
        f"{tried.total():,} inputs, {how}, {len(workers)} processes, {seconds:.0f} s; "
        f"the largest process had {peak / 2**20:.0f} MiB; {len(findings)} findings.\n"
    )
    for family in sorted(tried):
        out(f"  {family:12} {tried[family]:>12,} tried, {read[family]:>12,} of them could be read\n")
    for finding, where in findings.items():
        out(f"FINDING {finding}\n  {where}\n")
    return 1 if findings or not tried else 0


def work(arguments: argparse.Namespace) -> int:
    """One process."""
    if not arguments.blind:
        import atheris

        with atheris.instrument_imports(include=["groups.wire"], enable_loader_override=False):
            from tests.fuzz.targets import every_target
    else:
        from tests.fuzz.targets import every_target
    from tests.fuzz.worker import Job, run_blind, run_with_coverage

    targets = {
        name: target
        for name, target in every_target().items()
        if arguments.only in name or arguments.only == target.family
    }
    job = Job(
        name=arguments.worker,
        folder=arguments.folder,
        stop=time.monotonic() + 60 * arguments.minutes,
        inputs=arguments.inputs,
        seed=arguments.seed,
        targets=targets,
    )
    job.tell()
    if arguments.blind:
        run_blind(job)
    else:
        run_with_coverage(job, arguments.folder / INPUTS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
