"""Finds mistakes in what happens to brokers by fuzzing with the preset ``rolling``, each in a process of its own.

``python -m tests.simulations.mutations.rolled`` hunts them all and keeps the seeds; with ``NAME FIRST LAST`` and a kind of group
with its semantics (``mixed kafka``) it looks for one mistake in these seeds, and prints the first that finds it as JSON, or ``null``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from tests.simulations.mutations.apart import tried_apart
from tests.simulations.mutations.mutated import introduce
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_brokers import BROKER_MUTATIONS

FOUND = Path(__file__).with_name("found_rolled.json")

SEEDS_MOST = 300
"""Seeds that are tried for one mistake, of each kind: some seconds."""

ROLLING: Final = "rolling"

KINDS: Final = (("mixed", "kafka"), ("classic", "kafka"), ("consumer", "kafka"), ("consumer", "kip"))
"""Kinds of groups with the semantics in which they run, in the order in which they are tried; ``kip`` has mistakes of its own."""

Found = Mapping[str, Any]
"""``seed``, ``protocols``, ``semantics``, ``invariant``, ``says``."""


def known() -> dict[str, Found]:
    found: dict[str, Found] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found


def found_by(mutation: Mutation, first: int = 0, last: int = SEEDS_MOST - 1) -> Found | None:
    """The first seed from ``first`` to ``last`` that finds the mutation; ``RuntimeError`` if it cannot be tried."""
    kinds = [kind for kind in KINDS if (kind[1] == "kip") == mutation.name.startswith("kip")]
    tried = (tried_apart("rolled", mutation, str(first), str(last), *kind) for kind in kinds)
    return next((found for found in tried if found is not None), None)


def found_again(mutation: Mutation, by: Found) -> Found | None:
    """By the recorded seed."""
    seed = str(by["seed"])
    found: Found | None = tried_apart("rolled", mutation, seed, seed, by["protocols"], by["semantics"])
    return found


def missed() -> list[str]:
    """Mistakes that their recorded seeds do not find any more."""
    by_name = known()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda each: found_again(each, by_name[each.name]), BROKER_MUTATIONS)
        return [each.name for each, by in zip(BROKER_MUTATIONS, found, strict=True) if by is None]


def main(arguments: list[str]) -> int:
    if arguments:
        name, first, last, kind, semantics = arguments
        sys.stdout.write(json.dumps(_hunted(name, int(first), int(last), kind, semantics)))
        return 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        names = [each.name for each in BROKER_MUTATIONS]
        by_name = dict(zip(names, pool.map(found_by, BROKER_MUTATIONS), strict=True))
    found = {name: by for name, by in sorted(by_name.items()) if by is not None}
    FOUND.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(found)} of {len(by_name)} found\n")
    return 0


def _hunted(name: str, first: int, last: int, kind: str, semantics: str) -> dict[str, Any] | None:
    introduce(next(each for each in BROKER_MUTATIONS if each.name == name))

    from simulations.proof.fuzzing.batches import judged

    for seed in range(first, last + 1):
        broken = judged(seed, semantics, [ROLLING], groups=kind).broken
        if broken is not None:
            told = {"invariant": broken.invariant, "says": broken.sentence}
            return {"seed": seed, "protocols": kind, "semantics": semantics, **told}
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
