"""Values in words: times, durations, names of numbers, topics with their partitions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from groups.wire.codecs.values import Value
from groups.wire.inspection.nodes import Node

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS: Final = 253_402_300_799_999
"""The end of the year 9999."""

_DRAWN: Final = re.compile(r".+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UUID: Final = re.compile(r"[A-Za-z0-9_-]{22}")

MOST_SHOWN: Final = 12
"""Partitions, topics or members that a sentence names; more are counted."""


def time_in_words(ms: int) -> str:
    """``2026-11-21 01:26:15.134 UTC``."""
    if not 0 <= ms <= _LATEST_MS:
        return "no time" if ms < 0 else "beyond the year 9999"
    moment = _EPOCH + timedelta(milliseconds=ms)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{ms % 1000:03d} UTC"


def duration_in_words(ms: int) -> str:
    """``45 s``, ``5 min``, ``1.5 s``, ``300 ms``."""
    if ms >= 60_000 and ms % 1000 == 0:
        minutes, seconds = divmod(ms // 1000, 60)
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    if ms >= 1000:
        return f"{ms / 1000:g} s"
    return f"{ms} ms"


def member_id_in_words(member_id: str) -> str:
    """Where a member's id comes from, by its form."""
    if _DRAWN.fullmatch(member_id):
        return "drawn by the coordinator: client or instance id, and a UUID"
    if _UUID.fullmatch(member_id):
        return "a UUID, drawn by the client or the coordinator"
    return ""


def counted(count: int, noun: str) -> str:
    """``1 member``, ``2 members``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; beyond ``MOST_SHOWN`` the rest is counted."""
    if len(words) > MOST_SHOWN:
        return f"{', '.join(words[:MOST_SHOWN])} and {len(words) - MOST_SHOWN} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "nothing"


def partitions_in_words(topics: Node | None) -> str:
    """``orders-0, 1, 2 and foo-3`` of a list of topics with partitions; ``nothing`` of an empty one; ``partition 3 of foo-1`` of a name with a number."""
    words = []
    for topic in (topics.fields if topics else None) or ():
        name = next((topic.child(each) for each in _NAMES if topic.child(each)), None)
        partitions = topic.child("partitions")
        if name is None or partitions is None or not isinstance(partitions.value, list):
            continue
        if not partitions.value:
            words.append(f"none of {_topic(name)}")
            continue
        shown = ", ".join(map(str, partitions.value[:MOST_SHOWN]))
        more = len(partitions.value) - MOST_SHOWN
        shown += f" and {more} more" if more > 0 else ""
        named = _topic(name)
        # Behind a name that ends with a digit a number would belong to the name.
        of_numbered = f"{'partition' if len(partitions.value) == 1 else 'partitions'} {shown} of {named}"
        words.append(of_numbered if named[-1:].isdigit() else f"{named}-{shown}")
    return listed(words)


_NAMES: Final = ("topic", "name", "topicName", "topicId")


def tasks_in_words(subtopologies: Node | None) -> str:
    """``0_0, 0_1 and 1_0`` of a list of subtopologies with partitions, which is how Kafka Streams writes tasks."""
    tasks = []
    for each in (subtopologies.fields if subtopologies else None) or ():
        partitions = each.child("partitions")
        if partitions is not None and isinstance(partitions.value, list):
            tasks += [f"{text(each.child('subtopologyId'))}_{partition}" for partition in partitions.value]
    return listed(tasks)


def _topic(name: Node) -> str:
    return name.called or (f"{name.value[:6]}…" if name.name == "topicId" else str(name.value))


def text(node: Node | None, default: str = "") -> str:
    """A string field's value; ``default`` where it is absent or null."""
    return node.value if node is not None and isinstance(node.value, str) else default


def number(node: Node | None) -> int | None:
    return node.value if node is not None and isinstance(node.value, int) else None


def strings(node: Node | None) -> list[str]:
    """The strings of a list of them, however the listing holds it."""
    found: list[Value] = [each.value for each in (node.fields if node else None) or ()]
    flat = [inner for each in found for inner in (each if isinstance(each, list) else [each])]
    return [each for each in flat if isinstance(each, str)]
