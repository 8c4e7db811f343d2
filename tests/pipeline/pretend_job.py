"""Stands in for the Spark job in tests of what is around it: imports in this process what the first path's name says.

It answers one request after another. Packs are really in the store of the request when a timeline is told; ``waits`` and
``breaks`` do what they say behind that.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from groups.packs.files import open_files
from tests.pipeline.folds import import_without_spark
from tests.pipeline.segments import FOO, Group, Segment, sample_group

ORDERS_A_TERMINAL: Final = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r\u202e"
"""A new title, a cleared screen, red letters, and a line that is written over and backwards."""


def longer() -> Segment:
    """The sample goes on."""
    return sample_group().add(Group().commit(offset=7, with_id=False))


def nameless() -> Segment:
    """A topic whose name nothing tells."""
    return Segment().add(Group("nameless").join("A", {FOO: [0]}, 4711))


def overlapping() -> Segment:
    """Other records at the sample's offsets."""
    return Segment().add(Group().commit(offset=1)).add(Group().commit(offset=2))


def odd() -> Segment:
    """Names that hold U+0000, which PostgreSQL keeps in no text."""
    group = Group("or\0ders", topics={"f\0o": FOO})
    return Segment().add(group.join("A\0", {FOO: [0]})).add(group.commit("f\0o", offset=3))


def escaping() -> Segment:
    """Names that a terminal would obey."""
    group = Group(f"orders{ORDERS_A_TERMINAL}", topics={f"foo{ORDERS_A_TERMINAL}": FOO})
    return Segment().add(group.join(f"A{ORDERS_A_TERMINAL}", {FOO: [0]}))


LOGS: Final[Mapping[str, Callable[[], Segment]]] = {
    "escaping": escaping,
    "longer": longer,
    "nameless": nameless,
    "odd": odd,
    "overlapping": overlapping,
}
"""Any other name is the sample's."""


WRONG: Final = {"notes.txt": "not-a-segment", "metadata": "metadata"}
"""What holds no record of a group, and what it is recognised as."""


def say(message: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
    sys.stdout.buffer.flush()


def progress(stage: str, done: int) -> None:
    stages = [{"name": "Read", "done": done, "of": 1, "unit": "records"}]
    say({"type": "progress", "stage": stage, "stages": stages, "bytes": 900, "remaining_s": None})


def main() -> None:
    # The parent's end of the pipe is closed when it wants no more of this process.
    for line in iter(sys.stdin.buffer.readline, b""):
        answer(orjson.loads(line))


def answer(request: dict[str, Any]) -> None:
    word = Path(request["paths"][0]).name
    progress("Reading", 0)
    if word == "fails":
        log = ["ERROR SparkContext: no Java at s3://key:secret@bucket/java"]
        say({"type": "error", "message": "Spark needs Java 17 or newer and none was found", "log": log})
        return
    if word == "needs-spark" and not (Path(request["store"]) / "spark-is-there").exists():
        say({"type": "spark_missing"})
        say({"type": "error", "message": "This import needs Spark, which is missing: run `make install`"})
        return
    if word in WRONG:
        source = {"file": word, "records": 86 if WRONG[word] == "metadata" else 0, "kind": WRONG[word]}
        say({"type": "sources", "sources": [source]})
        count = source["records"]
        skipped = (
            []
            if count
            else [{"file": word, "offset": None, "reason": "no log segment", "records": 0, "normal": False}]
        )
        say({"type": "done", "records": {"read": count, "decoded": count, "skipped": skipped}})
        return
    # The folder is gone before this process waits to be killed.
    with tempfile.TemporaryDirectory() as folder:
        request["paths"] = [str(LOGS.get(word, sample_group)().write(Path(folder)))]
        messages = list(import_without_spark(request, open_files(request["store"])))
    for message in messages:
        if message["type"] == "done":
            progress("Done", 1)
            if word == "breaks":
                sys.exit("it broke")
            if word == "waits":
                time.sleep(60)
        say(message)


if __name__ == "__main__":
    main()
