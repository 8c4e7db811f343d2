"""The child that searches for remedies: ``python -m simulations.jobs.remedy_child``, without Django.

It reads one line of JSON from standard input (``incident`` as ``incidents.in_plain`` writes it, and ``seeds``) and writes JSON Lines:
``progress`` with ``done``, ``runs``, ``stage`` and ``answer``, at most four a second, and last ``done`` or ``error``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson

from groups.history.state.group import Semantics
from simulations.jobs.run import end_with_parent
from simulations.remedies.searching import Progress, search
from simulations.remedies.values import Incident, RemediesError

EVERY_S: Final = 0.25
"""A page that shows the progress needs no more."""


def answer(question: dict[str, Any], clock: Callable[[], float]) -> Iterator[bytes]:
    given = question["incident"]
    incident = Incident(
        document=given["document"],
        semantics=Semantics(given["semantics"]),
        seed=given["seed"],
        recorded=given["recorded"],
        assumptions=tuple(given["assumptions"]),
        of_records=given["of_records"],
    )
    sent_s, last = -EVERY_S, None
    try:
        for last in search(incident, question["seeds"]):
            if clock() - sent_s >= EVERY_S:
                sent_s = clock()
                yield _line(last)
    except RemediesError as error:
        yield orjson.dumps({"type": "error", "message": str(error)}) + b"\n"
        return
    if last is not None:
        yield _line(last)
    yield orjson.dumps({"type": "done"}) + b"\n"


def _line(progress: Progress) -> bytes:
    return orjson.dumps({"type": "progress", **progress}) + b"\n"


def main() -> int:
    question = orjson.loads(sys.stdin.buffer.readline())
    end_with_parent()
    for line in answer(question, time.monotonic):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
