"""``python -m tests.mutants [--rooms R,R] [--each N] [--seed TEXT]``: a sample of faults in each room, as a table.

The sample is drawn by the commit's hash, or by the seed that is told. A fault that changes nothing stands in
``explained.json`` with why. Exit 1 if any was noticed by nobody and is not explained.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.mutants.rooms import ROOMS
from tests.mutants.trying import (
    LIMIT_LEAST_S,
    LIMIT_TIMES,
    ROOT,
    CannotTry,
    Tried,
    copied,
    run,
    sites_of,
    tried,
)

EXPLAINED: Final = Path(__file__).with_name("explained.json")
EACH: Final = 5
"""Faults of a room in a sample: some minutes for all rooms."""


def explained() -> dict[str, str]:
    """By a fault's key, why nobody can notice it."""
    told: dict[str, str] = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    return told


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--rooms", default=",".join(ROOMS), help=f"of {', '.join(ROOMS)}; default: all")
    parser.add_argument("--each", type=int, default=EACH, help=f"faults tried in each room; default: {EACH}")
    parser.add_argument("--seed", default="", help="draws the sample; default: the commit's hash")
    told = parser.parse_args(arguments)
    chosen = told.rooms.split(",")
    if unknown := sorted(set(chosen) - set(ROOMS)):
        parser.error(f"--rooms {unknown[0]}: there are {', '.join(ROOMS)}")
    seed = told.seed or _commit()
    why = explained()
    say(
        f"Drawn by {seed}\n\n| room | places | tried | noticed | explained | share |\n|---|---:|---:|---:|---:|---:|"
    )
    left: list[Tried] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = copied(Path(temporary))
        for name in chosen:
            room = ROOMS[name]
            begun_s = time.monotonic()
            code, last = run(folder, room.paths, None)
            if code:
                raise CannotTry(f"{name}: its tests fail without a fault: {last}")
            limit_s = max(LIMIT_LEAST_S, LIMIT_TIMES * (time.monotonic() - begun_s))
            places = sites_of(room)
            drawn = random.Random(f"{seed} {name}").sample(places, min(told.each, len(places)))
            results = [tried(folder, room, site, limit_s) for site in drawn]
            noticed = sum(each.noticed for each in results)
            missed = [each for each in results if not each.noticed]
            known = [each for each in missed if each.site.key in why]
            lacking = [each for each in missed if each.site.key not in why]
            share = (noticed + len(known)) / max(len(results), 1)
            say(f"| {name} | {len(places)} | {len(results)} | {noticed} | {len(known)} | {share:.0%} |")
            # Told room by room: the next one may take minutes.
            for each in lacking:
                tell(each)
            left += lacking
    return 1 if left else 0


def _commit() -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.strip()


def tell(missed: Tried) -> None:
    site = missed.site
    sys.stderr.write(f"Noticed by nobody: {site.file}:{site.line}, {site.where}: {site.old} -> {site.new}\n")
    sys.stderr.flush()


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CannotTry as problem:
        sys.exit(str(problem))
