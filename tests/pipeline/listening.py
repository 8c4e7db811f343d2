"""A process with an open Spark session that tells which ports it and all below it listen at, and waits for its end.

``python -m tests.pipeline.listening [NAME=VALUE…]``: with these settings of Spark in the place of the session's own.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import orjson

from groups.pipeline.spark import session as sessions

LISTENING = "0A"
"""The state of a socket in /proc/net/tcp: include/net/tcp_states.h."""


def main(changed: dict[str, str]) -> None:
    own = sessions.settings

    def settings(*given: Any, **named: Any) -> dict[str, str]:
        return own(*given, **named) | changed

    sessions.settings = settings
    session = sessions.open_session(master="local[2]")
    # Python's workers run, so that whatever they listen at is there, too.
    assert session.range(4).mapInArrow(lambda batches: batches, "id long").count() == 4
    context = session.sparkContext
    jvm = sessions.jvm_of(session)
    assert jvm is not None
    held_blocks = re.search(r":(\d+) ->", context._jsc.sc().getExecutorMemoryStatus().toString())
    assert held_blocks is not None
    sockets = listening()
    told = {
        "ports": {
            "driver": int(context.getConf().get("spark.driver.port")),
            "blocks": int(held_blocks[1]),
            "gateway": context._gateway.gateway_parameters.port,
            "accumulators": context._accumulatorServer.server_address[1],
            "workers": next(port for _, port, program in sockets if "pyspark.daemon" in program),
        },
        "listening": [(address, port) for address, port, _ in sockets],
        "accumulators_token": context._accumulatorServer.auth_token,
        "command": Path(f"/proc/{jvm.pid}/cmdline").read_bytes().decode().split("\0"),
    }
    sys.stdout.write(orjson.dumps(told).decode() + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    sessions.close_session(session)


def listening() -> list[tuple[str, int, str]]:
    """Each TCP socket that this process or one below it listens at: address, as the kernel writes it, port, and program."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[folder] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    ours = {Path("/proc/self").resolve()}
    while more := {
        each for each, parent in parents.items() if Path(f"/proc/{parent}") in ours and each not in ours
    }:
        ours |= more
    held = {}
    for folder in ours:
        for file in (folder / "fd").iterdir():
            try:
                held[file.readlink().name] = (folder / "cmdline").read_bytes().decode().replace("\0", " ")
            except OSError:
                continue
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            columns = line.split()
            program = held.get(f"socket:[{columns[9]}]")
            if columns[3] == LISTENING and program is not None:
                address, _, port = columns[1].partition(":")
                found.append((address, int(port, 16), program))
    return found


if __name__ == "__main__":
    main(dict(argument.split("=", 1) for argument in sys.argv[1:]))
