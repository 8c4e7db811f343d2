"""The sweep as a process of its own: one JSON request in, JSON Lines out.

``python -m simulations.sweeps.job`` reads one line::

    {"axes": {…}, "skip": [[cell, first seed], …], "master": null}

and writes, a line each:

* ``{"type": "stage", "stage": "Starting Spark"}``, then ``{"type": "began", "master", "cores"}``;
* ``{"type": "answers", "blocks": [{"cell", "first", "rows": […]}]}`` as they come, see ``answering``;
* last ``{"type": "done"}``, or ``{"type": "error", "message": "one line"}``.

It ends when its standard input does.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import IO, TYPE_CHECKING, Any, Final

import orjson

from groups.pipeline.java import NoJava
from groups.pipeline.job import end_with_java, end_with_parent, first_line
from groups.pipeline.session import SessionFailed, close_session, open_session
from simulations.sweeps import transformations as steps
from simulations.sweeps.asked import AxesError, axes_of
from simulations.sweeps.axes import Axes, Block

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAVE_S: Final = 1.0
"""Answers of so long come together: a page follows, and Spark's own work for a wave stays a small part."""

WAVE_LEAST: Final = 16
WAVE_MOST: Final = 4_096
"""Blocks of a wave."""

GROWS_MOST: Final = 2
"""A wave is at most so much larger than the one before: the blocks behind may be dearer."""

WAVES_AT_ONCE: Final = 2
"""While the last tasks of one wave run, those of the next one begin."""

TASKS_A_CORE: Final = 2
"""Tasks of a wave for each core: they are not of one length."""


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
        run(request, say, out)
    except (NoJava, SessionFailed, AxesError) as error:
        say({"type": "error", "message": str(error)})
    except Exception as error:
        # Spark's own errors are pages of Java; the parent shows one line and logs what went to standard error.
        say({"type": "error", "message": first_line(error, "sweep")})
        raise
    return 0


def run(request: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None], out: IO[bytes]) -> None:
    """The whole sweep."""
    axes = axes_of(request["axes"])
    skip = {(cell, first) for cell, first in request.get("skip") or ()}
    left = [block for block in axes.blocks() if (block.cell, block.first) not in skip]
    if not left:
        say({"type": "done"})
        return
    say({"type": "stage", "stage": "Starting Spark"})
    master = request.get("master") or None
    session = open_session(master=master, work="sweep", rooms=("groups", "simulations"))
    # Java was asked to end, too, and clears up behind itself: this process stays until it has.
    signal.signal(signal.SIGTERM, lambda *_: end_with_java(session))
    try:
        cores = session.sparkContext.defaultParallelism
        say({"type": "began", "master": master or "local[*]", "cores": cores})
        for rows in answers(session, axes, left, cores):
            out.write(answers_line(rows))
            out.flush()
        say({"type": "done"})
    finally:
        close_session(session)


def answers(session: SparkSession, axes: Axes, left: Sequence[Block], cores: int) -> Iterator[list[Any]]:
    """Wave after wave of answered blocks, each about ``WAVE_S`` long. Spark works on two of them at once."""
    size, place = WAVE_LEAST, 0
    running: set[Future[list[Any]]] = set()
    with ThreadPoolExecutor(WAVES_AT_ONCE) as pool:
        while running or place < len(left):
            while place < len(left) and len(running) < WAVES_AT_ONCE:
                deal = steps.dealt(left[place : place + size], cores * TASKS_A_CORE)
                place += size
                running.add(
                    pool.submit(steps.tasks(session, deal).transform(steps.answered, axes, deal).collect)
                )
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for wave in done:
                rows = wave.result()
                size = next_size(len(rows), sum(row.took_s for row in rows), cores)
                yield rows


def next_size(blocks: int, took_s: float, cores: int) -> int:
    """Blocks of a wave that lasts ``WAVE_S``, as far as the last one tells; ``took_s`` is that of all its workers."""
    a_second = blocks * cores / max(took_s, 0.001)
    return int(max(WAVE_LEAST, min(WAVE_MOST, GROWS_MOST * blocks, WAVE_S * a_second)))


def answers_line(rows: Sequence[Any]) -> bytes:
    """The line of a wave; rows are JSON already and are put in as they are."""
    blocks = b",".join(
        b'{"cell":%d,"first":%d,"rows":%b}' % (row.cell, row.first, bytes(row.rows)) for row in rows
    )
    return b'{"type":"answers","blocks":[' + blocks + b"]}\n"


if __name__ == "__main__":
    sys.exit(main())
