"""Runs Kafka's unit tests with the recorder, and keeps what can be played in the fixture."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.broker import jars

HERE: Final = Path(__file__).resolve().parent
FIXTURE: Final = HERE / "recorded.jsonl.gz"
CLASSES: Final = (
    "org.apache.kafka.coordinator.group.GroupMetadataManagerTest",
    "org.apache.kafka.coordinator.group.OffsetMetadataManagerTest",
)
"""Those whose tests ask a coordinator for something. Others test a single class of it, for which there is none here."""

LIMIT_S: Final = 600


def record(into: Path) -> None:
    """A line for each event of each test; ``BrokerUnavailableError`` where the jars cannot be had."""
    released = jars.class_path()
    unit_tests = jars.HOME / "unit-tests"
    if not (unit_tests / f"kafka-group-coordinator-{jars.RELEASE}-test.jar").exists():
        jars.fetch(jars.RELEASE, unit_tests, HERE / "pom.xml")
    classes = jars.HOME / "unit-test-recorder"
    with_tests = f"{unit_tests}/*:{released}"
    jars.compile_sources(HERE, classes, with_tests)
    (agent,) = unit_tests.glob("byte-buddy-agent-*.jar")
    command = [
        "java",
        f"-javaagent:{agent}",
        "-cp",
        f"{classes}:{with_tests}",
        "Recorder",
        str(into),
        *CLASSES,
    ]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT_S)


def keep(lines: Iterable[str]) -> None:
    """Writes the fixture, the same bytes for the same lines."""
    FIXTURE.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


def kept() -> Iterator[str]:
    with gzip.open(FIXTURE, "rt", encoding="utf-8") as lines:
        yield from lines
