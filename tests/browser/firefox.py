"""Debian's Firefox over WebDriver BiDi, which it speaks by itself: no driver, and nothing fetched."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.conftest import missing

START_S = 90.0
"""A first start makes a profile, on a machine that may have much else to do."""

NOWHERE = 9
"""The port to which a proxy is said to listen: whatever is asked of the network fails."""

PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": NOWHERE,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": NOWHERE,
    "network.proxy.allow_hijacking_localhost": True,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "remote.prefs.recommended": True,
}


class Firefox:
    """One page in a Firefox; ``requests`` are the addresses that it asked, ``complaints`` what its console said."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.tell("session.new", capabilities={})
        self.tell("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])
        self.context = self.tell("browsingContext.getTree")["contexts"][0]["context"]

    def tell(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            heard = json.loads(self._socket.recv(timeout=START_S))
            if heard.get("id") == number:
                assert heard["type"] == "success", heard
                return heard["result"]
            self._note(heard)

    def _note(self, heard: Any) -> None:
        if heard.get("method") == "network.beforeRequestSent":
            self.requests.append(heard["params"]["request"]["url"])
        elif heard.get("method") == "log.entryAdded" and heard["params"]["level"] in ("error", "warn"):
            self.complaints.append(str(heard["params"]["text"]))

    def open(self, url: str) -> None:
        self.tell("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression that is JSON."""
        told = self.tell(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self.context},
            awaitPromise=True,
        )
        assert told["type"] == "success", told
        value = told["result"].get("value")
        return None if value is None else json.loads(value)

    def becomes(self, expression: str, within_s: float = 30) -> None:
        until_s = time.monotonic() + within_s
        while not self.evaluate(expression):
            assert time.monotonic() < until_s, f"{expression} is not so; {self.complaints}"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        keyboard = {"type": "key", "id": "keyboard", "actions": actions}
        self.tell("input.performActions", context=self.context, actions=[keyboard])


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    """A Firefox with a profile of its own and no network."""
    path = os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        missing("No Firefox")
    profile = folder / "profile"
    profile.mkdir()
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines))
    log = folder / "firefox.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(path), "--headless", "--remote-debugging-port", "0", "--profile", str(profile)],
            stdout=out,
            stderr=out,
            env={**os.environ, "HOME": str(folder)},
            start_new_session=True,
        )
    try:
        with connect(f"{_address(process, log)}/session", max_size=None, compression=None) as socket:
            yield Firefox(socket)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=START_S)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s and process.poll() is None:
        if found := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.1)
    raise RuntimeError(f"Firefox did not start:\n{log.read_text(errors='replace')[-2000:]}")
