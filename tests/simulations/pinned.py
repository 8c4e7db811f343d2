"""Runs whose bytes are written down: what one machine simulated, every other one has to simulate, too.

python -m tests.simulations.pinned write      the digests anew, once the simulator behaves otherwise on purpose

``fixtures/pinned/digests.json`` holds for each case, semantics and seed how many entries there are, and the SHA-256 of
what ``manage.py simulate CASE --format entries`` prints.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from groups.history.state.group import Semantics
from simulations.management.commands.simulate import summary_lines
from simulations.world import studies
from simulations.world.scenario import load

FOLDER = Path(__file__).parent / "fixtures" / "pinned"
DIGESTS = FOLDER / "digests.json"

STUDIES = (
    "incident-rebalance-storm",
    "kip848-client-side",
    "kip848-streams",
    "released-fail-over",
    "released-regex",
)
SEEDS = (1, 2**53 - 1)
"""The usual one, and the largest that a link can carry."""


def cases() -> tuple[str, ...]:
    """Scenario files of the folder, whose members fare badly, and case studies."""
    return (*sorted(path.stem for path in FOLDER.glob("*.yaml")), *STUDIES)


def text_of(case: str) -> str:
    return studies.text(case) if case in STUDIES else (FOLDER / f"{case}.yaml").read_text(encoding="utf-8")


def printed(text: str, semantics: str, seed: int) -> list[bytes]:
    """The lines of ``simulate --format entries``, made in this process."""
    return list(summary_lines(load(text, "pinned"), Semantics(semantics), seed, "entries", "entry", []))


def digest(lines: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(lines)).hexdigest()


def runs_of(case: str) -> dict[str, Any]:
    """``{semantics: {seed: {"entries", "sha256"}}}``, simulated now."""
    text = text_of(case)
    found: dict[str, Any] = {}
    for semantics in Semantics:
        for seed in SEEDS:
            lines = printed(text, semantics, seed)
            found.setdefault(str(semantics), {})[str(seed)] = {"entries": len(lines), "sha256": digest(lines)}
    return found


def committed() -> dict[str, Any]:
    """The digests that are written down: those of ``runs_of`` for each case."""
    told: dict[str, Any] = json.loads(DIGESTS.read_text())
    return told


if __name__ == "__main__":
    if sys.argv[1:] != ["write"]:
        sys.exit("usage: python -m tests.simulations.pinned write")
    DIGESTS.write_text(json.dumps({case: runs_of(case) for case in cases()}, indent=1) + "\n")
