"""One process that tries inputs until its time or number is over.

Blind: mutations of valid inputs and of earlier ones that could still be read, a few hundred of one target at a time;
several times as many a second as with coverage. Led by coverage: atheris (libFuzzer) keeps what reached code that
nothing reached before, and goes on from there.

What it did is written to a file of JSON while it goes, for the parent to add up.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.fuzz import corpus
from tests.fuzz.mutation import mutated
from tests.fuzz.oracle import (
    MOST_INPUT_BYTES,
    MOST_RESIDENT_BYTES,
    Finding,
    Target,
    attempt,
    attempt_counting,
    time_bound,
)

IN_A_ROW: Final = 500
COUNTED_EVERY: Final = 500
"""One input in so many has its allocations counted, which is slow."""

POOL: Final = 60
"""As many inputs of one target are kept to go on from; new ones replace old ones."""

MOST_SEEDS: Final = 40
"""Inputs of one target to begin with, where coverage leads: reading them all again takes a moment at each start."""

MOST_FINDINGS: Final = 20
SPARE_ADDRESSES: Final = 4 * MOST_RESIDENT_BYTES
"""What a process may map beyond what it has at the start: a decoder that asks for more fails at once."""


@dataclass
class Job:
    """What one process shall do; ``stop`` is a time, ``inputs`` a number; whichever comes first."""

    name: str
    folder: Path
    stop: float
    inputs: int
    seed: int
    targets: dict[str, Target]
    tried: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    def tell(self) -> None:
        """Leave the figures where the parent finds them."""
        told = {
            "seconds": time.monotonic() - self.began,
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            "tried": dict(self.tried),
            "read": dict(self.read),
            "findings": self.findings,
        }
        path = self.folder / f"{self.name}.json"
        beside = path.with_suffix(".part")
        beside.write_text(json.dumps(told))
        beside.replace(path)

    def found(self, target: Target, data: bytes, finding: Finding) -> None:
        """Keep a finding, once for each target and kind of sentence."""
        kind = "".join(letter for letter in str(finding) if not letter.isdigit())[:60]
        if (key := f"{target.name}: {kind}") in self.findings:
            return
        path = self.folder / "findings" / f"{self.name}-{len(self.findings)}.txt"
        corpus.write(path, [(target.name, data)])
        self.findings[key] = f"{path}: {finding}"
        sys.stderr.write(f"FINDING {target.name}: {finding}\n  python -m tests.fuzz --replay {path}\n")
        self.tell()

    def is_over(self) -> bool:
        return (
            time.monotonic() >= self.stop
            or self.tried.total() >= self.inputs
            or len(self.findings) >= MOST_FINDINGS
        )


def bound_memory() -> None:
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + SPARE_ADDRESSES, resource.RLIM_INFINITY))


def seeds(target: Target, committed: dict[str, list[bytes]]) -> list[bytes]:
    return [*target.seeds(), *committed[target.name]] or [b""]


def run_blind(job: Job) -> None:
    bound_memory()
    rng = random.Random(job.seed)
    families: dict[str, list[Target]] = {}
    for target in job.targets.values():
        families.setdefault(target.family, []).append(target)
    rows = list(families.values())
    committed = corpus.for_each_target(job.targets)
    pools: dict[str, list[bytes]] = {}
    with time_bound() as restart:
        while not job.is_over():
            target = rng.choice(rng.choice(rows))
            if target.name not in pools:
                pools[target.name] = seeds(target, committed)
            blind_row(job, target, pools[target.name], rng, restart)
            job.tell()


def blind_row(job: Job, target: Target, pool: list[bytes], rng: random.Random, restart: Any) -> None:
    read = 0
    for index in range(IN_A_ROW):
        data = mutated(pool[int(rng.random() * len(pool))], pool, rng)
        restart()
        try:
            if (attempt if index % COUNTED_EVERY else attempt_counting)(target, data):
                read += 1
                if rng.random() < 0.05:
                    if len(pool) < POOL:
                        pool.append(data)
                    else:
                        pool[int(rng.random() * len(pool))] = data
        except Finding as finding:
            job.found(target, data, finding)
    job.tried[target.family] += IN_A_ROW
    job.read[target.family] += read


def number_of(data: bytes, targets: int) -> int:
    """Which target, in the order of their names, an input of libFuzzer's is for: its first two bytes."""
    return int.from_bytes(data[:2].ljust(2, b"\0")) % targets


def led_to(names: list[str], inputs_folder: Path) -> list[tuple[str, bytes]]:
    """What coverage led to in an earlier run with the same targets."""
    inputs = [path.read_bytes() for path in inputs_folder.glob("*") if not path.name.startswith("seed-")]
    return [(names[number_of(data, len(names))], data[2:]) for data in inputs]


def run_with_coverage(job: Job, inputs_folder: Path) -> None:
    """Does not return: libFuzzer ends the process."""
    import atheris

    names = sorted(job.targets)
    committed = corpus.for_each_target(names)
    pools = {name: seeds(job.targets[name], committed) for name in names}
    inputs_folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        for index, data in enumerate(pools[name][:MOST_SEEDS]):
            (inputs_folder / f"seed-{name}-{index}").write_bytes(number.to_bytes(2) + data)

    def chosen(data: bytes) -> Target:
        return job.targets[names[number_of(data, len(names))]]

    def try_one(data: bytes) -> None:
        target = chosen(data)
        restart()
        try:
            job.read[target.family] += attempt(target, data[2:])
        except Finding as finding:
            job.found(target, data[2:], finding)
        job.tried[target.family] += 1
        if job.tried.total() % 1000 == 0:
            job.tell()
            if job.is_over():
                job.tell()
                sys.stderr.flush()
                os._exit(0)

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if seed % 4 == 0:
            return bytes(atheris.Mutate(data, most))
        head = data[:2] if seed % 32 else rng.randrange(len(names)).to_bytes(2)
        return (head + mutated(data[2:], pools[chosen(head).name], rng))[:most]

    with time_bound() as restart:
        arguments = [
            f"-seed={job.seed}", f"-max_len={MOST_INPUT_BYTES}", "-print_final_stats=0", "-verbosity=0", "-timeout=60",
            "-rss_limit_mb=4096", "-reload=1", f"-artifact_prefix={job.folder}/findings/", str(inputs_folder),
        ]  # fmt: skip
        atheris.Setup([sys.argv[0], *arguments], try_one, custom_mutator=mutate)
        atheris.Fuzz()
