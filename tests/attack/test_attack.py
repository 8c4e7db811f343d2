"""The server holds out: ``make attack`` for some twenty seconds. How quick pages are on a machine that is shared is told, and
judged by ``make attack`` on one that is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack.siege import besiege

pytestmark = pytest.mark.once

MINUTES = 0.3
"""Each kind of attack is made once, whatever time that takes; three at once repeat themselves in what is left of this."""

READER_MS_MOST = 3000.0
"""A server that answers nobody else is found out by this, on whatever machine."""


@pytest.mark.long
def test_under_twenty_seconds_of_mixed_attacks_pages_come_memory_comes_back_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    siege = besiege(tmp_path, minutes=MINUTES, seed=2, say=said.append)
    with capsys.disabled():
        print("", siege.told(), *siege.problems, sep="\n")  # noqa: T201  (the figures belong to the test's result)
    assert siege.problems == []
    assert siege.page_ms(0.5) < READER_MS_MOST
    assert sum(siege.statuses.values()) > 150
