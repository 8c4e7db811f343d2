"""One broker for the whole session; skipped with the reason where this machine cannot run it."""

from __future__ import annotations

import os

import pytest

from . import jars
from .fresh import Recorded, record


@pytest.fixture(scope="session")
def released_jars() -> str:
    """The class path of the released jars."""
    try:
        return jars.class_path()
    except jars.BrokerUnavailableError as problem:
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(f"REQUIRE_ALL is set, and {problem}")
        pytest.skip(str(problem))


@pytest.fixture(scope="session")
def recorded(released_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """A short scenario, played by released consumers on a released broker just now."""
    return record(tmp_path_factory.mktemp("broker"), lambda _: None)
