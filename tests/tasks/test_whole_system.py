"""The whole of it in processes of its own: a run is posted over HTTP, worked on, and heard over the socket.

The same tests on both columns: one server that needs nothing beside it, and separate web and worker processes on
PostgreSQL and Redis.
"""

from __future__ import annotations

import contextlib
import http.cookiejar
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from websockets.sync.client import connect

from groups.history.frames.changes import apply
from groups.places import ROOT
from tests.services.servers import end, free_port

pytestmark = [pytest.mark.services, pytest.mark.once]

Until = Callable[[Callable[[], object]], None]

START_S = 180.0

TOKEN = "the token of the whole system"


class Browser:
    """Asks one server over HTTP, with its cookie and our pages' token, and opens sockets to it."""

    def __init__(self, port: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str) -> Any:
        with self.opener.open(f"http://{self.address}{path}", timeout=60) as answer:
            return answer.read()

    def get_json(self, path: str) -> Any:
        return orjson.loads(self.get(path))

    def post(self, path: str, body: Any) -> Any:
        self.get("/simulate/")
        token = next(cookie.value for cookie in self.cookies if cookie.name == "csrftoken")
        request = urllib.request.Request(
            f"http://{self.address}{path}",
            data=orjson.dumps(body),
            headers={"Content-Type": "application/json", "X-CSRFToken": token or ""},
        )
        with self.opener.open(request, timeout=60) as answer:
            return orjson.loads(answer.read())

    @contextlib.contextmanager
    def socket(self, path: str) -> Iterator[Iterator[dict[str, Any]]]:
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.cookies)
        with connect(
            f"ws://{self.address}{path}",
            origin=f"http://{self.address}",  # type: ignore[arg-type]
            additional_headers={"Cookie": cookies},
        ) as socket:
            yield (orjson.loads(socket.recv(timeout=60)) for _ in iter(int, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    browser: Browser
    worker: subprocess.Popen[bytes]
    """The process whose children simulate: the server's own in the embedded column."""


@pytest.fixture(scope="module", params=["embedded", "separate"])
def system(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    folder = tmp_path_factory.mktemp(request.param)
    settings = {**os.environ, "REBALANCE_VAR": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "DEBUG": "1"}
    settings["ACCESS_TOKEN"] = TOKEN
    if request.param == "separate":
        given: dict[str, str] = request.getfixturevalue("service_settings")
        # Another of Redis' databases than the other tests have.
        settings |= given | {"REDIS_URL": given["REDIS_URL"].rpartition("/")[0] + "/5"}
    port = free_port()
    browser = Browser(port)
    with contextlib.ExitStack() as stack:

        def start(name: str, *command: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{name}.log").open("wb"))
            process = subprocess.Popen(command, cwd=ROOT, env=settings, stdout=log, stderr=log)
            stack.callback(end, process)
            return process

        server = start("server", sys.executable, "manage.py", "serve", "--port", str(port))
        worker = server
        wait_until_served(browser, server, folder / "server.log")
        if request.param == "separate":
            celery = [sys.executable, "-m", "celery", "-A", "explorer", "worker", "-Q", "runs,imports"]
            worker = start("worker", *celery, "--concurrency", "2")
        yield System(browser=browser, worker=worker)


def wait_until_served(browser: Browser, server: subprocess.Popen[bytes], log: Path) -> None:
    until_s = time.monotonic() + START_S
    while True:
        try:
            browser.get(f"/?token={urllib.parse.quote(TOKEN)}")
            return
        except urllib.error.URLError:
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < until_s, log.read_text()
            time.sleep(0.05)


@pytest.mark.long
def test_a_run_plays_over_the_socket_and_ends_at_the_frame_that_is_fetched_fresh(system: System) -> None:
    browser = system.browser
    started = browser.post("/api/runs", {"scenario": "kip848-six-partitions", "semantics": "kip"})
    path = f"/api/timelines/{started['timeline']}"
    with browser.socket(f"/ws/timelines/{started['timeline']}") as messages:
        hello = next(messages)
        assert hello["type"] == "hello"
        shown = browser.get_json(f"{path}/frame?at={hello['last']}")
        last, ended = hello["last"], hello["status"] == "complete"
        while not ended:
            message = next(messages)
            if message["type"] == "changes" and message["last"] > last:
                assert message["after"] == last
                shown, last = apply(shown, message["changes"]), message["last"]
            ended = message.get("status") == "complete"
    detail = browser.get_json(path)
    assert (detail["status"], detail["last"]) == ("complete", last)
    assert last > 20
    assert shown == browser.get_json(f"{path}/frame")


def test_a_page_of_each_kind_is_served(system: System) -> None:
    for path in ("/", "/t/kip848-basic", "/simulate/", "/import/", "/help/"):
        assert b"Rebalance Explorer" in system.browser.get(path)
    assert len(system.browser.get("/static/vendor/plotly.min.js")) > 1_000_000


def test_a_long_run_plays_while_it_is_simulated_and_ends_when_it_is_cancelled(
    system: System, long_scenario: str, until: Until
) -> None:
    browser = system.browser
    started = browser.post("/api/runs", {"scenario": long_scenario})
    with browser.socket(f"/ws/timelines/{started['timeline']}") as messages:
        while next(messages)["type"] != "changes":
            pass
        children = children_of(system.worker.pid)
        assert len(children) == 1
        browser.post(f"/api/timelines/{started['timeline']}/cancel", {})
        while next(messages).get("status") != "cancelled":
            pass
    until(lambda: children_of(system.worker.pid) == [])
    detail = browser.get_json(f"/api/timelines/{started['timeline']}")
    assert detail["status"] == "cancelled"
    assert detail["last"] > 0


@pytest.mark.long
def test_a_child_dies_with_a_worker_that_is_killed(system: System, long_scenario: str, until: Until) -> None:
    """The last test of its column: it kills the worker."""
    browser = system.browser
    started = browser.post("/api/runs", {"scenario": long_scenario})
    until(lambda: browser.get_json(f"/api/timelines/{started['timeline']}")["last"] > 0)
    children = children_of(system.worker.pid)
    assert len(children) == 1
    for pid in reversed(family_of(system.worker.pid)):
        if pid not in children:
            os.kill(pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{children[0]}/cmdline").exists() or is_zombie(children[0]))


def children_of(pid: int) -> list[int]:
    """The simulating processes below a process: those that were started through ``groups.jobs.children``."""
    return [found for found in family_of(pid) if "groups.jobs.children" in command_of(found)]


def family_of(pid: int) -> list[int]:
    """A process and everything below it, parents first."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    family = [pid]
    for member in family:
        family += [child for child, parent in parents.items() if parent == member and not is_zombie(child)]
    return family


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text()
    return ""


def is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True
