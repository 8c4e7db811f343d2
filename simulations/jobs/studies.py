"""The child that records case studies, all of them in one process: ``python -m simulations.jobs.studies``.

It reads one line of JSON from standard input, ``{"names": [...]}``, and writes JSON Lines: ``study`` with a ``name``,
then the lines of ``simulations.jobs.run`` for it, and so on. To start a process takes longer than to run a case study.
"""

from __future__ import annotations

import sys
import time

import orjson

from simulations.jobs.run import answer


def main() -> int:
    try:
        names = orjson.loads(sys.stdin.buffer.readline())["names"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        sys.stdout.buffer.write(
            orjson.dumps({"type": "error", "message": f"the question cannot be read: {error}"})
        )
        return 2
    for name in names:
        sys.stdout.buffer.write(
            orjson.dumps({"type": "study", "name": name}, option=orjson.OPT_APPEND_NEWLINE)
        )
        for line in answer({"scenario": name}, time.monotonic):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
