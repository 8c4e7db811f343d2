"""Finds mutations by fuzzing, each in a process of its own, and keeps which seed did."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.simulations.mutations.apart import tried_apart
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.patches import MUTATIONS

FOUND = Path(__file__).with_name("found.json")

SEEDS_MOST = 1_000
"""Seeds that are tried for one mutation: a minute or two."""

Found = Mapping[str, Any]
"""``seed``, ``semantics``, ``invariant``, ``says``."""


def recorded() -> dict[str, Found]:
    found: dict[str, Found] = json.loads(FOUND.read_text(encoding="utf-8"))
    return found


def record(found: Mapping[str, Found]) -> None:
    text = json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False)
    FOUND.write_text(text + "\n", encoding="utf-8")


def hunted(mutation: Mutation, first: int = 0, last: int = SEEDS_MOST - 1, *semantics: str) -> Found | None:
    """The first seed from ``first`` to ``last`` that finds the mutation; ``RuntimeError`` if it cannot be tried."""
    found: Found | None = tried_apart(
        "mutated", mutation, str(first), str(last), *(semantics or ("kafka", "kip"))
    )
    return found


def hunted_again(mutation: Mutation, known: Found, elsewhere: int) -> Found | None:
    """By the recorded seed first; where the drawing has changed since, by any of the first ``elsewhere`` seeds."""
    seed = known["seed"]
    return hunted(mutation, seed, seed, known["semantics"]) or hunted(mutation, 0, elsewhere - 1)


def all_hunted(
    hunt: Callable[[Mutation], Found | None], mutations: Iterable[Mutation] = MUTATIONS
) -> Iterator[Found | None]:
    """Every mutation in the order of the list, as many at once as there are cores."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield from pool.map(hunt, mutations)
