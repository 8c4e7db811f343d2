"""A test that leaves a process, a browser, a port or a folder behind fails, and one that cleans up passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.house import ROOT

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc, which Linux has")

HEAD = """
import contextlib, os, shutil, socket, subprocess, sys, tempfile, pytest
from tests.leaks import Leaks
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
LEFT = []

"""

LEAKING = {
    "a process": ("def test_it(): LEFT.append(subprocess.Popen(SLEEP))", "the test leaves behind: process"),
    "a process without a parent": (
        "def test_it(): subprocess.run([*SLEEP[:2], 'import subprocess, sys; subprocess.Popen(sys.argv[1:])', *SLEEP])",
        "the test leaves behind: process",
    ),
    "a port": (
        "def test_it():\n    LEFT.append(socket.create_server(('127.0.0.1', 0)))",
        "the test leaves behind: port",
    ),
    "a folder": ("def test_it(): tempfile.mkdtemp(prefix='left-')", "the test leaves behind: folder left-"),
    "a fixture's process": (
        "@pytest.fixture(scope='module')\ndef server():\n    LEFT.append(subprocess.Popen(SLEEP))\n    yield\n\n"
        "def test_it(server): pass\ndef test_another(server): pass",
        "the fixture server leaves behind: process",
    ),
    "a process that a test started for a fixture": (
        "@pytest.fixture(scope='module')\ndef servers():\n    started = [subprocess.Popen(SLEEP)]\n    yield started\n"
        "    started[0].kill()\n    started[0].wait()\n\n"
        "def test_it(servers): servers.append(subprocess.Popen(SLEEP))\ndef test_another(servers): pass",
        "the fixture servers leaves behind: process",
    ),
    "a fixture's browser": (
        "from playwright.sync_api import sync_playwright\n\n@pytest.fixture(scope='module')\ndef browser():\n"
        "    LEFT.append(sync_playwright().start())\n    yield\n\ndef test_it(browser): pass\ndef test_another(browser): pass",
        "the fixture browser leaves behind: process",
    ),
}

CLEAN = """
@pytest.fixture(scope="module")
def server():
    process = subprocess.Popen(SLEEP)
    folder = tempfile.mkdtemp()
    with socket.create_server(("127.0.0.1", 0)):
        yield
    process.kill()
    process.wait()
    shutil.rmtree(folder)

def test_one(server):
    pass

@pytest.fixture(scope="module")
def servers():
    started = [subprocess.Popen(SLEEP)]
    yield started
    for process in started:
        process.kill()
        process.wait()

def test_restarted(servers):
    servers.append(subprocess.Popen(SLEEP))

def test_two(server):
    with tempfile.TemporaryDirectory():
        subprocess.run([*SLEEP[:2], ""])
"""


def run(folder: Path, text: str) -> str:
    (folder / "conftest.py").write_text(
        "import tests.leaks\ntests.leaks.GONE_WITHIN_S = 0.2\n"
        "def pytest_configure(config): config.pluginmanager.register(tests.leaks.Leaks())\n"
    )
    (folder / "test_planted.py").write_text(HEAD + text)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:django",
            "-c",
            "/dev/null",
            str(folder),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TIER": "all", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("planted", LEAKING)
def test_a_test_or_fixture_that_leaves_something_behind_fails(planted: str, tmp_path: Path) -> None:
    text, expected = LEAKING[planted]
    printed = run(tmp_path, text)
    assert expected in printed
    assert "1 error" in printed


def test_what_is_cleaned_up_is_no_leak(tmp_path: Path) -> None:
    assert "3 passed" in run(tmp_path, CLEAN)


KILLED = """
def test_it():
    server = subprocess.Popen(SLEEP, start_new_session=True)
    stubborn = subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 60 & wait; sleep 60"], preexec_fn=os.setpgrp)
    started = [server.pid, stubborn.pid]
    if shutil.which("redis-server"):
        from tests.services.servers import free_port, redis_command, wait_for
        import redis
        port = free_port()
        client = redis.Redis(port=port)
        running = subprocess.Popen(redis_command(port), stdout=subprocess.DEVNULL)
        wait_for(client.ping, running, None)
        started.append(running.pid)
    with open("started", "w") as file:
        print(tempfile.gettempdir(), *started, file=file)
    os.kill(os.getpid(), 9)
"""


def test_a_run_that_is_killed_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    run(tmp_path, KILLED)
    folder, *started = (tmp_path / "started").read_text().split()
    left = [Path("/proc", pid) for pid in started] + [Path(folder)]
    assert len(started) == 2 + (shutil.which("redis-server") is not None)
    deadline = time.monotonic() + 120
    while (stay := [path for path in left if path.exists()]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert stay == []


KEEPING = "import sys, os, tests; print(sys.dont_write_bytecode, 'PYTHONDONTWRITEBYTECODE' in os.environ)"


@pytest.mark.parametrize(("options", "printed"), [([], "False False"), (["-B"], "True False")])
def test_processes_of_the_tests_keep_compiled_modules_unless_started_with_b(
    options: list[str], printed: str
) -> None:
    asked = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    asked |= {} if options else {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *options, "-c", KEEPING],
        cwd=ROOT,
        env=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == printed
