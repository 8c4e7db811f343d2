"""A worker of an import without Spark: ``python -m groups.pipeline.local.worker``.

Standard input carries tasks, pickled, one after another: ``("read", (task, wanted))`` or ``("fold", context)``. Standard
output carries what each yields: ``(ROW, …)`` for each row; ``(NEXT, None)`` asks for the next block, which comes on standard
input, ``None`` after the last; then ``(END, None)``, or ``(FAILED, traceback)``. It ends when its standard input does.
"""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, Final

from groups.address_space import bound_memory
from groups.pipeline.folding.tasks import Folded, fold_blocks
from groups.pipeline.local.memory import worker_bytes
from groups.pipeline.reading.group_blocks import GroupBlock
from groups.pipeline.reading.tasks import read_task

READ: Final = "read"
FOLD: Final = "fold"
ROW: Final = "row"
NEXT: Final = "next"
END: Final = "end"
FAILED: Final = "failed"

ENDED: Final = "ended"
"""Kind of the line that counts a folded group."""


class ParentPipe:
    """Pickled messages from and to the parent, which both ends write one at a time."""

    def __init__(self) -> None:
        self.tasks = sys.stdin.buffer
        # Whatever a library prints goes to standard error; only this copy carries messages.
        self.rows = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)

    def receive(self) -> Any:
        # What the parent, a process of the same import, has written.
        return pickle.load(self.tasks)  # noqa: S301

    def send(self, kind: str, value: object = None) -> None:
        pickle.dump((kind, value), self.rows, protocol=pickle.HIGHEST_PROTOCOL)
        self.rows.flush()


def main() -> int:
    bound_memory(worker_bytes())
    pipe = ParentPipe()
    while True:
        try:
            work, argument = pipe.receive()
        except EOFError:
            return 0
        try:
            for row in _rows(work, argument, pipe):
                pipe.send(ROW, row)
        except BrokenPipeError:
            return 1
        except Exception:
            pipe.send(FAILED, traceback.format_exc())
        else:
            pipe.send(END)


def _rows(work: str, argument: Any, pipe: ParentPipe) -> Iterable[object]:
    if work == READ:
        return read_task(*argument)
    return fold_blocks(
        _blocks(pipe), argument, lambda groups: pipe.send(ROW, Folded(ENDED, str(groups).encode()))
    )


def _blocks(pipe: ParentPipe) -> Iterator[GroupBlock]:
    while True:
        pipe.send(NEXT)
        packed = pipe.receive()
        if packed is None:
            return
        yield GroupBlock.unpack(*packed)


if __name__ == "__main__":
    sys.exit(main())
