"""``python -m tests.broker start FOLDER`` and ``stop FOLDER``: a node for trying things by hand."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from .jars import BrokerUnavailableError
from .node import STOP_LIMIT_S, Node
from .rpc import RpcError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.broker", description=__doc__)
    parser.add_argument("action", choices=["start", "stop"])
    parser.add_argument("folder", type=Path, help="holds the node's settings, data and log")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a broker setting")
    parser.add_argument("--request-log", action="store_true", help="log every request and answer as JSON")
    options = parser.parse_args()
    folder = options.folder.resolve()
    return start(folder, options.set, options.request_log) if options.action == "start" else stop(folder)


def start(folder: Path, settings: list[str], request_log: bool) -> int:
    node = Node(folder, dict(each.split("=", 1) for each in settings), request_log)
    try:
        node.start(outlive=True)
    except (BrokerUnavailableError, RpcError) as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    (folder / "pid").write_text(str(node.pid))
    sys.stdout.write(f"{node.bootstrap}\n")
    return 0


def stop(folder: Path) -> int:
    try:
        pid = int((folder / "pid").read_text())
    except FileNotFoundError:
        sys.stderr.write(f"{folder / 'pid'}: no such file, so no node of this folder is running\n")
        return 2
    deadline = time.monotonic() + STOP_LIMIT_S
    try:
        os.kill(pid, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.kill(pid, 0)
            time.sleep(0.1)
    except ProcessLookupError:
        (folder / "pid").unlink()
        return 0
    sys.stderr.write(f"process {pid} did not end within {STOP_LIMIT_S} s\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
