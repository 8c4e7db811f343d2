from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

WAIT_MOST_S = 60

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
    """Waits until something holds, for as long as a machine that is busy with much else may take."""

    def wait(holds: Callable[[], object]) -> None:
        end_s = time.monotonic() + WAIT_MOST_S
        while not holds():
            assert time.monotonic() < end_s, f"it did not come about within {WAIT_MOST_S} s"
            time.sleep(0.02)

    return wait


@pytest.fixture
def database_of_the_test(transactional_db: None) -> str:
    """``DATABASE_URL`` for other processes, whose settings would lead them to the database that is no test's."""
    found: dict[str, Any] = connection.settings_dict
    name = str(found["NAME"])
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return os.environ["DATABASE_URL"].rpartition("/")[0] + f"/{name}"
