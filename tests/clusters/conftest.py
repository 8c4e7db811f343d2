"""One secure broker for the tests of live clusters."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.broker import jars

from .secure import Secure, secure_broker


@pytest.fixture(scope="session")
def released_broker_jars() -> str:
    """The class path of the released jars; skipped where this machine cannot run a broker."""
    try:
        return jars.class_path()
    except jars.BrokerUnavailableError as problem:
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(f"REQUIRE_ALL is set, and {problem}")
        pytest.skip(str(problem))


@pytest.fixture(scope="session")
def secure(released_broker_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    with secure_broker(tmp_path_factory.mktemp("secure")) as broker:
        yield broker
