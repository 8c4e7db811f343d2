"""Replay of how far records are read: notes of topics that report a rate, and notes of who reads what from here on.

Without a reported rate nothing of it is known, and ``State.consumption`` stays ``None``.
"""

from __future__ import annotations

from collections.abc import Mapping

from groups.history.entries import Entry
from groups.history.replay.fields import Fields, integer, mapping, text
from groups.history.state.consumption import (
    Consumption,
    PartitionConsumption,
    Reader,
    Sums,
    TopicConsumption,
    end_of,
    lag_of,
    sums_of,
)
from groups.history.state.copying import replace
from groups.history.state.group import State
from groups.history.state.versions import drop, edited, put


def noted_topic(state: State, name: str, topic: Fields | None, former_id: str | None, at_ms: int) -> State:
    """A note named the topic (``State.topics`` has it by now): with a ``rate`` its partitions are followed; ``None``: it is gone.

    ``former_id`` is the id that it had before.
    """
    consumption = state.consumption
    known = consumption.topics.get(name) if consumption is not None else None
    if consumption is not None and known is not None and state.topic_id(name) != former_id:
        consumption, known = _without_topic(_counted(consumption, at_ms), name, at_ms), None
    rate = topic.get("rate") if topic is not None else None
    count = state.topics[name].partitions if name in state.topics else None
    if rate is None or count is None:
        return state if consumption is state.consumption else replace(state, consumption=consumption)
    # What was written before anybody first reads a topic is no lag of the group; what comes to a partition that is added is.
    read = None if known is None else 0
    consumption = _counted(consumption or Consumption(), at_ms)
    partitions = known.partitions if known is not None else {}
    new = {
        number: _with_gap(PartitionConsumption(begin_ms=at_ms, at_ms=at_ms, read=read), at_ms)
        for number in range(len(partitions), count)
    }
    grown = TopicConsumption(rate=integer(rate), partitions=edited(partitions, new, ()))
    sums = consumption.sums
    for partition in new.values():
        sums = sums.changed(Sums(), sums_of(partition, grown.rate))
    topics = {**consumption.topics, name: grown}
    return replace(state, consumption=replace(consumption, topics=topics, sums=sums))


def reads(state: State, entry: Entry) -> State:
    """The actor has these partitions at hand from here on, and no others; it ``fetches`` from them, or does not."""
    consumption, member_id = state.consumption, entry.actor
    if consumption is None:
        return state
    consumption = _counted(consumption, entry.at_ms)
    if (former := text(entry.payload.get("former"))) is not None:
        consumption = _renamed(consumption, former, member_id)
    had = consumption.members.get(member_id, {})
    has = {
        str(topic): tuple(sorted(map(integer, numbers)))
        for topic, numbers in mapping(entry.payload.get("partitions")).items()
        if topic in consumption.topics and numbers
    }
    denied = entry.payload.get("denied") or ()
    polls = entry.payload.get("fetches") is not False
    topics = dict(consumption.topics)
    sums, unread_max_ms = consumption.sums, consumption.unread_max_ms
    for name in dict.fromkeys((*had, *has)):
        topic = topics[name]
        committed, fetches = state.offsets.get(name, {}), polls and name not in denied
        fresh: dict[int, PartitionConsumption] = {}
        mine = has.get(name, ())
        for number in sorted({*had.get(name, ()), *mine}):
            old = topic.partitions.get(number)
            if old is None:
                continue
            known = committed.get(number)
            new = (
                _begun(old, topic.rate, entry.at_ms, member_id, fetches, known.offset if known else None)
                if number in mine
                else _left(old, topic.rate, entry.at_ms, member_id)
            )
            fresh[number] = new
            sums = sums.changed(sums_of(old, topic.rate), sums_of(new, topic.rate))
            unread_max_ms = max(unread_max_ms, new.unread_max_ms)
        topics[name] = replace(topic, partitions=edited(topic.partitions, fresh, ()))
    members = put(consumption.members, member_id, has) if has else drop(consumption.members, member_id)
    consumption = replace(consumption, topics=topics, members=members, sums=sums, unread_max_ms=unread_max_ms)
    return replace(state, consumption=consumption)


def _renamed(consumption: Consumption, former: str, member_id: str) -> Consumption:
    """A process has another member id: it goes on where it was."""
    had = consumption.members.get(former)
    if had is None:
        return consumption
    topics = dict(consumption.topics)
    for name, numbers in had.items():
        partitions = topics[name].partitions
        fresh = {
            number: replace(
                partitions[number],
                readers={
                    member_id if who == former else who: reader
                    for who, reader in partitions[number].readers.items()
                },
            )
            for number in numbers
            if number in partitions
        }
        topics[name] = replace(topics[name], partitions=edited(partitions, fresh, ()))
    members = put(drop(consumption.members, former), member_id, had)
    return replace(consumption, topics=topics, members=members)


