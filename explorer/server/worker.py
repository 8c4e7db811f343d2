"""The worker: Celery with a thread a task, in a process of its own (``manage.py worker``) or within a server.

A thread only waits: each task's heavy work goes on in a child process. With one busy Python thread in the
server, a page of 12 queries went from 8 ms to 308 ms; next to a busy process it stays at 8 ms (measured).
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from celery.worker import WorkController, state
from django.conf import settings

from explorer.celery import app
from groups.jobs import children, serving

log = logging.getLogger(__name__)

READY_S: Final = 10.0
"""The worker is ready within a tenth of a second; one that is not after so long will not be."""

STOP_S: Final = 10.0
"""Children are asked, then killed, within a few seconds; tasks end right after them."""

RESTART_PAUSE_S: Final = 5.0
"""Pause before a worker that ended by itself is started again: what ended it may last."""


@app.task(name="explorer.wake")  # type: ignore[untyped-decorator]
def wake() -> None:
    """A task that does nothing."""


def work(queues: Sequence[str], concurrency: int, name: str, ready: Callable[[], None]) -> None:
    """Take tasks from the queues until ``celery.worker.state.should_stop`` is set. ``ready`` is called once it takes them."""
    try:
        WorkController(
            app=app,
            pool="threads",
            concurrency=concurrency,
            queues=list(queues),
            hostname=name,
            # Celery's event loop is made for child processes of its own.
            use_eventloop=False,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            ready_callback=lambda consumer: ready(),
        ).start()
    except Exception:
        log.exception("The worker ended.")


@dataclass(slots=True, kw_only=True)
class Worker:
    """A worker of a process of its own: started again where it ends by itself, until it is asked to end."""

    queues: Sequence[str]
    concurrency: int
    ending: threading.Event = field(default_factory=threading.Event)

    def run(self, ready: Callable[[], None]) -> None:
        """Work until ``ask_to_end`` is called."""
        name = f"worker-{os.getpid()}@{socket.gethostname()}"
        while not self.ending.is_set():
            work(self.queues, self.concurrency, name, ready)
            if not self.ending.is_set():
                log.warning("The worker ended by itself and is started again in %.0f s.", RESTART_PAUSE_S)
                self.ending.wait(RESTART_PAUSE_S)

    def ask_to_end(self) -> None:
        """End the children, and with them their tasks: runs continue in another worker, imports can be started again."""
        self.ending.set()
        children.shutting_down.set()
        state.should_stop = 0


class EmbeddedWorker:
    """A worker in a thread of the server process, for a server that needs no other process."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._work, name="embedded worker", daemon=True)

    def start(self) -> None:
        self.thread.start()
        if not self.ready.wait(READY_S):
            raise RuntimeError(f"The embedded worker was not ready after {READY_S:.0f} s; its log tells why.")

    def stop(self) -> None:
        """End the children, then the worker. Runs that were not done go on at the next start."""
        children.shutting_down.set()
        state.should_stop = 0
        # It waits for tasks for two seconds at a time, looks whether to stop, and waits once more: a task for each.
        wake.delay()
        wake.delay()
        self.thread.join(STOP_S)
        state.should_stop = None
        if not self.thread.is_alive():
            children.shutting_down.clear()

    def _work(self) -> None:
        work(serving.QUEUES, settings.WORKER_THREADS, "embedded@localhost", self.ready.set)
        if not children.shutting_down.is_set():
            serving.note(
                dict.fromkeys(serving.QUEUES, "This server's own worker has ended: restart the server.")
            )
