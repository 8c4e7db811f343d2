"""Finds a mistake by recorded exchanges: ``python -m tests.simulations.mutations.repeated NAME [EXCHANGE…]``.

A process of its own, as ``mutated``. It prints the first exchange that comes out otherwise than recorded, as JSON, or
``null``; those that are named are tried first.
"""

from __future__ import annotations

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.simulations.mutations.apart import tried_apart
from tests.simulations.mutations.mutated import introduce
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_classic import CLASSIC_MUTATIONS

FOUND = Path(__file__).with_name("found_classic.json")
"""By mutation the exchange that found it."""


def known() -> dict[str, str]:
    found: dict[str, str] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found


def found_by(mutation: Mutation, first: str | None = None) -> str | None:
    """The exchange that finds the mutation; ``RuntimeError`` if it cannot be tried."""
    found: str | None = tried_apart("repeated", mutation, *([first] if first else []))
    return found


def all_found(recorded: dict[str, str]) -> dict[str, str | None]:
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda each: found_by(each, recorded.get(each.name)), CLASSIC_MUTATIONS)
        return {each.name: by for each, by in zip(CLASSIC_MUTATIONS, found, strict=True)}


def main(name: str, *first: str) -> None:
    introduce(next(each for each in CLASSIC_MUTATIONS if each.name == name))

    from tests.broker.classic.recording import recorded
    from tests.broker.classic.repeating import differences

    transcripts = recorded()
    for group in dict.fromkeys((*first, *transcripts)):
        try:
            differs = group in transcripts and bool(differences(transcripts[group]))
        except Exception:  # What breaks is found, too.
            differs = True
        if differs:
            sys.stdout.write(json.dumps(group))
            return
    sys.stdout.write("null")


def write() -> int:
    found = all_found({})
    FOUND.write_text(json.dumps({n: by for n, by in sorted(found.items()) if by}, indent=1) + "\n")
    missed = [name for name, by in found.items() if by is None]
    sys.stdout.write(f"{len(found) - len(missed)} of {len(found)} found; not {missed}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(write() if sys.argv[1:] == ["--record"] else main(*sys.argv[1:]))
