"""Worker processes of one import: tasks in, their rows out, from as many as the machine has cores for."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from groups.pipeline.local.worker import END, FAILED, NEXT, ROW
from groups.places import python_path

WORKERS_MOST: Final = 8
"""Each takes half a second of a core to start; more than this many would start for a second of work each."""

ROWS_AHEAD_MOST: Final = 64
"""Rows that wait for the parent: each holds up to half a megabyte of records."""

WORKER: Final = "groups.pipeline.local.worker"


class WorkerFailed(Exception):
    """A worker failed; the message is its traceback."""


class Work(NamedTuple):
    """A task: which kind, its argument, and the blocks that it asks for."""

    kind: str
    argument: object
    blocks: Iterator[object] = iter(())


class Workers:
    """``run`` has the processes do all tasks; ``close`` ends them."""

    def __init__(self, count: int) -> None:
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-P", "-m", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": python_path()},
            )
            for _ in range(count)
        ]

    def __len__(self) -> int:
        return len(self._processes)

    def run(self, works: Sequence[Work]) -> Iterator[tuple[int, Any]]:
        """Each row with the number of its task, as they come. Raises ``WorkerFailed``, after which no worker is left."""
        waiting: queue.SimpleQueue[tuple[int, Work]] = queue.SimpleQueue()
        for numbered in enumerate(works):
            waiting.put(numbered)
        rows: queue.Queue[tuple[int, Any] | BaseException | None] = queue.Queue(ROWS_AHEAD_MOST)
        for process in self._processes:
            threading.Thread(target=_serve, args=(process, waiting, rows), name="worker", daemon=True).start()
        busy = len(self._processes)
        try:
            while busy:
                match rows.get():
                    case None:
                        busy -= 1
                    case BaseException() as error:
                        raise error
                    case row:
                        yield row
        finally:
            if busy:
                self.close()
            while busy:
                busy -= rows.get() is None

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                # What was on its way to a process that is gone.
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


def _serve(
    process: subprocess.Popen[bytes],
    waiting: queue.SimpleQueue[tuple[int, Work]],
    rows: queue.Queue[tuple[int, Any] | BaseException | None],
) -> None:
    """One worker's thread: hands it a task after another, and its rows on."""
    try:
        while True:
            try:
                number, work = waiting.get_nowait()
            except queue.Empty:
                return
            for row in _perform(process, work):
                rows.put((number, row))
    except BaseException as error:
        rows.put(error)
    finally:
        rows.put(None)


def _perform(process: subprocess.Popen[bytes], work: Work) -> Iterator[Any]:
    assert process.stdin is not None
    assert process.stdout is not None

    def send(message: object) -> None:
        assert process.stdin is not None
        pickle.dump(message, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()

    try:
        send((work.kind, work.argument))
        while True:
            # What a worker of this very import has written.
            kind, value = pickle.load(process.stdout)  # noqa: S301
            if kind == ROW:
                yield value
            elif kind == NEXT:
                send(next(work.blocks, None))
            elif kind == FAILED:
                raise WorkerFailed(value)
            elif kind == END:
                return
    except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
        raise WorkerFailed(f"a worker ended with code {process.wait()}") from error
