"""Finds the mistakes of the classic coordinator and of migration by exploring, each in a process of its own.

``python -m tests.simulations.mutations.explored [NAME …]`` explores with these, or all of them, and keeps what found each; with
``NAME PLACE`` it explores one place (of ``PLACES``) with one mistake and prints what is broken as JSON, or ``null``. Small groups without
commits, limits and deletions cannot show all of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.simulations.mutations.apart import tried_apart
from tests.simulations.mutations.mutated import introduce
from tests.simulations.mutations.mutation import Mutation
from tests.simulations.mutations.of_classic import CLASSIC_MUTATIONS

FOUND_FILE: Final = Path(__file__).with_name("found_explored.json")

PLACES: Final[tuple[tuple[str, dict[str, int]], ...]] = (
    ("classic-two-join", {}),
    ("classic-static-restart", {}),
    ("classic-cooperative", {"fail_overs": 1}),
    ("migration", {}),
    ("classic-two-join", {"losses": 1}),
    ("classic-two-join", {"timers": 1}),
    ("migration-back", {}),
)
"""Small scenarios and budgets, the quickest first; each line of the script waits for rest."""

STATES_MAX: Final = 60_000

FoundBy = Mapping[str, Any]
"""``place``: which of ``PLACES``; ``invariant``, ``says``, ``steps``."""


def known() -> dict[str, FoundBy]:
    found: dict[str, FoundBy] = json.loads(FOUND_FILE.read_text(encoding="utf-8"))
    return found


def found_by(mutation: Mutation, known: FoundBy | None = None) -> FoundBy | None:
    """What finds the mutation, where it was ``known`` to be found or anywhere; ``RuntimeError`` if it cannot be tried."""
    place = str(known["place"]) if known is not None else "any"
    found: FoundBy | None = tried_apart("explored", mutation, place)
    return found


def main(arguments: list[str]) -> int:
    if len(arguments) == 2 and arguments[1] in ("any", *map(str, range(len(PLACES)))):
        name, place = arguments
        sys.stdout.write(json.dumps(_explored(name, place)))
        return 0
    found = dict(known()) if FOUND_FILE.exists() else {}
    tried = [each for each in CLASSIC_MUTATIONS if not arguments or each.name in arguments]
    for mutation in tried:
        found.pop(mutation.name, None)
        if (by := found_by(mutation)) is not None:
            found[mutation.name] = by
        text = json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False)
        FOUND_FILE.write_text(text + "\n", "utf-8")
    sys.stdout.write(f"{len(found)} of {len(CLASSIC_MUTATIONS)} found\n")
    return 0


def _explored(name: str, place: str) -> dict[str, Any] | None:
    introduce(next(each for each in CLASSIC_MUTATIONS if each.name == name))

    from groups.history.state.group import Semantics
    from simulations import small_scenarios
    from simulations.proof.exploration import Budgets, explore

    for number in range(len(PLACES)) if place == "any" else [int(place)]:
        scenario, budgets = PLACES[number]
        try:
            report, _ = explore(
                small_scenarios.load(scenario),
                Semantics.KAFKA,
                Budgets(**budgets),
                states_max=STATES_MAX,
                unhurried=True,
            )
        except (AssertionError, KeyError, StopIteration, ValueError) as error:
            # The coordinator itself notices that it does what it cannot do.
            return {"place": number, "invariant": "raises", "says": str(error), "steps": 0}
        if report.violations:
            first = min(report.violations, key=lambda each: len(each.trace))
            return {
                "place": number,
                "invariant": first.invariant,
                "says": first.sentence,
                "steps": len(first.trace),
            }
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
