"""The part of a frame that shows how far records are read; there only where a source reports the rates of topics."""

from __future__ import annotations

from collections.abc import Mapping

from groups.history.frames.shapes import ConsumptionFrame, ConsumptionSummary, PartitionConsumptionFrame
from groups.history.state.consumption import SECOND_MS, Consumption, PartitionConsumption, TopicConsumption
from groups.history.state.identity import changed_keys

Parts = Mapping[str, PartitionConsumptionFrame]


def consumption_part(
    consumption: Consumption, old: Consumption | None, last: ConsumptionFrame | None
) -> ConsumptionFrame:
    """Parts of partitions that are the same objects as in ``old`` are taken over from its frame, ``last``."""
    before, parts = (old.topics, last["partitions"]) if old is not None and last is not None else ({}, {})
    return {
        "rates": {name: topic.rate for name, topic in consumption.topics.items()},
        "partitions": {
            name: _topic_part(topic, before.get(name), parts.get(name))
            for name, topic in consumption.topics.items()
        },
        "lag_max": consumption.lag_max,
        "lag_max_at_ms": consumption.lag_max_at_ms,
        "unread_max_ms": consumption.unread_max_ms,
        "waiting_rate": consumption.sums.waiting_rate,
        "waiting": consumption.sums.waiting,
        "unread_count": consumption.sums.unread_count,
        "unread_since_ms": consumption.sums.unread_since_ms,
        "unread_ms": consumption.sums.unread_ms,
        "read_twice": consumption.sums.read_twice,
        "skipped": consumption.sums.skipped,
    }


def totals(frame: ConsumptionFrame, at_ms: int) -> ConsumptionSummary:
    """The figures of the whole run until ``at_ms``."""
    lag = (frame["waiting"] + frame["waiting_rate"] * at_ms) // SECOND_MS
    grown = lag > frame["lag_max"]
    open_ms = [
        at_ms - since_ms
        for topic in frame["partitions"].values()
        for partition in topic.values()
        if (since_ms := partition["unread_since_ms"]) is not None
    ]
    return {
        "lag": lag,
        "lag_max": lag if grown else frame["lag_max"],
        "lag_max_at_ms": at_ms if grown else frame["lag_max_at_ms"],
        "read_twice": frame["read_twice"] + _read_since(frame, at_ms),
        "skipped": frame["skipped"],
        "unread_ms": frame["unread_ms"] + frame["unread_count"] * at_ms - frame["unread_since_ms"],
        "unread_max_ms": max(frame["unread_max_ms"], *open_ms, 0),
    }


def _read_since(known: ConsumptionFrame, at_ms: int) -> int:
    """Records that were read twice since the last note: where several fetch from a partition, all that they read but what is new."""
    twice = 0
    for name, partitions in known["partitions"].items():
        for partition in partitions.values():
            grown = known["rates"][name] * max(at_ms - partition["begin_ms"], 0) // SECOND_MS
            end, read = partition["begin_offset"] + grown, partition["read"] or 0
            fetching = [each["position"] for each in partition["readers"].values() if each["fetches"]]
            if len(fetching) > 1 and end > read:
                twice += sum(end - position for position in fetching) - (end - read)
    return twice


def _topic_part(topic: TopicConsumption, old: TopicConsumption | None, last: Parts | None) -> Parts:
    if old is None or last is None:
        return {str(number): _partition_part(each) for number, each in topic.partitions.items()}
    changed = changed_keys(old.partitions, topic.partitions)
    if not changed:
        return last
    fresh = {str(number): _partition_part(topic.partitions[number]) for number in changed}
    return {**last, **fresh}


def _partition_part(partition: PartitionConsumption) -> PartitionConsumptionFrame:
    return {
        "begin_ms": partition.begin_ms,
        "begin_offset": partition.begin_offset,
        "read": partition.read,
        "readers": {
            who: {"position": reader.position, "fetches": reader.fetches}
            for who, reader in partition.readers.items()
        },
        "read_twice": partition.read_twice,
        "skipped": partition.skipped,
        "lag_max": partition.lag_max,
        "unread_since_ms": partition.unread_since_ms,
        "unread_ms": partition.unread_ms,
    }
