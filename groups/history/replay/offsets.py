"""Replay of committed offsets: types 0 and 1. The last one of each partition is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.history.replay.fields import Fields, integer, text
from groups.history.state.copying import replace
from groups.history.state.group import Offset, State, with_topic
from groups.history.state.versions import drop, merged, put

Offsets = Mapping[str, Mapping[int, Offset]]

ZERO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""Kafka's base64 form of the id that means none."""


def replay_record(state: State, key: Fields, value: Fields | None) -> State:
    """The state after one commit, or after one was deleted or expired.

    A commit to a group that is absent makes a simple classic group, as in Kafka. A record of version 4 holds the
    topic's name next to its id: in logs of 4.3 the only place that has both.
    """
    topic, partition = str(key["topic"]), integer(key["partition"])
    if value is None:
        return replace(state, offsets=deleted(state.offsets, topic, partition))
    offset = offset_of(value)
    topic_id = offset.topic_id
    if topic_id is not None and state.topic_id(topic) != topic_id:
        state = with_topic(state, topic, topic_id=topic_id)
    offsets = committed(state.offsets, topic, partition, offset)
    return replace(state.with_simple_group(), offsets=offsets)


def offset_of(value: Fields) -> Offset:
    """What is kept of a commit's value."""
    topic_id = text(value.get("topicId"))
    expires_ms = integer(value.get("expireTimestamp", -1))
    return Offset(
        offset=integer(value["offset"]),
        leader_epoch=integer(value.get("leaderEpoch", -1)),
        metadata=text(value.get("metadata")) or "",
        commit_timestamp_ms=integer(value.get("commitTimestamp", -1)),
        topic_id=None if topic_id == ZERO_TOPIC_ID else topic_id,
        expire_timestamp_ms=expires_ms if expires_ms >= 0 else None,
    )


def committed(offsets: Offsets, topic: str, partition: int, offset: Offset) -> Offsets:
    """The offsets with one more, or with another one of a partition."""
    return put(offsets, topic, put(offsets.get(topic, _NONE), partition, offset))


def all_committed(offsets: Offsets, commits: Mapping[str, Mapping[int, Offset]]) -> Offsets:
    """``committed`` for each of ``commits``, by topic and partition."""
    topics = {topic: merged(offsets.get(topic, _NONE), held) for topic, held in commits.items()}
    return merged(offsets, topics)


def deleted(offsets: Offsets, topic: str, partition: int) -> Offsets:
    """The offsets without one. The topic keeps its place: a coordinator's table has it where it first came."""
    held = offsets.get(topic, _NONE)
    if partition not in held:
        return offsets
    left = drop(held, partition)
    return put(offsets, topic, left) if left else drop(offsets, topic)


_NONE: Final[Mapping[int, Offset]] = {}
