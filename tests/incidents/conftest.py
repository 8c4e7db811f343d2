"""The recordings, judged once for all tests: importing all of them takes about two seconds."""

from __future__ import annotations

import pytest

from .facts import recorded_names
from .judge import Judgement, judge_all


@pytest.fixture(scope="session")
def judged() -> dict[str, Judgement]:
    return {each.name: each for each in judge_all(recorded_names())}
