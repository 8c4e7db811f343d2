"""The topic names that a user gave to topic ids, applied to everything that is shown and to nothing stored.

A source without names leaves topics standing under their topic id in Kafka's base64 form: as keys of objects,
in the paths of changes, and within sentences (``A is asked to revoke cLledStpRu6ixDUvA4jVgA-1``). Entries are
shown as they were recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson
from django.db import transaction

from groups.models import TITLE_LENGTH_MOST, Timeline
from groups.storage.errors import BadName, NoSuchTimeline
from groups.storage.logs import log_of

NAMES_MOST = 10_000
"""Names that one timeline may have: a cluster's topics, not a way to fill the disk."""

LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")
"""Kafka's own rule (org.apache.kafka.common.internals.Topic)."""


def set_topic_names(timeline_id: str, given: Mapping[str, str | None]) -> dict[str, str]:
    """Give names to topic ids, or take them back with null. The names that now hold.

    ``BadName`` for an id that the timeline has no nameless topic of, a name that Kafka would refuse, or one that
    another topic has; then nothing is changed.
    """
    with transaction.atomic():
        timeline = Timeline.objects.select_for_update().filter(pk=timeline_id).first()
        if timeline is None:
            raise NoSuchTimeline(timeline_id)
        topics: dict[str, Any] = log_of(timeline).summary().get("topics") or {}
        names = dict(timeline.topic_names)
        for topic_id, name in given.items():
            if topic_id not in topics or topics[topic_id].get("id") != topic_id:
                raise BadName(f"This timeline has no topic whose name is unknown under the id {topic_id!r}.")
            if name is None:
                names.pop(topic_id, None)
                continue
            _check(name)
            names[topic_id] = name
        # A topic without an id is only a name that somebody subscribed to: the one that the id is given.
        taken = [name for name, topic in topics.items() if name not in names and topic.get("id") is not None]
        for name in names.values():
            if name in taken:
                raise BadName(f"Another topic of this timeline is called {name!r} already.")
            taken.append(name)
        if len(names) > NAMES_MOST:
            raise BadName(f"A timeline can have {NAMES_MOST} given names at most.")
        timeline.topic_names = names
        timeline.save(update_fields=["topic_names"])
    return names


def rename(timeline_id: str, title: str) -> str:
    """Give a timeline a name of the user's; the name as it is kept. ``BadName`` for an empty or a long one."""
    # PostgreSQL keeps U+0000 in no text, and the API takes none; a command line cannot hold one.
    wanted = " ".join(title.replace("\0", " ").split())
    if not wanted or len(wanted) > TITLE_LENGTH_MOST:
        raise BadName(f"A name has 1 to {TITLE_LENGTH_MOST} characters; this one has {len(wanted)}.")
    if not Timeline.objects.filter(pk=timeline_id).update(title=wanted):
        raise NoSuchTimeline(timeline_id)
    return wanted


def _check(name: object) -> None:
    if not isinstance(name, str) or not LEGAL_NAME.fullmatch(name) or name in (".", ".."):
        raise BadName(
            f"{name!r} is no topic name: 1 to 249 letters, digits, dots, underscores and hyphens, "
            "as Kafka has it."
        )


def named(value: Any, names: Mapping[str, str]) -> Any:
    """``value`` (frames, changes, moments, findings: anything of JSON) with names in the place of their ids.

    What is under the key ``id``, or in a change whose path ends there, is an id by meaning and stays. A topic
    that had the given name before it was given is one without an id, known by a subscription alone: it is the same
    topic, and gives way to the one with the id, in frames and in changes.
    """
    if not names:
        return value
    pattern = re.compile("|".join(re.escape(topic_id) for topic_id in names))

    def text(string: str) -> str:
        return pattern.sub(lambda found: names[found.group()], string)

    given = frozenset(names.values())

    def gives_way(item: Any) -> bool:
        path = item.get("path") if isinstance(item, dict) else None
        return isinstance(path, list) and path[:1] == ["topics"] and path[1:2] != [] and path[1] in given

    def walk(item: Any) -> Any:
        if isinstance(item, str):
            return text(item)
        if isinstance(item, list):
            return [walk(part) for part in item if not gives_way(part)]
        if isinstance(item, dict):
            path = item.get("path")
            of_an_id = isinstance(path, list) and path[-1:] == ["id"]
            return {text(key): part_of(item, key, of_an_id) for key in item}
        return item

    def part_of(item: dict[str, Any], key: str, of_an_id: bool) -> Any:
        part = item[key]
        if key == "id" or (of_an_id and key in ("old", "new")):
            return part
        if key == "topics" and isinstance(part, dict):
            part = {name: topic for name, topic in part.items() if name not in given}
        return walk(part)

    return walk(value)


def named_json(text: bytes, names: Mapping[str, str]) -> bytes:
    """The same for JSON text, which is left as it is, unparsed, where no names were given (nearly always)."""
    return orjson.dumps(named(orjson.loads(text), names)) if names else text


def named_summary(summary: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    result: dict[str, Any] = named(summary, names)
    return result
