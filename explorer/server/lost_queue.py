"""Whether Redis still has what was queued there.

A Redis that was restarted without its data, or emptied, has forgotten every task that waited, and one that was away has
been given none of those that were stored meanwhile; their rows would wait for ``groups.jobs.leases.QUEUED_S`` before
anybody missed them. A mark in Redis goes with the tasks, so its absence tells. To queue a task a second time harms
nothing: whoever comes second finds its row taken.
"""

from __future__ import annotations

from typing import Final

import redis

from explorer.server.redis_client import client

MARK: Final = "rebalance-explorer:queue"


class LostQueue:
    """Asked from time to time, by any number of processes."""

    def __init__(self) -> None:
        self._was_away = False

    def is_found_lost(self, url: str) -> bool:
        """Whether waiting rows must be queued anew; of several processes the one that sets the mark again is told so,
        and each one that has found Redis away. Raises ``redis.RedisError`` while it is away."""
        with client(url) as asked:
            try:
                is_new = bool(asked.set(MARK, "1", nx=True))
            except redis.RedisError:
                self._was_away = True
                raise
        was_away, self._was_away = self._was_away, False
        return is_new or was_away
