"""The sweep as a process of its own: one JSON request in, JSON Lines out.

``python -m simulations.spark.sweeps`` reads one line::

    {"axes": {…}, "skip": [[cell, first seed], …], "master": null}

and writes, a line each:

* ``{"type": "stage", "stage": "Starting Spark"}``, then ``{"type": "began", "master", "cores"}``;
* ``{"type": "answers", "blocks": [{"cell", "first", "rows": […]}]}`` as they come, see ``answering``;
* last ``{"type": "done"}``, or ``{"type": "error", "message": "one line"}``.

It ends when its standard input does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from groups.child_side import Lines
from groups.pipeline.spark.child import answer_request, spark_session
from simulations.spark import sweep_blocks
from simulations.spark.batches import Pace, waves
from simulations.sweeps.asked import AxesError, axes_of
from simulations.sweeps.axes import Axes, Block

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACE: Final = Pace(wave_s=1.0, least=16, most=4_096)
"""Answers of a second come together: a page follows, and Spark's own work for a wave stays a small part."""

TASKS_A_CORE: Final = 2
"""Tasks of a wave for each core: they are not of one length."""


def main() -> int:
    return answer_request(run, work="sweep", refusals=(AxesError,))


def run(request: Mapping[str, Any], lines: Lines) -> None:
    """The whole sweep."""
    axes = axes_of(request["axes"])
    skip = {(cell, first) for cell, first in request.get("skip") or ()}
    left = [block for block in axes.blocks() if (block.cell, block.first) not in skip]
    if not left:
        lines.say({"type": "done"})
        return
    lines.say({"type": "stage", "stage": "Starting Spark"})
    master = request.get("master") or None
    with spark_session(master=master, work="sweep", rooms=("groups", "simulations")) as session:
        cores = session.sparkContext.defaultParallelism
        lines.say({"type": "began", "master": master or "local[*]", "cores": cores})
        for rows in answers(session, axes, left, cores):
            lines.write(answers_line(rows))
        lines.say({"type": "done"})


def answers(session: SparkSession, axes: Axes, left: Sequence[Block], cores: int) -> Iterator[list[Any]]:
    """Wave after wave of answered blocks."""

    def collect(wave: Sequence[Block]) -> list[Any]:
        deal = sweep_blocks.dealt(wave, cores * TASKS_A_CORE)
        rows: list[Any] = (
            sweep_blocks.tasks(session, deal).transform(sweep_blocks.answered, axes, deal).collect()
        )
        return rows

    return waves(left, collect, pace=PACE, cores=cores)


def answers_line(rows: Sequence[Any]) -> bytes:
    """The line of a wave; rows are JSON already and are put in as they are."""
    blocks = b",".join(
        b'{"cell":%d,"first":%d,"rows":%b}' % (row.cell, row.first, bytes(row.rows)) for row in rows
    )
    return b'{"type":"answers","blocks":[' + blocks + b"]}\n"


if __name__ == "__main__":
    sys.exit(main())
