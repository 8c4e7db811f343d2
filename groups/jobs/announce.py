"""Tells the open boards that something was stored. The only sender on the channel layer.

A row is stored first and announced afterwards, and the layer may drop messages: whoever misses one learns the
last sequence from the next ``tail`` and fetches what it lacks over HTTP. So an announcement that cannot be sent
is logged and never fails what was stored.
"""

from __future__ import annotations

import logging
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

log = logging.getLogger(__name__)


def timeline_group(timeline_id: str) -> str:
    """The channel layer's group of everyone who watches a timeline."""
    return f"timeline.{timeline_id}"


def import_group(import_id: str) -> str:
    """The channel layer's group of everyone who watches an import."""
    return f"import.{import_id}"


def sweep_group(sweep_id: str) -> str:
    """The channel layer's group of everyone who watches a sweep."""
    return f"sweep.{sweep_id}"


def announce(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    assert layer is not None
    try:
        async_to_sync(layer.group_send)(group, message)
    except Exception as error:  # the layer's own errors are of many kinds, and none may undo a stored row
        log.warning("%s was not told of a %s: %s", group, message.get("type"), error)
