"""How long the pytest plug-in reads a group's log, and what it calls a page: without a broker."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from explorer.client import pytest_plugin
from explorer.client.pytest_plugin import Program

ENDLESS = 'import time\nwhile True: print(\'{"timeline": "t1"}\', flush=True); time.sleep(0.05)'


def test_a_group_that_never_comes_to_rest_is_read_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest_plugin, "READ_MOST_S", 1.0)
    # As of a process that a shell started in the background.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        timeline, _ = Program([sys.executable, "-c", ENDLESS], dict(os.environ)).recorded()
    finally:
        signal.signal(signal.SIGINT, before)
    assert timeline == "t1"
