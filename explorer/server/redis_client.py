"""A client of Redis for short questions, and the check before a server or a worker starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.conf import settings

from groups.command_line import usage

if TYPE_CHECKING:
    # Imported where it is used: it takes a quarter of the time in which a command starts, and most have no Redis.
    import redis

ANSWER_S: Final = 5.0
"""A Redis that is there answers in milliseconds, from the other side of an ocean in less than one second."""


def client(url: str) -> redis.Redis:
    """A client that raises ``errors()`` where Redis is away. To be closed."""
    import redis

    return redis.Redis.from_url(url, socket_connect_timeout=ANSWER_S, socket_timeout=ANSWER_S)


def errors() -> type[Exception]:
    """What a client raises where Redis is away."""
    import redis

    return redis.RedisError


def check_redis() -> None:
    """Raises ``CommandError`` where the queue and the layer could not work: every run would wait for ever."""
    if not settings.REDIS_URL:
        return
    with client(settings.REDIS_URL) as asked:
        try:
            asked.ping()
        except errors() as error:
            raise usage(f"Redis cannot be reached: {error} Look at REDIS_URL.") from error
