"""The meaning of each blob and each record value, as a sentence in parts: see ``groups.wire.inspection.sentences``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.connect_protocol import CONNECTOR_TASK
from groups.wire.embedded.streams_user_data import previous_tasks, task_text
from groups.wire.inspection.nodes import Node, find, value_of, values_of
from groups.wire.inspection.words import (
    counted,
    listed,
    number,
    partitions_in_words,
    strings,
    tasks_in_words,
    text,
)

Parts = Iterator[str | tuple[str, str]]
"""Words, or words with the path of the field that they stand on."""

PartsOf = Callable[[list[Node]], Parts]


def _subscription(fields: list[Node]) -> Parts:
    yield "A subscription, "
    yield f"version {shown(fields, 'version')}", "version"
    yield ", to "
    yield listed(strings(find(fields, "topics"))), "topics"
    owned = find(fields, "ownedPartitions")
    if owned is not None:
        yield "; it owned "
        yield partitions_in_words(owned), "ownedPartitions"
        generation = number(find(fields, "generationId"))
        if generation is not None and generation >= 0:
            yield " in "
            yield f"generation {generation}", "generationId"
    yield "."


def _assignment(fields: list[Node]) -> Parts:
    yield "An assignment, "
    yield f"version {shown(fields, 'version')}", "version"
    yield ", of "
    yield partitions_in_words(find(fields, "assignedPartitions")), "assignedPartitions"
    yield "."


def _worker_state(fields: list[Node]) -> Parts:
    yield "A Connect worker at "
    yield shown(fields, "url"), "url"
    yield ", that has read its config topic to "
    yield f"offset {shown(fields, 'configOffset')}", "configOffset"
    allocation = find(fields, "allocation")
    if allocation is not None and allocation.fields:
        yield " and runs "
        yield _connectors(find(allocation.fields, "assignment")), "allocation"
    yield "."


def _connect_assignment(fields: list[Node]) -> Parts:
    yield "A Connect worker is given "
    yield _connectors(find(fields, "assignment")), "assignment"
    revoked = find(fields, "revoked")
    if revoked is not None and revoked.fields:
        yield ", stops "
        yield _connectors(revoked), "revoked"
    if delay := number(find(fields, "delay")):
        yield f" and joins again after {delay:,} ms", "delay"
    yield ". The leader is "
    yield shown(fields, "leader") or "(empty)", "leader"
    if number(find(fields, "error")):
        yield ", which could not assign: its config was behind", "error"
    yield "."


def _connectors(node: Node | None) -> str:
    """``orders-sink and its tasks 0 and 1``."""
    listed_tasks = []
    for each in (value_of(node) if node is not None else None) or ():
        numbers = [str(task) for task in sorted(each["tasks"]) if task != CONNECTOR_TASK]
        tasks = f"task{'s' if len(numbers) > 1 else ''} {listed(numbers)}"
        if CONNECTOR_TASK not in each["tasks"]:
            listed_tasks.append(f"{tasks} of {each['connector']}")
        else:
            listed_tasks.append(f"{each['connector']} and its {tasks}" if numbers else each["connector"])
    return "; ".join(listed_tasks) or "nothing"


def _sticky(fields: list[Node]) -> Parts:
    yield "Sticky was given "
    yield partitions_in_words(find(fields, "previousAssignment")), "previousAssignment"
    if find(fields, "generation") is not None:
        yield " in "
        yield f"generation {shown(fields, 'generation')}", "generation"
        yield "."
    else:
        yield "; version 0 tells no generation."


def _cooperative_sticky(fields: list[Node]) -> Parts:
    generation = number(find(fields, "generation"))
    if generation is None or generation == -1:
        yield "Cooperative-sticky had "
        yield "no assignment yet", "generation"
    elif generation < 0:
        yield "Cooperative-sticky tells "
        yield f"generation {generation}", "generation"
        yield ", which no group has: another kind, perhaps"
    else:
        yield "Cooperative-sticky was given its last assignment in "
        yield f"generation {generation}", "generation"
    yield "."


def key_parts(fields: list[Node]) -> Parts:
    known = RECORD_TYPES.get(-1 if (found := number(find(fields, "type"))) is None else found)
    if known is None:
        yield "The key of a record of "
        yield f"type {shown(fields, 'type')}", "type"
        yield ", which is not known here."
        return
    yield "The key of "
    yield known.name, "type"
    yield ": "
    for index, field in enumerate(field for field in fields if field.name not in ("type", "_rest")):
        yield ", " if index else ""
        yield f"{_spaced(field.name)} {_or_empty(field)}", field.name
    yield "."


def _group_metadata(fields: list[Node]) -> Parts:
    members = find(fields, "members")
    count = len(members.fields or ()) if members else 0
    yield "A classic group at "
    yield f"generation {shown(fields, 'generation')}", "generation"
    if not count:
        yield ", with "
        yield "no members", "members"
        yield "."
        return
    yield ", with "
    yield counted(count, "member"), "members"
    if protocol := text(find(fields, "protocol")):
        yield " and "
        yield protocol, "protocol"
    yield "."
    for index in range(count):
        owned = find(fields, f"members.{index}.subscription.ownedPartitions")
        given = find(fields, f"members.{index}.assignment.assignedPartitions")
        if given is None or given.problem is not None:
            continue
        yield " "
        yield text(find(fields, f"members.{index}.clientId"), "The first member"), f"members.{index}"
        if owned is not None and owned.problem is None:
            yield " came with "
            yield partitions_in_words(owned), f"members.{index}.subscription.ownedPartitions"
            yield " and"
        yield " is given "
        yield partitions_in_words(given), f"members.{index}.assignment.assignedPartitions"
        yield "."
        # One member shows what the rest is like; the fields have them all.
        return


def _offset_commit(fields: list[Node]) -> Parts:
    yield "Committed: the next record to read is at "
    yield f"offset {shown(fields, 'offset')}", "offset"
    committed = find(fields, "commitTimestamp")
    if committed is not None and (number(committed) or -1) >= 0:
        yield ", since "
        yield committed.meaning, "commitTimestamp"
    yield "."


def _group_epoch(what: str) -> PartsOf:
    def parts(fields: list[Node]) -> Parts:
        yield f"{what} is at "
        yield f"group epoch {shown(fields, 'epoch')}", "epoch"
        yield "."

    return parts


def _target_epoch(what: str) -> PartsOf:
    def parts(fields: list[Node]) -> Parts:
        yield f"The target of {what} was computed for "
        yield f"epoch {shown(fields, 'assignmentEpoch')}", "assignmentEpoch"
        yield "."

    return parts


def _member_metadata(fields: list[Node]) -> Parts:
    yield "A member of "
    yield f"client {text(find(fields, 'clientId')) or '(no id)'}", "clientId"
    yield " at "
    yield text(find(fields, "clientHost")) or "(no host)", "clientHost"
    topics = find(fields, "subscribedTopicNames")
    if topics is not None:
        yield ", subscribed to "
        yield listed(strings(topics)), "subscribedTopicNames"
        if regex := text(find(fields, "subscribedTopicRegex")):
            yield " and to "
            yield f"the pattern {regex}", "subscribedTopicRegex"
    if find(fields, "classicMemberMetadata.supportedProtocols") is not None:
        yield "; it still speaks the "
        yield "classic protocol", "classicMemberMetadata"
    yield "."


def _target_member(fields: list[Node]) -> Parts:
    yield "The member should own "
    yield partitions_in_words(find(fields, "topicPartitions")), "topicPartitions"
    yield "."


def _current_member(fields: list[Node]) -> Parts:
    yield "The member is at "
    yield f"epoch {shown(fields, 'memberEpoch')}", "memberEpoch"
    yield " and has "
    yield partitions_in_words(find(fields, "assignedPartitions")), "assignedPartitions"
    pending = find(fields, f"partitions{PENDING}")
    if pending is not None and pending.fields:
        yield "; it still has to give up "
        yield partitions_in_words(pending), pending.name
    yield "."


def _target_tasks(fields: list[Node]) -> Parts:
    yield "The member should have "
    yield from _tasks(fields)
    yield "."


def _current_tasks(fields: list[Node]) -> Parts:
    yield "The member is at "
    yield f"epoch {shown(fields, 'memberEpoch')}", "memberEpoch"
    yield " and has "
    yield from _tasks(fields)
    if any(node.fields for node in fields if node.name.endswith(PENDING)):
        yield "; it still has to give up "
        yield from _tasks(fields, PENDING)
    yield "."


PENDING: Final = "PendingRevocation"


def _tasks(fields: list[Node], ending: str = "") -> Parts:
    """What a member of a streams group has: tasks, and copies of others' in two sorts."""
    between = ""
    for name, what in (("activeTasks", "active"), ("standbyTasks", "standby"), ("warmupTasks", "warm-up")):
        node = find(fields, f"{name}{ending}")
        if node is not None and node.fields:
            yield between
            yield f"{what} {tasks_in_words(node)}", f"{name}{ending}"
            between = ", "
    if not between:
        yield "no task"


