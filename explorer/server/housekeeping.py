"""What a server does next to answering: it finds timelines whose writer is gone, and caches of another fold."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import Final

from channels.db import database_sync_to_async
from django.conf import settings
from kombu.exceptions import OperationalError

from explorer.pages.imports.receiving import forget_cut_short
from explorer.push.hub import hub
from explorer.server import memory, retention
from explorer.server.attendance import unserved
from explorer.server.redis_client import client, errors
from explorer.sharing.links import clear_ended
from groups import reserve, storage
from groups.imports import lifecycle
from groups.imports.tasks import take_up_lost
from groups.jobs import serving
from groups.jobs.leases import LEASE_S
from groups.jobs.patience import is_away
from groups.models import Timeline
from groups.one_line import one_line
from groups.tasks import refold
from simulations.jobs import question_tasks, sweep_runs, sweep_tasks
from simulations.jobs.proof_runs import proofs
from simulations.jobs.remedy_runs import searches
from simulations.jobs.run_tasks import resume

# -- Whether Redis still has what was queued there.
#
# A Redis that was restarted without its data, or emptied, has forgotten every task that waited, and one that was away has
# been given none of those that were stored meanwhile; their rows would wait for ``groups.jobs.leases.QUEUED_S`` before
# anybody missed them. A mark in Redis is lost together with the tasks. It is set once the rows are known to wait: two
# processes may both queue a task, which harms nothing, since the second delivery finds its row taken.

MARK: Final = "rebalance-explorer:queue"


class LostQueue:
    """Checked from time to time by any number of processes."""

    def __init__(self) -> None:
        self._was_away = False

    def is_lost(self, url: str) -> bool:
        """Whether all rows that wait must be queued again: Redis lost them, or was away when this process last
        checked. It stays true until ``mark``. Raises ``errors()`` while Redis is away."""
        with client(url) as asked:
            try:
                return not asked.exists(MARK) or self._was_away
            except errors():
                self._was_away = True
                raise

    def mark(self, url: str) -> None:
        """All rows that wait are queued again. Raises ``errors()`` while Redis is away."""
        with client(url) as asked:
            asked.set(MARK, "1")
        self._was_away = False


log = logging.getLogger(__name__)

SWEEP_EVERY_S = 10.0
"""A third of the lease: the board of a run whose process ended shows that within the lease plus this time."""

FORGET_EVERY_S = 600.0
"""How often this process looks for what is older than it is kept: that is a matter of days."""

REFOLD_AGAIN_S = 60.0
"""When a cache that was asked for is asked for again: a fold that was cut short holds its lease half as long, and
one that goes on, or waits in a long queue, takes no harm from a second task."""

START_A_WORKER = "Start one: `rebalance-explorer worker --queues {queue}`."
REDIS_IS_AWAY = "Redis cannot be reached from this server; work begins once it is back."

_queue = LostQueue()

_lost_from_s = 0.0
"""Before this moment no lease is called expired: while the database was away, nobody could renew one."""

_refolding: dict[str, float] = {}
"""When this process last asked for a timeline's new cache."""


def at_start() -> None:
    """What must be put right when a server process starts, before its first sweep."""
    forget_cut_short()
    if not settings.REDIS_URL:
        forget_queue()


def forget_queue() -> None:
    """Call all lost that waits for a worker, so that it is queued again."""
    storage.forget_queue()
    lifecycle.leases.forget_queue()
    sweep_runs.sweeps.leases.forget_queue()
    searches.leases.forget_queue()
    proofs.leases.forget_queue()


def sweep() -> None:
    """Resume or interrupt each lost timeline, import and sweep over assignors. Any number of processes may do so at once."""
    if settings.REDIS_URL:
        look_after_redis(settings.REDIS_URL)
    if time.monotonic() < _lost_from_s:
        return
    for timeline in storage.lost_timelines():
        if timeline.source == Timeline.Source.SIMULATION:
            resume(timeline)
        else:
            storage.interrupt(timeline.id, "What wrote it was cut short. All that is shown was stored whole.")
    clear_ended()
    take_up_lost()
    sweep_tasks.take_up_lost()
    question_tasks.take_up_lost()
    stale, now = list(storage.stale().values_list("id", flat=True)), time.monotonic()
    for done in _refolding.keys() - set(stale):
        del _refolding[done]
    for timeline_id in stale:
        if now - _refolding.get(timeline_id, -REFOLD_AGAIN_S) >= REFOLD_AGAIN_S:
            _refolding[timeline_id] = now
            refold.delay(timeline_id)


def hold_back() -> None:
    """The database is away: once it is back, everybody has the time of a lease to renew theirs."""
    global _lost_from_s
    _lost_from_s = time.monotonic() + LEASE_S


def look_after_redis(url: str) -> None:
    """Queue again what Redis has lost, and note which queues have no worker. Raises ``errors()`` while Redis is away."""
    try:
        if _queue.is_lost(url):
            forget_queue()
            _queue.mark(url)
        waiting = unserved(serving.QUEUES)
    except errors():
        serving.note(dict.fromkeys(serving.QUEUES, REDIS_IS_AWAY))
        raise
    serving.note({queue: START_A_WORKER.format(queue=queue) for queue in waiting})


async def keep_sweeping() -> None:
    looks = memory.Looks()
    forgot_s = -FORGET_EVERY_S
    while True:
        try:
            await database_sync_to_async(sweep)()
            await database_sync_to_async(reserve.fill)()
            if time.monotonic() - forgot_s >= FORGET_EVERY_S:
                forgot_s = time.monotonic()
                await database_sync_to_async(retention.forget)()
        except (OperationalError, errors()) as error:
            log.error("The task queue cannot be reached: %s. Is Redis running at REDIS_URL?", error)
        except Exception as error:
            if is_away(error):
                hold_back()
                log.warning(
                    "The database is away: %s. It is tried again in %.0f s.",
                    one_line(error),
                    SWEEP_EVERY_S,
                )
            else:
                log.exception("The sweep failed; the next one is in %.0f s.", SWEEP_EVERY_S)
        all_of_it = looks.is_due(hub().ended, time.monotonic(), sys.getallocatedblocks())
        await asyncio.to_thread(memory.give_back, all_of_it=all_of_it)
        if all_of_it:
            looks.looked(sys.getallocatedblocks())
        await asyncio.sleep(SWEEP_EVERY_S)
