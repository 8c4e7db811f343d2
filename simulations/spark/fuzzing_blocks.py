"""The fuzzer's DataFrame steps: ``tasks(spark, blocks)`` → ``answered``. Scenarios are drawn where they are run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from simulations.proof.fuzzing.batches import Answer, answer

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ANSWERED = "took_s double, answer binary"
"""``took_s`` is the worker's time; ``answer`` is JSON."""

Blocks = Sequence[tuple[int, int]]


def tasks(spark: SparkSession, blocks: Blocks) -> DataFrame:
    """A row for each block, in a partition of its own: its place in ``blocks``."""
    return spark.range(0, len(blocks), 1, len(blocks))


def answered(
    tasks: DataFrame,
    blocks: Blocks,
    semantics: Sequence[str],
    presets: Sequence[str],
    groups: Sequence[str],
    covered: bool,
    release: str,
) -> DataFrame:
    """The answers of the blocks."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for place in batch.column(0).to_pylist():
                begun = time.perf_counter()
                first, last = blocks[place]
                found = answer(first, last, semantics, presets, groups, covered=covered, release=release)
                line = orjson.dumps(answer_fields(found))
                took_s = time.perf_counter() - begun
                yield pa.RecordBatch.from_pydict(
                    {"took_s": pa.array([took_s], pa.float64()), "answer": pa.array([line], pa.binary())}
                )

    return tasks.mapInArrow(run, ANSWERED)


def answer_fields(answer: Answer) -> dict[str, Any]:
    """As JSON: ``runs``, ``found``, ``unknown``, ``counts``."""
    return {
        "runs": answer.runs,
        "found": [
            {
                "seed": each.seed,
                "semantics": each.semantics,
                "protocols": each.groups,
                "invariant": each.broken.invariant,
                "says": each.broken.sentence,
                "sequence": each.broken.sequence,
            }
            for each in answer.found
        ],
        "unknown": answer.unknown,
        "counts": answer.counts,
    }
