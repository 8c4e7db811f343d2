"""``python -m tests.incidents.lesson_logs``: the recordings that lessons are told of, as the entries that an import makes.

They lie beside the lessons (``simulations/courses/logs``), so that a lesson needs no Spark. A test makes them anew.
"""

from __future__ import annotations

import gzip
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

import orjson

from tests.history.test_fence_loop import looped
from tests.history.test_two_owners import held_twice
from tests.pipeline.folds import fold_paths

from .claims import mine
from .facts import RECORDED, SEGMENTS, read_facts
from .segments import unpacked

LOGS: Final = Path(__file__).resolve().parents[2] / "simulations" / "courses" / "logs"

BUNDLED: Final = {
    "three-workers": "kill-one",
    "twice-there": "crash-loop",
    "away-and-back": "poll-overrun",
    "waiting": "slow-revocation",
    "one-by-one": "rolling-static",
    "no-rest": "flapping-kills",
    "cold": "freeze",
}
"""The name beside the lessons → the recording. Names of its group, topic and clients that give the answer away are replaced."""

BY_HAND: Final = {"fenced-again": lambda: looped(8), "held-twice": held_twice}
"""What no release that runs here does any more, or ever did: logs that are written down entry by entry."""

INSTEAD: Final = ((b".orders", b"orders"), (b"crashy-", b"worker-"), (b"seat-", b"worker-"))


def lines_of(name: str) -> bytes:
    """The entries of a recording's first timeline, a line of JSON each."""
    with tempfile.TemporaryDirectory() as folder:
        folds = fold_paths(str(unpacked((RECORDED / name / SEGMENTS).read_bytes(), Path(folder))))
    timeline = mine(folds, read_facts(name)["group"])[0]
    told = b"".join(
        orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in folds.entries(timeline)
    )
    for before, after in INSTEAD:
        told = told.replace(name.encode() + before if before.startswith(b".") else before, after)
    return told.replace(b'"' + name.encode() + b'"', b'"orders-app"')


def lines_by_hand(name: str) -> bytes:
    """The entries of a log that was written by hand."""
    entries = BY_HAND[name]().entries
    return b"".join(orjson.dumps(entry.to_json(), option=orjson.OPT_APPEND_NEWLINE) for entry in entries)


def main() -> int:
    LOGS.mkdir(exist_ok=True)
    lines = {name: lines_of(recording) for name, recording in BUNDLED.items()}
    for name, told in (lines | {name: lines_by_hand(name) for name in BY_HAND}).items():
        packed = gzip.compress(told, mtime=0)
        (LOGS / f"{name}.jsonl.gz").write_bytes(packed)
        sys.stdout.write(f"{name}: {len(packed):,} bytes\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    sys.exit(main())
