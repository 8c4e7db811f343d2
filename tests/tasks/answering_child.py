"""A child that answers what it is told to: ``python -m tests.tasks.answering_child``."""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    for line in sys.stdin:
        question = json.loads(line)
        time.sleep(question.get("sleep_s", 0))
        if question.get("die"):
            sys.exit(3)
        sys.stdout.write(json.dumps({"pid": os.getpid(), "text": "x" * question.get("letters", 0)}) + "\n")
        sys.stdout.flush()
        if question.get("last"):
            return


if __name__ == "__main__":
    main()
