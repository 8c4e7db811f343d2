"""The fuzzer as a process of its own: one JSON request in, JSON Lines out.

``python -m simulations.fuzzing.job`` reads one line::

    {"first": 0, "last": 99999, "semantics": ["kip", "kafka"], "presets": […], "covered": false, "master": "local[2]"}

and writes, a line each: ``{"type": "stage", "stage"}``, ``{"type": "began", "cores"}``,
``{"type": "answer", "runs", "found", "counts"}`` (``transformations.told``) for each wave of blocks, and last
``{"type": "done"}``, or ``{"type": "error", "message": "one line"}``. It ends when its standard input does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from groups.pipeline.java import NoJava
from groups.pipeline.job import end_with_java, end_with_parent, first_line
from groups.pipeline.session import SessionFailed, close_session, open_session
from simulations.fuzzing import transformations as steps
from simulations.fuzzing.answering import blocks

BLOCKS_A_CORE: Final = 8
"""Blocks of a wave for each core: some twenty seconds, beside which Spark's own work is nothing."""


def main() -> int:
    request = orjson.loads(sys.stdin.buffer.readline())
    threading.Thread(target=end_with_parent, name="parent", daemon=True).start()
    # Java and Python's workers inherit standard output; only this copy of it carries the lines.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def say(message: Mapping[str, Any]) -> None:
        out.write(orjson.dumps(message) + b"\n")
        out.flush()

    try:
        run(request, say)
    except (NoJava, SessionFailed) as error:
        say({"type": "error", "message": str(error)})
    except Exception as error:
        # Spark's own errors are pages of Java; the parent shows one line and logs what went to standard error.
        say({"type": "error", "message": first_line(error, "fuzzing")})
        raise
    return 0


def run(request: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None]) -> None:
    """All the seeds, wave after wave."""
    say({"type": "stage", "stage": "Starting Spark"})
    session = open_session(master=request["master"] or None, work="fuzzing", rooms=("groups", "simulations"))
    # Java was asked to end, too, and clears up behind itself: this process stays until it has.
    signal.signal(signal.SIGTERM, lambda *_: end_with_java(session))
    try:
        cores = session.sparkContext.defaultParallelism
        say({"type": "began", "cores": cores})
        every, size = blocks(request["first"], request["last"]), cores * BLOCKS_A_CORE
        for place in range(0, len(every), size):
            wave = every[place : place + size]
            rows = steps.answered(
                steps.tasks(session, wave), wave, request["semantics"], request["presets"], request["covered"]
            ).collect()
            for row in rows:
                say({"type": "answer", **orjson.loads(bytes(row.answer))})
        say({"type": "done"})
    finally:
        close_session(session)


if __name__ == "__main__":
    sys.exit(main())
