"""Kafka's own classes at work (``tests/wire/java``): they make the fixtures, and read what is written here.

python -m tests.wire.kafka_program write [FOLDER]     the fixtures anew
python -m tests.wire.kafka_program check [COUNT]      random values of every message, written here, read by Kafka
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.broker import jars
from tests.broker.java import java
from tests.wire import written_here
from tests.wire.kafka_made import FOLDER
from tests.wire.other_releases import OTHER_RELEASES

SOURCES = Path(__file__).parent / "java"
CLASSES = jars.HOME / "wire-classes"


DRAWN_EACH = 60
"""Gives some fourteen thousand values, in half a minute."""

PROGRAM_LIMIT_S = 300
"""Writing all fixtures takes three seconds, reading ten thousand values less; a hanging program is stopped."""


def class_path() -> str:
    """The class path of the released jars and the compiled program; ``jars.BrokerUnavailableError`` without them."""
    return jars.class_path(SOURCES, CLASSES)


def write(folder: Path) -> None:
    """Makes all fixtures anew; the same jars give the same files."""
    write_release(folder)
    for other in OTHER_RELEASES:
        other.fetch()
        # The other's classes stand in front; what prints JSON comes from the release's folder.
        path = ":".join([*map(str, other.paths), class_path()])
        arguments = [str(argument) for message in other.messages for argument in message]
        _java(path, "OtherRelease", str(folder), other.file, *arguments)


def write_release(folder: Path) -> None:
    """Makes the fixtures that need no other jars than the tests with a broker have anyway."""
    _java(class_path(), "KafkaFixtures", "write", str(folder))
    _java(class_path(), "StreamsUserData", str(folder))


def check(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Lets Kafka read lines like those of the fixtures. The answer: those that it reads otherwise, last the counts."""
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    answer = _java(class_path(), "KafkaFixtures", "check", text=text)
    # Not splitlines: strings hold other ends of lines, which JSON leaves as they are.
    return [json.loads(line) for line in answer.split("\n") if line]


def _java(class_path: str, *arguments: str, text: str | None = None) -> str:
    done = subprocess.run(
        [*java(class_path, "-Dfile.encoding=UTF-8"), *arguments],
        input=text,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=PROGRAM_LIMIT_S,
        check=True,
    )
    return done.stdout


def main(command: str, *arguments: str) -> int:
    if command == "write":
        write(Path(*arguments) if arguments else FOLDER)
        return 0
    *wrong, counts = check(written_here.lines(each=int(*arguments) if arguments else DRAWN_EACH))
    for line in [*wrong, counts]:
        sys.stdout.write(json.dumps(line) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
