"""One team of processes for all tests of this room: its start takes twenty seconds of a processor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services.asked import Asked, asked_team


@pytest.fixture(scope="package")
def started_team() -> Iterator[Asked]:
    with asked_team() as made:
        yield made


@pytest.fixture
def team(started_team: Asked) -> Asked:
    """The team with all its processes, also those that an earlier test killed."""
    started_team.complete()
    return started_team
