"""A child that is kept for the next question: ``groups.pipeline.spark.warm`` around a session that is none of Spark's.

The question's ``do`` says what it does; each answer tells its process and how many questions it had before.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Mapping
from typing import Any

from groups.child_side import Lines
from groups.pipeline.spark import warm
from groups.pipeline.spark.warm import WarmSession, answer_requests

IDLE_S = 1.0

answered = 0


def run(request: Mapping[str, Any], lines: Lines, session: WarmSession) -> None:
    global answered
    session.session(request.get("master"))
    lines.say({"type": "answer", "pid": os.getpid(), "before": answered})
    answered += 1
    match request.get("do"):
        case "sleep":
            time.sleep(60)
        case "die":
            os._exit(3)
        case "fail":
            raise ValueError("org.apache.spark.SparkException: Job aborted\n\tat java.base")
        case "fill":
            raise OSError(errno.ENOSPC, "No space left on device")
        case "grow":
            warm.MEMORY_BYTES_MOST = 1  # type: ignore[misc]
        case "close":
            session.close()
    lines.say({"type": "done"})


def main() -> int:
    warm.open_session = lambda **_: object()  # type: ignore[assignment]
    warm.close_session = lambda *_: None  # type: ignore[assignment]
    warm.end_with_java = lambda _: os._exit(1)  # type: ignore[assignment]
    return answer_requests(run, work="import", idle_s=IDLE_S)


if __name__ == "__main__":
    sys.exit(main())
