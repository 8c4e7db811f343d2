from __future__ import annotations

import time
from collections.abc import Callable

import pytest

LONG_SCENARIO = """\
name: long
title: A long run
topics: {foo: {partitions: 6}}
members:
  A: {subscribe: [foo]}
  B: {subscribe: [foo]}
script:
  - {at: 0s, join: A}
SCRIPT
until: 40000s
"""


@pytest.fixture
def long_scenario() -> str:
    """Simulates for several seconds: B comes and goes, thousands of times."""
    comings = "\n".join(
        f"  - {{at: {20 * number + 10}s, join: B}}\n  - {{at: {20 * number + 20}s, leave: B}}"
        for number in range(1500)
    )
    return LONG_SCENARIO.replace("SCRIPT", comings)


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    """Waits until something holds; fails after ten seconds."""

    def wait(holds: Callable[[], object]) -> None:
        end_s = time.monotonic() + 10
        while not holds():
            assert time.monotonic() < end_s, "it did not come about within 10 s"
            time.sleep(0.02)

    return wait
