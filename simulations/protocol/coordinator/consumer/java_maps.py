"""The order in which a broker's Java maps hold the partitions of a reconciled member, and with it that of its records.

Each function gets sets of partitions in any order, and returns them in Kafka's: what ``CurrentAssignmentBuilder`` does to
its maps is repeated here with their keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from groups.history.state.epochs import Assignment
from simulations.protocol.assignors.java_orders import HashOrder, int_hash, uuid_hash
from simulations.protocol.messages.groups import Partitions


def in_memory(assignment: Assignment) -> Assignment:
    """An assignment as a broker holds it after replay: each level a new map, filled in the record's order."""
    return {
        topic_id: {p: assignment[topic_id][p] for p in HashOrder.filled(int_hash, assignment[topic_id])}
        for topic_id in _topics(assignment)
    }


def parted(assigned: Assignment, target: Partitions, *parts: Assignment) -> list[Assignment]:
    """The parts of what a member has: each a new map, filled as its partitions are compared with its target."""
    topics = HashOrder.set_copy(uuid_hash, _topics(target))
    for topic_id in _topics(assigned):
        topics.put(topic_id)
    filled: list[dict[str, dict[int, int]]] = [{} for _ in parts]
    for topic_id in topics:
        if (epochs := assigned.get(topic_id)) is None:
            continue
        order = HashOrder.map_copy(int_hash, HashOrder.filled(int_hash, epochs))
        for part, into in zip(parts, filled, strict=True):
            if numbers := part.get(topic_id):
                into[topic_id] = {p: numbers[p] for p in order if p in numbers}
    return [{topic_id: part[topic_id] for topic_id in _topics(part)} for part in filled]


def with_free(assigned: Assignment, target: Partitions, kept: Assignment, free: Assignment) -> Assignment:
    """What a member keeps and gets: ``computeIfAbsent`` for each topic of the free ones, then their partitions put."""
    [kept] = parted(assigned, target, kept)
    topics = HashOrder.filled(uuid_hash, kept)
    partitions = {topic_id: _copied_but(assigned[topic_id], epochs) for topic_id, epochs in kept.items()}
    found = [topic_id for topic_id in HashOrder.filled(uuid_hash, target) if topic_id in free]
    for topic_id in HashOrder.filled(uuid_hash, found):
        topics.compute(topic_id)
        order = partitions.setdefault(topic_id, HashOrder(int_hash))
        wanted = HashOrder.set_copy(int_hash, target[topic_id])
        for partition in HashOrder.filled(int_hash, (p for p in wanted if p in free[topic_id])):
            order.put(partition)
    result = {}
    for topic_id in topics:
        epochs = {**kept.get(topic_id, {}), **free.get(topic_id, {})}
        result[topic_id] = {partition: epochs[partition] for partition in partitions[topic_id]}
    return result


def cut(
    assigned: Assignment, pending: Assignment, dropped: Set[str], *, subscribes_to_nothing: bool
) -> tuple[Assignment, Assignment]:
    """What stays of a member's topics, and what is to be given up with what was before: copies of the maps, changed."""
    assigned, pending = in_memory(assigned), in_memory(pending)
    if subscribes_to_nothing and not pending:
        return {}, assigned
    kept_topics = HashOrder.map_copy(uuid_hash, assigned)
    pending_topics = HashOrder.map_copy(uuid_hash, pending)
    merged = dict(pending)
    for topic_id, epochs in assigned.items():
        if topic_id in dropped:
            kept_topics.remove(topic_id)
            pending_topics.compute(topic_id)
            merged[topic_id] = _united(pending[topic_id], epochs) if topic_id in pending else epochs
    return {t: assigned[t] for t in kept_topics}, {t: merged[t] for t in pending_topics}


def _copied_but(epochs: Mapping[int, int], kept: Mapping[int, int]) -> HashOrder[int]:
    """A copy of a topic's map out of which all but the kept ones are taken: its table stays that of the whole."""
    order = HashOrder.map_copy(int_hash, HashOrder.filled(int_hash, epochs))
    for partition in epochs:
        if partition not in kept:
            order.remove(partition)
    return order


def _united(pending: Mapping[int, int], dropped: Mapping[int, int]) -> Mapping[int, int]:
    order = HashOrder.map_copy(int_hash, pending)
    for partition in dropped:
        order.put(partition)
    epochs = {**pending, **dropped}
    return {partition: epochs[partition] for partition in order}


def _topics(partitions: Mapping[str, object]) -> Iterable[str]:
    return HashOrder.filled(uuid_hash, partitions)
