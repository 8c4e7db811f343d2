"""Whether Redis still has what was queued there.

A Redis that was restarted without its data, or emptied, has forgotten every task that waited, and one that was away has
been given none of those that were stored meanwhile; their rows would wait for ``groups.jobs.leases.QUEUED_S`` before
anybody missed them. A mark in Redis is lost together with the tasks. It is set once the rows are known to wait: two
processes may both queue a task, which harms nothing, since the second delivery finds its row taken.
"""

from __future__ import annotations

from typing import Final

import redis

from explorer.server.redis_client import client

MARK: Final = "rebalance-explorer:queue"


class LostQueue:
    """Checked from time to time by any number of processes."""

    def __init__(self) -> None:
        self._was_away = False

    def is_lost(self, url: str) -> bool:
        """Whether all rows that wait must be queued again: Redis lost them, or was away when this process last
        checked. It stays true until ``mark``. Raises ``redis.RedisError`` while Redis is away."""
        with client(url) as asked:
            try:
                return not asked.exists(MARK) or self._was_away
            except redis.RedisError:
                self._was_away = True
                raise

    def mark(self, url: str) -> None:
        """All rows that wait are queued again. Raises ``redis.RedisError`` while Redis is away."""
        with client(url) as asked:
            asked.set(MARK, "1")
        self._was_away = False
