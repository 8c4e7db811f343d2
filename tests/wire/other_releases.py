"""Releases of Kafka next to the one whose semantics we follow; Maven fetches a few of their jars."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from groups.wire.generated.requests import LATER
from tests.broker import jars


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRelease:
    """A release of whose classes a few are asked: ``(message, lowest version, highest, how many values of each)``."""

    release: str
    jars: tuple[str, ...]
    file: str
    messages: tuple[tuple[str, int, int, int], ...]

    @property
    def paths(self) -> list[Path]:
        return [self._folder / f"{name}-{self.release}.jar" for name in self.jars]

    def fetch(self) -> None:
        for name, path in zip(self.jars, self.paths, strict=True):
            if not path.exists():
                artifact = f"org.apache.kafka:{name}:{self.release}"
                command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}"]
                command.append(f"-DoutputDirectory={self._folder}")
                subprocess.run(command, timeout=jars.MAVEN_LIMIT_S, check=True)

    @property
    def _folder(self) -> Path:
        return jars.HOME.parent / self.release / "jars"


OTHER_RELEASES = (
    # The last before 4.0, which took the oldest versions of requests away (KIP-896).
    OtherRelease(
        release="3.9.1",
        jars=("kafka-clients",),
        file="rpcs-oldest",
        messages=(
            ("RequestHeader", 0, 0, 40),
            ("OffsetCommitRequest", 0, 1, 40),
            ("OffsetCommitResponse", 0, 1, 40),
            ("OffsetFetchRequest", 0, 0, 40),
            ("OffsetFetchResponse", 0, 0, 40),
        ),
    ),
    # The first with two more fields in the tagged section of a version that was there.
    OtherRelease(
        release="4.4.0",
        jars=("kafka-clients", "kafka-group-coordinator"),
        file="records-later",
        messages=(("StreamsGroupMetadataValue", 0, 0, 100),),
    ),
    # The first with newer versions of these, in which fields of older versions have other names.
    OtherRelease(
        release="4.4.0",
        jars=("kafka-clients", "kafka-group-coordinator"),
        file="rpcs-later",
        messages=tuple((name, 0, message.newest, 40) for name, message in LATER.items()),
    ),
)
