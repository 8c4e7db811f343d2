"""The child that records case studies, all of them in one process: ``python -m simulations.jobs.studies``.

It reads one line of JSON from standard input, ``{"names": [...]}``, and writes JSON Lines: ``study`` with a ``name``,
then the lines of ``simulations.jobs.run`` for it, and so on. To start a process takes longer than to run a case study.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence

from groups.child_side import Message, answer_question
from simulations.jobs.run import answer


def answers(question: Mapping[str, Sequence[str]]) -> Iterator[Message]:
    for name in question["names"]:
        yield {"type": "study", "name": name}
        yield from answer({"scenario": name}, time.monotonic)


if __name__ == "__main__":
    sys.exit(answer_question(answers))
