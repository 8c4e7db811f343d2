"""Stands in for the Spark job in tests of what is around it: folds the segments that it is given in this process.

The first path may be a word that makes it fail, wait, or end early.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import orjson

from tests.pipeline.segments import Group, Segment, sample_group
from tests.pipeline.test_timelines import fold


def say(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    request = orjson.loads(sys.stdin.buffer.readline())
    word = Path(request["paths"][0]).name
    stages = [{"name": "Read", "done": 1, "of": 1, "unit": "records"}]
    say({"type": "sources", "sources": [{"file": word, "kind": "offsets"}]})
    say({"type": "progress", "stage": "Reading", "stages": stages})
    say({"type": "groups", "groups": [{"group": "orders", "protocol": "consumer", "records": 1}]})
    if word == "fails":
        say({"type": "error", "message": "Spark needs Java 17 or newer and none was found"})
        return
    lines = (
        fold(Segment().add(Group(word).join("A", {"cLledStpRu6ixDUvA4jVgA": [0]}, 4711)))
        if word == "nameless"
        else fold(sample_group())
    )
    for line in lines:
        if line["type"] == "folded" and word in ("waits", "breaks"):
            # The timeline is begun and has entries, and is not ended.
            if word == "breaks":
                sys.exit("it broke")
            time.sleep(60)
        say(line)
    say({"type": "done", "records": {"read": 9, "decoded": 9, "skipped": [], "unlisted": 0, "compacted": 0}})


if __name__ == "__main__":
    main()
