"""``python -m tests.services CMD…``: run a command with PostgreSQL and Redis beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.reaper import reap_after
from tests.services.servers import Absent, services


def main(command: list[str]) -> int:
    if not command:
        sys.stderr.write("usage: tests/services/run.sh COMMAND [ARGUMENT…]\n")
        return 2
    # An end from outside must end the servers, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        with services() as settings:
            return subprocess.run(command, env={**os.environ, **settings}, check=False).returncode
    except Absent as absent:
        if os.environ.get("REQUIRE_ALL"):
            sys.stderr.write(f"{absent}, and REQUIRE_ALL is set.\n")
            return 1
        sys.stdout.write(f"SKIPPED on PostgreSQL + Redis: {absent}\n")
        return 0


if __name__ == "__main__":
    reap_after()
    sys.exit(main(sys.argv[1:]))
