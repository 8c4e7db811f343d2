"""Some of ``make chaos``."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.services.asked import Asked
from tests.services.chaos import Chaos

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

RAGE_S = 45


def test_what_was_acknowledged_is_whole_and_once_after_kills_and_restarts(
    team: Asked, tmp_path: Path
) -> None:
    chaos = Chaos(team, tmp_path, random.Random(7))
    chaos.rage(RAGE_S)
    assert chaos.faults
    assert chaos.runs
    chaos.audit()
    assert chaos.problems == [], (chaos.faults, len(chaos.runs), len(chaos.imports))
