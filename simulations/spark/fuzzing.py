"""The fuzzer as a process of its own: one JSON request in, JSON Lines out.

``python -m simulations.spark.fuzzing`` reads one line::

    {"first": 0, "last": 99999, "semantics": ["kip", "kafka"], "presets": […], "protocols": ["classic"],
     "release": "3.9", "covered": false, "master": "local[2]"}

and writes, a line each: ``{"type": "stage", "stage"}``, ``{"type": "began", "cores"}``,
``{"type": "answer", "runs", "found", "unknown", "counts"}`` (``fuzzing_blocks.answer_fields``) for each block, wave after wave, and last
``{"type": "done"}``, or ``{"type": "error", "message": "one line"}``. It ends when its standard input does.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from groups.child_side import Lines
from groups.pipeline.spark.child import answer_request, spark_session
from simulations.proof.fuzzing.batches import blocks
from simulations.spark import fuzzing_blocks
from simulations.spark.batches import Pace, waves

WAVE_S: Final = 20.0
"""Blocks of so long come together: nobody watches a page, and compared with it Spark's own work is nothing."""

BLOCKS_A_CORE_LEAST: Final = 2
BLOCKS_A_CORE_MOST: Final = 64


def main() -> int:
    return answer_request(run, work="fuzzing")


def run(request: Mapping[str, Any], lines: Lines) -> None:
    """All the seeds, wave after wave."""
    lines.say({"type": "stage", "stage": "Starting Spark"})
    with spark_session(
        master=request["master"] or None, work="fuzzing", rooms=("groups", "simulations")
    ) as session:
        cores = session.sparkContext.defaultParallelism
        lines.say({"type": "began", "cores": cores})

        def collect(wave: Sequence[tuple[int, int]]) -> list[Any]:
            tasks = fuzzing_blocks.tasks(session, wave)
            rows: list[Any] = fuzzing_blocks.answered(
                tasks,
                wave,
                request["semantics"],
                request["presets"],
                request["protocols"],
                request["covered"],
                request["release"],
            ).collect()
            return rows

        pace = Pace(wave_s=WAVE_S, least=cores * BLOCKS_A_CORE_LEAST, most=cores * BLOCKS_A_CORE_MOST)
        for rows in waves(blocks(request["first"], request["last"]), collect, pace=pace, cores=cores):
            for row in rows:
                lines.say({"type": "answer", **orjson.loads(bytes(row.answer))})
        lines.say({"type": "done"})


if __name__ == "__main__":
    sys.exit(main())
