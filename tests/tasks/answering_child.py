"""A child that answers what it is told to: ``python -m tests.tasks.answering_child``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from typing import Any

import orjson

from groups.child_side import answer_lines

held: list[bytes] = []


def answered(question: Mapping[str, Any]) -> bytes:
    time.sleep(question.get("sleep_s", 0))
    if question.get("die"):
        sys.exit(3)
    held.append(b"x" * question.get("holds_bytes", 0))
    return orjson.dumps({"pid": os.getpid(), "text": "x" * question.get("letters", 0)})


if __name__ == "__main__":
    answer_lines(answered)
