"""``make demo`` as a newcomer starts it: rebalances happen, and the app records them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.broker import jars
from tests.conftest import missing
from tests.serving import ROOT, environment_for

pytestmark = [pytest.mark.broker, pytest.mark.once]

LIMIT_S = 180
"""A start may take a minute on a machine that does other things, and the consumers some seconds more."""


def test_the_demonstration_shows_groups_that_rebalance(tmp_path: Path) -> None:
    try:
        jars.class_path()
    except jars.BrokerUnavailableError as problem:
        missing(str(problem))
    log = tmp_path / "demo.log"
    with log.open("wb") as out:
        demo = subprocess.Popen(
            [sys.executable, "-m", "tests.demo", "--port", "0", "--pause", "1"],
            cwd=ROOT, env=environment_for(tmp_path / "var"), stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + LIMIT_S
        groups: list[dict[str, Any]] = []
        while not shown(groups):
            assert demo.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, f"{groups}\n{log.read_text()[-2000:]}"
            time.sleep(0.5)
            groups = groups_of(log.read_text())
        os.killpg(demo.pid, signal.SIGINT)
        assert demo.wait(60) is not None
    finally:
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGKILL)
            demo.wait()


def shown(groups: list[dict[str, Any]]) -> bool:
    """All four stories are seen, and one that kills was seen to rebalance more than once."""
    by_name = {group["group"]: group for group in groups}
    if not {"orders", "payments", "billing", "audit"} <= set(by_name):
        return False
    return by_name["orders"]["timeline"] is not None and len(by_name["orders"]["rebalanced_ms"]) >= 2


def groups_of(said: str) -> list[dict[str, Any]]:
    found = re.search(r"plays at (http://[^/]+)/\?token=(\S+)", said)
    if found is None:
        return []

    def ask(address: str) -> Any:
        request = urllib.request.Request(found[1] + address, headers={"Authorization": f"Bearer {found[2]}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    clusters = [cluster for cluster in ask("/api/clusters") if cluster["name"] == "demo"]
    return ask(f"/api/clusters/{clusters[0]['id']}/groups") if clusters else []
