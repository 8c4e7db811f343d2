"""The fixture ``rebalance_budget`` for tests of other programs: what a group of their broker went through stays within limits.

It needs pytest and the installed program, which it runs as its users do; it changes no path and no setting of the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

READ_MOST_S: Final = 60.0
"""How long the log is read once the block has ended: the program starts; a group that still rebalances has no end."""

END_MOST_S: Final = 20.0
"""A program that has not ended by then, once it was asked to, is killed."""

QUIET_S: Final = 3.0
"""The log has been read where nothing more of the group comes for so long."""

NAME_LENGTH_MOST: Final = 200
"""Letters of a page's name, the last ones of the test's: file systems take 255 bytes."""

OVER: Final = 1
"""Exit code of ``budget`` where a limit is exceeded."""


@dataclass(slots=True)
class Recorded:
    """What a group came to, once the block has ended: the line of ``budget``, and the page if a limit was exceeded."""

    figures: dict[str, Any]
    page: Path | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """The installed program, with a data folder of the test run's own."""

    words: list[str]
    environment: dict[str, str]

    def run(self, *more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *more], env=self.environment, capture_output=True, text=True, check=False
        )

    def recorded(self, *more: str) -> tuple[str | None, str]:
        """The timeline that ``watch`` records, null if there is no group; and what it prints of a failure."""
        with (
            tempfile.TemporaryFile("w+") as errors,
            subprocess.Popen(
                [*self.words, "watch", *more],
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                # What a shell starts in the background ignores SIGINT, and so would its children.
                preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            ) as watching,
        ):
            lines: queue.Queue[str] = queue.Queue()
            threading.Thread(target=_read, args=(watching, lines), daemon=True).start()
            line, end_s = "", time.monotonic() + READ_MOST_S
            with contextlib.suppress(queue.Empty):
                while (left_s := end_s - time.monotonic()) > 0 and (
                    more_of_it := lines.get(timeout=min(left_s, QUIET_S) if line else left_s)
                ):
                    line = more_of_it
            watching.send_signal(signal.SIGINT)
            try:
                watching.wait(END_MOST_S)
            except subprocess.TimeoutExpired:
                watching.kill()
            errors.seek(0)
            return (json.loads(line)["timeline"] if line else None), errors.read().strip()


def _read(watching: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    assert watching.stdout is not None
    for line in watching.stdout:
        lines.put(line)
    lines.put("")


Budget = Callable[..., AbstractContextManager[Recorded]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(
        "rebalance_explorer",
        "the program's command",
        default=f"{Path(sys.executable).parent}/rebalance-explorer",
    )
    parser.addoption(
        "--rebalance-pages",
        metavar="FOLDER",
        default="rebalance-pages",
        help="where the page of a group that is over its budget is written",
    )


@pytest.fixture(scope="session")
def _rebalance_program(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Program:
    words = str(pytestconfig.getini("rebalance_explorer")).split()
    if shutil.which(words[0]) is None:
        pytest.fail(
            f"{words[0]} is not installed: pip install rebalance-explorer, or set rebalance_explorer."
        )
    data = tmp_path_factory.mktemp("rebalance-explorer")

    return Program(words, {**os.environ, "REBALANCE_VAR": str(data)})


@pytest.fixture
def rebalance_budget(
    _rebalance_program: Program,
    pytestconfig: pytest.Config,
    request: pytest.FixtureRequest,
) -> Budget:
    """``with rebalance_budget("localhost:9092", "orders", max_rebalances=3, max_unassigned="5s"):``.

    Limits are those of ``rebalance-explorer budget``; the group's whole log counts, so give each test a group of its own.
    ``command_config``: a file of client properties. The test fails if a limit is exceeded, or the group has no record.
    """

    @contextlib.contextmanager
    def held(
        bootstrap: str, group: str, *, command_config: str | Path | None = None, **limits: object
    ) -> Iterator[Recorded]:
        recorded = Recorded({})
        yield recorded
        server = ["--bootstrap-server", bootstrap]
        server += ["--command-config", str(command_config)] if command_config else []
        timeline, problem = _rebalance_program.recorded(*server, "--group", group, "--follow")
        if timeline is None:
            pytest.fail(problem or f"The group {group!r} has no record on {bootstrap}.")
        name = re.sub(r"[^\w.-]+", "-", request.node.nodeid, flags=re.ASCII)[-NAME_LENGTH_MOST:]
        page = Path(pytestconfig.getoption("--rebalance-pages"), f"{name}.html")
        page.parent.mkdir(parents=True, exist_ok=True)
        asked = [f"--{limit.replace('_', '-')}={value}" for limit, value in limits.items()]
        done = _rebalance_program.run("budget", timeline, *asked, "--page", str(page))
        if done.returncode not in (0, OVER):
            pytest.fail(done.stderr.strip())
        recorded.figures = json.loads(done.stdout)
        properties = request.node.user_properties
        properties += [(f"rebalance_{figure}", value) for figure, value in recorded.figures.items()]
        if done.returncode == OVER:
            recorded.page = page
            properties.append(("rebalance_page", str(page)))
            pytest.fail(f"{done.stderr.strip()} What happened: {page}")

    return held
