"""Celery's way to Redis, for workers that outlive a Redis that restarts.

A task is acknowledged when it ended, so a worker at work has unacknowledged ones. When its connection is lost, kombu 5.7.0
would give these back to Redis over the very connection that is gone, which ends the worker (``AttributeError:
'NoneType' object has no attribute 'hostname'``), and with it whatever it works on.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis


class QoS(redis.QoS):
    """The unacknowledged messages of a channel."""

    def restore_unacked_once(self, stderr: Any = None) -> None:
        """Give them back to Redis when the worker ends; after a lost connection leave them.

        They are not lost with it: each has a row whose lease expires, and which is then queued again.
        """
        if self.channel.connection.client is None:
            self._on_collect.cancel()
            return
        super().restore_unacked_once(stderr)  # type: ignore[no-untyped-call]


class Channel(redis.Channel):
    QoS = QoS


class Transport(redis.Transport):
    Channel = Channel
