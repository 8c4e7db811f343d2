"""What the fuzzer found once, shrunk: none of it is broken any more.

Seeds draw other scenarios whenever the drawing changes; these stay. Some were mistakes of the simulator, the others
were the checker's, which did not know that a released Kafka behaves so.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from simulations.proof.fuzzing.verdict import broken_by
from simulations.world.scenario import load

FOUND = sorted(Path(__file__).with_name("fixtures").joinpath("found").glob("*.yaml"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_was_found_once_is_mended(path: Path) -> None:
    scenario = load(path.read_text(encoding="utf-8"), path.stem)
    assert broken_by(scenario, scenario.semantics) is None


def test_there_are_some() -> None:
    assert FOUND
