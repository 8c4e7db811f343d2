"""The unit files of the docs: what systemd says of them, and that each starts a command with words that it takes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import missing
from tests.house import ROOT

UNITS = sorted((ROOT / "docs/deploy/systemd").glob("*.service"))
PROGRAM = "/opt/rebalance-explorer/bin/rebalance-explorer"

pytestmark = pytest.mark.once


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_nothing_wrong_with_a_unit(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        missing("systemd-analyze is not installed")
    # It looks for the program, too, which is not installed there.
    copy = tmp_path / unit.name.replace("@", "@runs")
    copy.write_text(unit.read_text().replace(PROGRAM, sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    of_ours = [line for line in (done.stdout + done.stderr).splitlines() if "rebalance-explorer" in line]
    assert of_ours == []


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_starts_a_command_with_options_that_it_has(unit: Path) -> None:
    (line,) = re.findall(rf"^ExecStart={PROGRAM} (.*)$", unit.read_text(), re.MULTILINE)
    command, *words = line.split()
    shown = subprocess.run(
        [sys.executable, "manage.py", command, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    options = [word for word in words if word.startswith("--")]
    assert options
    assert [word for word in options if word not in shown] == []