def _begun(
    partition: PartitionConsumption,
    rate: int,
    at_ms: int,
    member_id: str,
    fetches: bool,
    committed: int | None,
) -> PartitionConsumption:
    """A member has it from here on, or goes on with it.

    It begins at the committed offset, or without one at the end of the log (``auto.offset.reset=latest``).
    """
    partition = _settled(partition, rate, at_ms)
    reader = partition.readers.get(member_id)
    end = end_of(partition, rate, at_ms)
    position = reader.position if reader is not None else end if committed is None else committed
    if position > end:
        # A commit of more than was written here means that the log was longer from the beginning.
        partition = replace(partition, begin_offset=partition.begin_offset + position - end)
    read = partition.read if partition.read is not None else position
    begun = replace(
        partition,
        readers={**partition.readers, member_id: Reader(position, fetches)},
        read=max(read, position),
        skipped=partition.skipped + max(position - read, 0),
    )
    return _settled(_with_gap(begun, at_ms), rate, at_ms)


def _left(partition: PartitionConsumption, rate: int, at_ms: int, member_id: str) -> PartitionConsumption:
    """A member has it no more."""
    partition = _settled(partition, rate, at_ms)
    readers = {who: reader for who, reader in partition.readers.items() if who != member_id}
    return _with_gap(replace(partition, readers=readers), at_ms)


def _with_gap(partition: PartitionConsumption, at_ms: int) -> PartitionConsumption:
    """The time in which nobody fetches it begins or ends, as its readers are by now."""
    since_ms = partition.unread_since_ms
    if since_ms is None:
        waits = partition.read is not None and not partition.is_fetched
        return replace(partition, unread_since_ms=at_ms) if waits else partition
    if not partition.is_fetched:
        return partition
    length_ms = max(at_ms - since_ms, 0)
    return replace(
        partition,
        unread_since_ms=None,
        unread_ms=partition.unread_ms + length_ms,
        unread_max_ms=max(partition.unread_max_ms, length_ms),
    )


def _settled(partition: PartitionConsumption, rate: int, at_ms: int) -> PartitionConsumption:
    """As of ``at_ms``: who fetches has read all that there is by then."""
    lag_max = max(partition.lag_max, lag_of(partition, rate, at_ms))
    if not partition.is_fetched or partition.read is None:
        return replace(partition, at_ms=at_ms, lag_max=lag_max)
    end = max(end_of(partition, rate, at_ms), partition.read)
    advanced = sum(end - reader.position for reader in partition.readers.values() if reader.fetches)
    return replace(
        partition,
        at_ms=at_ms,
        lag_max=lag_max,
        readers={
            who: Reader(end, True) if reader.fetches else reader for who, reader in partition.readers.items()
        },
        read=end,
        # Whatever all of them read together beyond what is new was read before.
        read_twice=partition.read_twice + advanced - (end - partition.read),
    )


def _counted(consumption: Consumption, at_ms: int) -> Consumption:
    """With the lag that there is right before a change: between changes it only grows."""
    lag = consumption.sums.lag(at_ms)
    return (
        replace(consumption, lag_max=lag, lag_max_at_ms=at_ms) if lag > consumption.lag_max else consumption
    )


def _without_topic(consumption: Consumption, name: str, at_ms: int) -> Consumption:
    """What its partitions cost stays counted; their lag is over."""
    topic, sums = consumption.topics[name], consumption.sums
    unread_max_ms = consumption.unread_max_ms
    for partition in topic.partitions.values():
        gone = sums_of(partition, topic.rate)
        # What several read of it since the last note is a cost, too.
        last = _settled(partition, topic.rate, at_ms)
        costs = Sums(unread_ms=gone.unread_until(at_ms), read_twice=last.read_twice, skipped=last.skipped)
        sums = sums.changed(gone, costs)
        if partition.unread_since_ms is not None:
            unread_max_ms = max(unread_max_ms, at_ms - partition.unread_since_ms)
    members: Mapping[str, Mapping[str, tuple[int, ...]]] = {
        who: rest
        for who, has in consumption.members.items()
        if (rest := {other: numbers for other, numbers in has.items() if other != name})
    }
    topics = {other: topic for other, topic in consumption.topics.items() if other != name}
    return replace(consumption, topics=topics, members=members, sums=sums, unread_max_ms=unread_max_ms)
