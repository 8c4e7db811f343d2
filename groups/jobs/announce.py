"""Notifies the open boards that something was stored. The only sender on the channel layer.

A row is stored first and announced afterwards, and the layer may drop messages: a socket that misses one learns the
last sequence from the next ``tail`` and fetches what it lacks over HTTP. So an announcement that cannot be sent
is logged and never fails what was stored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

log = logging.getLogger(__name__)


def timeline_group(timeline_id: str) -> str:
    """The channel layer's group of everyone who watches a timeline."""
    return f"timeline.{timeline_id}"


def together_group(timeline_id: str) -> str:
    """The channel layer's group of everyone who looks at a timeline together."""
    return f"together.{timeline_id}"


def import_group(import_id: str) -> str:
    """The channel layer's group of everyone who watches an import."""
    return f"import.{import_id}"


def sweep_group(sweep_id: str) -> str:
    """The channel layer's group of everyone who watches a sweep."""
    return f"sweep.{sweep_id}"


def cluster_group(cluster_id: str) -> str:
    """The channel layer's group of everyone who watches a cluster."""
    return f"cluster.{cluster_id}"


Passing = Callable[[str, dict[str, Any]], None]

_passing: Passing | None = None


def pass_on(to: Passing) -> None:
    """Have this process's announcements passed on by another one: a child of the server has no channel layer that
    its parent's sockets hear."""
    global _passing
    _passing = to


def announce(group: str, message: dict[str, Any]) -> None:
    if _passing is not None:
        _passing(group, message)
        return
    layer = get_channel_layer()
    assert layer is not None
    try:
        async_to_sync(layer.group_send)(group, message)
    except Exception as error:  # the layer's own errors are of many kinds, and none may undo a stored row
        log.warning("%s was not told of a %s: %s", group, message.get("type"), error)
