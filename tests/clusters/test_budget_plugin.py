"""The fixture of the pytest plug-in, as the example of the docs uses it against a real broker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.clusters.secure import Secure
from tests.house import ROOT

EXAMPLE = ROOT / "docs/examples/rebalance-budget"

pytestmark = [pytest.mark.broker, pytest.mark.once]


def run(secure: Secure, folder: Path, **more: str) -> tuple[int, str, dict[str, str]]:
    """The exit code, what pytest prints, and the properties in its JUnit XML."""
    words = [
        *(
            "-m",
            "pytest",
            "-q",
            "-p",
            "explorer.client.pytest_plugin",
            "-c",
            "/dev/null",
            "--rootdir",
            str(EXAMPLE),
        ),
        *("-o", f"rebalance_explorer={sys.executable} {ROOT}/manage.py", f"--rebalance-pages={folder}/pages"),
        *("-p", "no:django", "-p", "no:cacheprovider", "--junit-xml", f"{folder}/report.xml", str(EXAMPLE)),
    ]
    environment = os.environ | {"KAFKA": secure.address("PLAINTEXT"), "PYTHONPATH": str(ROOT)} | more
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (folder / "report.xml").exists(), done.stdout + done.stderr
    found = ElementTree.parse(folder / "report.xml").iter("property")
    return done.returncode, done.stdout, {each.attrib["name"]: each.attrib["value"] for each in found}


def test_a_group_within_its_budget_passes_and_one_over_it_fails_with_the_page_that_plays_it(
    secure: Secure, tmp_path: Path
) -> None:
    code, printed, properties = run(secure, tmp_path)
    assert code == 0, printed
    assert int(properties["rebalance_rebalances"]) > 1
    assert "rebalance_page" not in properties

    code, printed, properties = run(secure, tmp_path, MAX_REBALANCES="1")
    assert code == 1
    assert f"rebalances {properties['rebalance_rebalances']}, at most 1." in printed
    assert Path(properties["rebalance_page"]).read_bytes().startswith(b"<!doctype html>")