def _streams_subscription(fields: list[Node]) -> Parts:
    yield "A Kafka Streams instance, "
    yield f"version {shown(fields, 'version')}", "version"
    tasks = previous_tasks(values_of(fields))
    path = "taskOffsetSums" if find(fields, "taskOffsetSums") is not None else "prevTasks"
    yield ", that ran "
    yield listed(tasks.active) if tasks.active else "no task", path
    if tasks.standby:
        yield " and has state of "
        yield listed(tasks.standby), path if path == "taskOffsetSums" else "standbyTasks"
    yield "."


def _streams_assignment(fields: list[Node]) -> Parts:
    info = values_of(fields)
    yield "A Kafka Streams member is given "
    for name, what in (("activeTasks", "active"), ("standbyTasks", "standby")):
        tasks = [task_text(task) for task in info.get(name, ())]
        yield f"{what} tasks {listed(tasks)}" if tasks else f"no {what} task", name
        yield " and " if name == "activeTasks" else "."


def _topology(fields: list[Node]) -> Parts:
    subtopologies = find(fields, "subtopologies")
    yield "The topology at "
    yield f"epoch {shown(fields, 'epoch')}", "epoch"
    yield " has "
    count = len(subtopologies.fields or ()) if subtopologies else 0
    yield f"{count} subtopolog{'y' if count == 1 else 'ies'}", "subtopologies"
    yield "."


