"""The child that searches for remedies: ``python -m simulations.jobs.remedy_child``, without Django.

The runs go to a process for each processor. It reads one line of JSON from standard input (``incident`` as ``incidents.in_plain`` writes it,
and ``seeds``) and writes JSON Lines: ``progress`` with ``done``, ``runs``, ``stage`` and ``answer``, at most four a second, and last ``done`` or ``error``.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, Final

from groups.address_space import processors
from groups.child_side import Message, answer_question
from groups.history.state.group import Semantics
from groups.jobs.children import end_with
from simulations.remedies.searching import Progress, search
from simulations.remedies.values import Incident, RemediesError

EVERY_S: Final = 0.25
"""A page that shows the progress needs no more."""

PROCESSES_MOST: Final = 8
"""Processes of one search: each has some 100 MB, and other searches and pages need processors, too."""


def answer(question: dict[str, Any], clock: Callable[[], float]) -> Iterator[Message]:
    given = question["incident"]
    incident = Incident(
        document=given["document"],
        semantics=Semantics(given["semantics"]),
        seed=given["seed"],
        recorded=given["recorded"],
        assumptions=tuple(given["assumptions"]),
        of_records=given["of_records"],
    )
    count = min(PROCESSES_MOST, processors())
    sent_s, last = -EVERY_S, None
    try:
        # Forked, they have all modules at once; nothing in this process writes from a thread.
        with ProcessPoolExecutor(count, get_context("fork"), end_with, (os.getpid(),)) as pool:
            for last in search(incident, question["seeds"], pool.map):
                if clock() - sent_s >= EVERY_S:
                    sent_s = clock()
                    yield _line(last)
    except RemediesError as error:
        yield {"type": "error", "message": str(error)}
        return
    if last is not None:
        yield _line(last)
    yield {"type": "done"}


def _line(progress: Progress) -> Message:
    return {"type": "progress", **progress}


if __name__ == "__main__":
    sys.exit(answer_question(lambda question: answer(question, time.monotonic)))
