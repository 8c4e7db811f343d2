"""The embedded worker: Celery in a thread of the server process, for the server that needs nothing beside it.

The thread only waits: each task's heavy work goes on in a child process. With one busy Python thread in the
server, a page of 12 queries went from 8 ms to 308 ms; beside a busy process it stays at 8 ms (measured).
"""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery.worker import WorkController, state
from django.conf import settings

from explorer.celery import QUEUES, app
from groups.jobs import children

log = logging.getLogger(__name__)

READY_S = 10.0
"""The worker is ready within a tenth of a second; one that is not after so long will not be."""

STOP_S = 10.0
"""Children are asked, then killed, within a few seconds; tasks end right after them."""


@app.task(name="explorer.wake")  # type: ignore[untyped-decorator]
def wake() -> None:
    """A task that does nothing."""


class EmbeddedWorker:
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
        try:
            WorkController(
                app=app,
                pool="threads",
                concurrency=settings.WORKER_THREADS,
                queues=list(QUEUES),
                hostname="embedded@localhost",
                without_gossip=True,
                without_mingle=True,
                without_heartbeat=True,
                ready_callback=self._is_ready,
            ).start()
        except Exception:
            log.exception("The embedded worker ended.")

    def _is_ready(self, consumer: Any) -> None:
        self.ready.set()
