"""``make demo``: a real broker, real consumers, and the app with the cluster open, all on this machine."""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tests.broker import jars
from tests.broker.node import running
from tests.broker.rpc import RpcError
from tests.demo.groups import living
from tests.serving import ROOT

TELL_EVERY_S = 5.0


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Says what is going on, and that it still is: a broker takes from five seconds to a minute to start."""
    begun_s, done = time.monotonic(), threading.Event()

    def keep_telling() -> None:
        while not done.wait(TELL_EVERY_S):
            say(f"  … {what}, for {time.monotonic() - begun_s:.0f} s")

    say(f"{what} …")
    threading.Thread(target=keep_telling, daemon=True).start()
    try:
        yield
    finally:
        done.set()
    say(f"  done in {time.monotonic() - begun_s:.1f} s")


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--pause", type=float, default=8.0, help="seconds between two events of a group")
    options = parser.parse_args()
    try:
        with told("Looking for Kafka's jars (Maven fetches them once, about 54 MB)"):
            jars.class_path()
    except jars.BrokerUnavailableError as problem:
        say(f"No broker can be started here: {problem}.")
        return 2
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rebalance-demo-")))
        try:
            with told(f"Starting a broker of Kafka {jars.RELEASE}"):
                node = stack.enter_context(running(folder / "broker"))
        except RpcError as problem:
            say(f"The broker did not start: {problem}")
            return 1
        with told("Starting consumers: both protocols, static members, an expression"):
            stack.enter_context(living(node, pause_s=options.pause))
        properties = folder / "demo.properties"
        properties.write_text(f"bootstrap.servers={node.bootstrap}\n")
        say(f"The broker is at {node.bootstrap}. Open *Live groups*, then *demo*; Ctrl-C ends all of it.")
        environment = os.environ | {"REBALANCE_CLUSTER_DEMO": str(properties)}
        with contextlib.suppress(KeyboardInterrupt):
            command = [sys.executable, "manage.py", "serve", "--port", str(options.port)]
            return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
