"""Decoded records: how many a second one core makes of bytes, beside Kafka's own decoders on the same bytes.

Both take turns, a round each, so that a machine that is busy slows both; processor time is counted, not time on the
wall. What is told is the best round, the median round, and the median of the rounds' ratios.
"""

from __future__ import annotations

import base64
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

from groups.pipeline.reading.columns import read_stretches
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record
from tests.benchmarks.figures import Figure
from tests.benchmarks.wire_samples import COLUMN_SAMPLES, SAMPLES, Sample
from tests.broker import jars

SOURCES: Final = Path(__file__).parent / "java"
CLASSES: Final = jars.HOME / "benchmark-classes"

ROUNDS: Final = 5
WARM_S: Final = 0.8
"""Processor time that Java gets for each kind before it is measured: its compilers are done by then."""
JAVA_ROUND_S: Final = 0.2
"""Java counts its processor time in hundredths of a second, so that a round of it decodes everything several times."""

MODES: Final = {
    "pairs": "from key and value",
    "opened": "from key and value, with the members' blobs",
    "batches": "from batches",
    "columns": "by columns, from batches",
}
JAVA_MODES: Final = {"columns": "batches"}
"""Kafka has no columns: they stand beside its reader of batches, which makes an object of each record."""

Decode = Callable[[], int]
Kafka = Callable[[str, int, Path], float]
"""A mode, how often all records of a segment are decoded, and the segment; the seconds of processor time."""


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, kafka() as java:
        for sample in (*SAMPLES, *COLUMN_SAMPLES):
            segment = sample.segment()
            file = Path(folder) / f"{sample.name.replace(' ', '-')}.log"
            file.write_bytes(segment)
            for mode, decode in ways(sample, segment):
                theirs = None if java is None else warm(java, JAVA_MODES.get(mode, mode), file)
                yield measured(sample, mode, decode, theirs)


def ways(sample: Sample, segment: bytes) -> Iterator[tuple[str, Decode]]:
    """Each way in which a sample's records are decoded: a function that decodes all of them once."""

    def decode_columns() -> int:
        return sum(len(stretch.commits) for stretch in read_stretches(segment))

    if sample.has_columns:
        assert decode_columns() == sample.records
        yield "columns", decode_columns
        return
    batches = [batch for batch in read_batches(segment) if isinstance(batch, RecordBatch)]
    pairs = [(record.key, record.value) for batch in batches for record in batch.records]
    assert len(pairs) == sample.records

    def decode_pairs() -> int:
        for key, value in pairs:
            decode_record(key, value)
        return len(pairs)

    def decode_opened() -> int:
        for key, value in pairs:
            for member in decode_record(key, value)["value"]["members"]:
                decode_subscription(base64.b64decode(member["subscription"]))
                decode_assignment(base64.b64decode(member["assignment"]))
        return len(pairs)

    def decode_batches() -> int:
        count = 0
        for batch in read_batches(segment):
            assert isinstance(batch, RecordBatch)
            for record in batch.records:
                decode_record(record.key, record.value)
                count += 1
        return count

    yield "pairs", decode_pairs
    if sample.has_blobs:
        yield "opened", decode_opened
    yield "batches", decode_batches


def warm(java: Kafka, mode: str, file: Path) -> Callable[[], float]:
    """Lets Java compile what it runs; gives a function that says how long it takes for all records once."""
    warmed, passes = 0.0, 1
    while warmed < WARM_S:
        took = java(mode, passes, file)
        warmed += took
        passes = passes if took > JAVA_ROUND_S else passes * 2
    return lambda: java(mode, passes, file) / passes


def measured(sample: Sample, mode: str, decode: Decode, java: Callable[[], float] | None) -> Figure:
    ours, theirs = [], []
    for _ in range(ROUNDS):
        began = time.process_time()
        count = decode()
        ours.append(time.process_time() - began)
        if java is not None:
            theirs.append(java())
    what = f"decoded {MODES[mode]}: {sample.name} (median {count / median(ours):,.0f}"
    if theirs:
        ratio = median(own / other for own, other in zip(ours, theirs, strict=True))
        what += f"; Kafka's own Java {count / min(theirs):,.0f}, {ratio:.1f} times as many"
        if sample.share_of_java is not None:
            what += f", at most {1 / sample.share_of_java:.1f} are allowed"
    return Figure(what=what + ")", value=count / min(ours), unit="records/s", goal=sample.goal, at_least=True)


@contextmanager
def kafka() -> Iterator[Kafka | None]:
    """Kafka's decoders in a warm process: seconds for one round. ``None`` where there is no Java."""
    if jars.missing() is not None:
        yield None
        return
    # One thread collects garbage: it is one core that is measured.
    command = ["java", "-Xms512m", "-Xmx512m", "-XX:+UseSerialGC"]
    command += ["-cp", jars.class_path(SOURCES, CLASSES), "DecodeRecords"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, told = process.stdin, process.stdout
        assert asked is not None
        assert told is not None

        def decode(mode: str, passes: int, file: Path) -> float:
            asked.write(f"{mode} {passes} {file}\n")
            asked.flush()
            nanoseconds, _ = told.readline().split()
            return int(nanoseconds) / 1e9

        yield decode
        asked.close()
