"""Which queues have a worker: each worker marks its queues in Redis, and the marks expire without it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from celery import bootsteps
from django.conf import settings

from explorer.server.redis_client import client, errors

log = logging.getLogger(__name__)

MARK: Final = "rebalance-explorer:served:"

MARK_EVERY_S: Final = 5.0

EXPIRES_S: Final = 20
"""Several marks may be late before a queue counts as unserved; a reader of a page should not wait much longer for that."""


def mark(queues: Sequence[str]) -> None:
    """Mark the queues as served for the next ``EXPIRES_S``."""
    with client(settings.REDIS_URL or "") as asked:
        for queue in queues:
            asked.set(MARK + queue, "1", ex=EXPIRES_S)


def unserved(queues: Sequence[str]) -> list[str]:
    """The queues that no worker serves. Raises ``errors()`` where Redis does not answer."""
    with client(settings.REDIS_URL or "") as asked:
        return [queue for queue in queues if not asked.exists(MARK + queue)]


class Attendance(bootsteps.StartStopStep):  # type: ignore[misc]
    """A part of each Celery worker: marks its queues as long as it is connected to Redis."""

    requires = {"celery.worker.consumer.tasks:Tasks"}  # noqa: RUF012  (Celery's own form)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self.timer: Any = None

    def include_if(self, consumer: Any) -> bool:
        return bool(settings.REDIS_URL)

    def start(self, consumer: Any) -> None:
        queues = list(consumer.app.amqp.queues.consume_from)
        mark(queues)
        self.timer = consumer.timer.call_repeatedly(MARK_EVERY_S, _mark_or_log, (queues,))

    def stop(self, consumer: Any) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


def _mark_or_log(queues: Sequence[str]) -> None:
    try:
        mark(queues)
    except errors() as error:
        log.warning("The queues %s could not be marked as served: %s", ", ".join(queues), error)
