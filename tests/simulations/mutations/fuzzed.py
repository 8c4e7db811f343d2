"""Finds the mistakes of the classic coordinator and of migration by fuzzing, too, each in a process of its own.

``python -m tests.simulations.mutations.fuzzed`` hunts them all and keeps the seeds; with ``NAME FIRST LAST`` it looks for
one mistake in these seeds and prints the first that finds it as JSON, or ``null``. What clients never ask no run can show
(``NEVER_ASKED``); recorded exchanges find that, too (``repeated``).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.simulations.mutations.apart import tried_apart
from tests.simulations.mutations.mutated import introduce
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_classic import CLASSIC_MUTATIONS

FOUND = Path(__file__).with_name("found_fuzzed.json")

SEEDS_MOST = 300
"""Seeds that are tried for one mistake: some seconds."""

NEVER_ASKED = frozenset(
    {
        "classic-commit-completing",  # A client commits nothing between join and sync.
        "classic-described-joining",  # Nobody describes a group.
        "classic-empty-supports-all",  # Every client lists a protocol.
        "classic-follower-assigns",  # Only who leads brings assignments.
        "classic-unreadable-subscribes",  # Every client's subscription can be read, and nobody deletes offsets.
    }
)
"""Mistakes that no run can show, since no client of a run asks for what they are about."""

Found = Mapping[str, Any]
"""``seed``, ``protocols``, ``invariant``, ``says``."""


def known() -> dict[str, Found]:
    found: dict[str, Found] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found


def found_by(mutation: Mutation, first: int = 0, last: int = SEEDS_MOST - 1) -> Found | None:
    """The first seed from ``first`` to ``last`` that finds the mutation; ``RuntimeError`` if it cannot be tried."""
    found: Found | None = tried_apart("fuzzed", mutation, str(first), str(last))
    return found


def found_again(mutation: Mutation, seed: int) -> Found | None:
    """By the recorded seed."""
    return found_by(mutation, seed, seed)


def main(arguments: list[str]) -> int:
    if arguments:
        name, first, last = arguments
        sys.stdout.write(json.dumps(_hunted(name, int(first), int(last))))
        return 0
    hunted = [each for each in CLASSIC_MUTATIONS if each.name not in NEVER_ASKED]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        by_name = dict(zip((each.name for each in hunted), pool.map(found_by, hunted), strict=True))
    found = {name: by for name, by in sorted(by_name.items()) if by is not None}
    FOUND.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} of {len(by_name)} found\n")
    return 0


def _hunted(name: str, first: int, last: int) -> dict[str, Any] | None:
    introduce(next(each for each in CLASSIC_MUTATIONS if each.name == name))

    from simulations.proof.fuzzing.batches import judged

    kind = "mixed" if name.startswith(("upgrade", "downgrade", "mixed")) else "classic"
    for seed in range(first, last + 1):
        broken = judged(seed, "kafka", groups=kind).broken
        if broken is not None:
            told = {"invariant": broken.invariant, "says": broken.sentence}
            return {"seed": seed, "protocols": kind, **told}
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
