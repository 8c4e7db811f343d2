"""How Java starts for the tests."""

from __future__ import annotations

import subprocess
import time

import pytest

from . import jars
from .class_archive import LIMIT_S, make_once
from .java import archive_of, java

pytestmark = pytest.mark.broker


def test_java_takes_kafkas_classes_from_their_archive(released_jars: str) -> None:
    until = time.monotonic() + LIMIT_S
    make_once()
    # Another process may be making it.
    while not archive_of(released_jars).exists() and time.monotonic() < until:
        time.sleep(0.2)
    for class_path in (released_jars, f"{jars.JARS}/*"):
        # With -Xshare:on it ends at once where the archive is not there or is not of these jars.
        program = java(class_path, "-Xshare:on", "-Xlog:class+load")
        command = [*program, "kafka.tools.StorageTool", "random-uuid"]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "kafka.tools.StorageTool source: shared objects file" in printed
