"""Stands in for the Spark job in tests of what is around it: answers in this process.

The master may be a word that makes it fail, break, or wait after the first block.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import orjson

from simulations.sweeps.answering import rows_of
from simulations.sweeps.asked import axes_of


def say(message: dict[str, Any]) -> None:
    sys.stdout.buffer.write(orjson.dumps(message) + b"\n")
    sys.stdout.buffer.flush()


def main() -> None:
    request = orjson.loads(sys.stdin.buffer.readline())
    axes, word = axes_of(request["axes"]), request["master"]
    skip = {(cell, first) for cell, first in request["skip"]}
    say({"type": "stage", "stage": "Starting Spark"})
    if word == "fails":
        say({"type": "error", "message": "Spark needs Java 17 or newer and none was found"})
        return
    say({"type": "began", "master": "local[2]", "cores": 2})
    for block in axes.blocks():
        if (block.cell, block.first) in skip:
            continue
        rows = list(rows_of(axes, block, time.perf_counter))
        say({"type": "answers", "blocks": [{"cell": block.cell, "first": block.first, "rows": rows}]})
        if word == "breaks":
            sys.exit("it broke")
        if word == "waits":
            time.sleep(60)
    say({"type": "done"})


if __name__ == "__main__":
    main()
