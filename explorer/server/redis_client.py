"""A client of Redis for short questions, and the check before a server or a worker starts."""

from __future__ import annotations

from typing import Final

import redis
from django.conf import settings

from groups.command_line import usage

ANSWER_S: Final = 5.0
"""A Redis that is there answers in milliseconds, from the other side of an ocean in less than one second."""


def client(url: str) -> redis.Redis:
    """A client that raises ``redis.RedisError`` where Redis is away. To be closed."""
    return redis.Redis.from_url(url, socket_connect_timeout=ANSWER_S, socket_timeout=ANSWER_S)


def check_redis() -> None:
    """Raises ``CommandError`` where the queue and the layer could not work: every run would wait for ever."""
    if not settings.REDIS_URL:
        return
    with client(settings.REDIS_URL) as asked:
        try:
            asked.ping()
        except redis.RedisError as error:
            raise usage(f"Redis cannot be reached: {error} Look at REDIS_URL.") from error
