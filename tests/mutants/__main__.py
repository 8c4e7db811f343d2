"""``python -m tests.mutants [--rooms R,R] [--each N] [--seed TEXT] [--only TEXT]``: a sample of faults in each room, as a table.

The sample is drawn by the commit's hash, or by the seed that is told. A fault that changes nothing stands in
``explained.json`` with why. Exit 1 if any was noticed by nobody and is not explained.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tests.mutants import browser
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.trying import ROOT, CannotTry, Tried, drawn, sites_of, tried

EXPLAINED: Final = Path(__file__).with_name("explained.json")
EACH: Final = 5
"""Faults of a room in a sample: some minutes for all rooms."""
BROWSER: Final = "browser"
ALL: Final = (*ROOMS, BROWSER)
HEAD: Final = (
    "| room | places | tried | noticed | explained | left | share | seconds each |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|"
)


def explained() -> dict[str, str]:
    """By a fault's key, why nobody can notice it."""
    told: dict[str, str] = json.loads(EXPLAINED.read_text(encoding="utf-8"))
    return told


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--rooms", default=",".join(ALL), help=f"of {', '.join(ALL)}; default: all")
    parser.add_argument("--each", type=int, default=EACH, help=f"faults tried in each room; default: {EACH}")
    parser.add_argument("--seed", default="", help="draws the sample; default: the commit's hash")
    parser.add_argument(
        "--only", default="", help="of the faults that are drawn, those with this text in their name"
    )
    parser.add_argument(
        "--tests", default="", help="files of the room's tests, by name; default: all of them"
    )
    parser.add_argument("--tell-all", action="store_true", help="tell which test noticed each")
    told = parser.parse_args(arguments)
    chosen = told.rooms.split(",")
    if unknown := sorted(set(chosen) - set(ALL)):
        parser.error(f"--rooms {unknown[0]}: there are {', '.join(ALL)}")
    seed = told.seed or _commit()
    why = explained()
    say(f"Drawn by {seed}\n\n{HEAD}")
    left: list[Tried] = []
    for name in chosen:
        places = browser.sites_of() if name == BROWSER else sites_of(ROOMS[name])
        faults = [site for site in drawn(places, told.each, f"{seed} {name}") if told.only in site.key]
        begun_s = time.monotonic()
        results = []
        for each in browser.tried(faults) if name == BROWSER else tried(room_of(name, told.tests), faults):
            results.append(each)
            if told.tell_all:
                tell(each, f"noticed by {each.by}" if each.noticed else "noticed by nobody")
        known = [each for each in results if not each.noticed and each.site.key in why]
        lacking = [each for each in results if not each.noticed and each.site.key not in why]
        noticed = len(results) - len(known) - len(lacking)
        share = (noticed + len(known)) / max(len(results), 1)
        each_s = (time.monotonic() - begun_s) / max(len(results), 1)
        say(
            f"| {name} | {len(places):,} | {len(results)} | {noticed} | {len(known)} | {len(lacking)} "
            f"| {share:.0%} | {each_s:.1f} |"
        )
        # Told room by room: the next one may take minutes.
        for each in lacking:
            tell(each, f"noticed by none of {each.tests} tests" if each.took_s else "reached by no test")
        left += lacking
    return 1 if left else 0


def room_of(name: str, tests: str) -> Room:
    room = ROOMS[name]
    return replace(room, tests=tuple(tests.split(","))) if tests else room


def _commit() -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout.strip()


def tell(each: Tried, what: str) -> None:
    site = each.site
    sys.stderr.write(
        f"{site.file}:{site.line}, {site.where}: {site.old} -> {site.new}: {what} ({each.took_s:.1f} s)\n"
    )
    sys.stderr.flush()


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except CannotTry as problem:
        sys.exit(str(problem))