def _topics_of(fields: list[Node]) -> Parts:
    """Values that are lists of topics: partition metadata of a group, what share groups keep state of."""
    yield "It tells of "
    lists = [field for field in fields if field.type == "array" and field.fields]
    for index, node in enumerate(lists):
        names = [str(value_of(name)) for each in node.fields or () if (name := each.child("topicName"))]
        yield ", " if index else ""
        yield f"{_phrase(node.name)} {listed(names)}", node.name
    yield "." if lists else "no topics."


def _phrase(name: str) -> str:
    """``initializingTopics`` as ``initializing topics``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _regular_expression(fields: list[Node]) -> Parts:
    yield "The pattern matches "
    yield listed(strings(find(fields, "topics"))), "topics"
    yield "."


def shown(fields: list[Node], path: str) -> str:
    node = find(fields, path)
    return "unknown" if node is None or not isinstance(node.value, int | str) else str(node.value)


def _or_empty(node: Node) -> str:
    return str(node.value) if node.value not in (None, "") else "(empty)"


def _spaced(name: str) -> str:
    """``memberId`` as ``member``; the fields of keys are few."""
    return {"groupId": "group", "memberId": "member", "regularExpression": "pattern"}.get(name, name)


VALUE_PARTS: Final[dict[str, PartsOf]] = {
    "subscription": _subscription,
    "assignment": _assignment,
    "connect-worker-state": _worker_state,
    "connect-assignment": _connect_assignment,
    "sticky-user-data": _sticky,
    "cooperative-sticky-user-data": _cooperative_sticky,
    "key": key_parts,
    "group-metadata-value": _group_metadata,
    "offset-commit-value": _offset_commit,
    "legacy-offset-commit-value": _offset_commit,
    "consumer-group-metadata-value": _group_epoch("The consumer group"),
    "share-group-metadata-value": _group_epoch("The share group"),
    "streams-group-metadata-value": _group_epoch("The streams group"),
    "consumer-group-target-assignment-metadata-value": _target_epoch("the consumer group"),
    "share-group-target-assignment-metadata-value": _target_epoch("the share group"),
    "streams-group-target-assignment-metadata-value": _target_epoch("the streams group"),
    "consumer-group-member-metadata-value": _member_metadata,
    "share-group-member-metadata-value": _member_metadata,
    "streams-group-member-metadata-value": _member_metadata,
    "consumer-group-target-assignment-member-value": _target_member,
    "share-group-target-assignment-member-value": _target_member,
    "streams-group-target-assignment-member-value": _target_tasks,
    "consumer-group-current-member-assignment-value": _current_member,
    "share-group-current-member-assignment-value": _current_member,
    "streams-group-current-member-assignment-value": _current_tasks,
    "streams-subscription-info": _streams_subscription,
    "streams-assignment-info": _streams_assignment,
    "streams-group-topology-value": _topology,
    "consumer-group-partition-metadata-value": _topics_of,
    "share-group-state-partition-metadata-value": _topics_of,
    "consumer-group-regular-expression-value": _regular_expression,
}
"""By kind: which client sends it."""
