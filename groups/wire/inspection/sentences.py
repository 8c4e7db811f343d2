"""One sentence or two on top of a listing: what the bytes say, each clause with the field that it stands on.

``says(inspection)`` gives parts, ``{"text": "generation 7", "path": "generation"}``; a part without a path is glue.
A new kind may add a teller to ``TELLERS``; the others are told by their title, their version and their length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.inspection.inspecting import Inspection
from groups.wire.inspection.nodes import Node, find
from groups.wire.inspection.words import counted, listed, number, partitions_in_words, strings, text

Part = dict[str, str]
Told = Iterator[str | tuple[str, str]]
"""Words, or words with the path of the field that they stand on."""


def says(inspection: Inspection) -> list[Part]:
    """The sentence's parts in their order; joined they read as text."""
    teller = TELLERS.get(inspection.kind, _plainly)
    if inspection.kind.endswith(("-request", "-response")):
        teller = _api(_titled(inspection))
    if inspection.problem is not None and inspection.problem.path != "crc":
        # What could be read is half of a story; the fields have it.
        teller = _plainly
    parts: list[Part] = []
    for told in teller(inspection.fields) if inspection.fields else _plainly(inspection.fields):
        words, path = told if isinstance(told, tuple) else (told, "")
        if path and find(inspection.fields, path) is not None:
            parts.append({"text": words, "path": path})
        elif parts and "path" not in parts[-1]:
            parts[-1]["text"] += words
        else:
            parts.append({"text": words})
    if not parts:
        parts.append({"text": f"{_titled(inspection)}, {counted(inspection.length, 'byte')}."})
    if inspection.problem is not None:
        where = {"path": inspection.problem.path} if inspection.problem.path else {}
        parts += [
            {"text": " Reading stops: "},
            {"text": str(inspection.problem.sentence), **where},
            {"text": "."},
        ]
    return parts


def _titled(inspection: Inspection) -> str:
    return (
        inspection.title
        if inspection.version is None
        else f"{inspection.title}, version {inspection.version}"
    )


def as_text(parts: list[Part]) -> str:
    """One line: in names, too, line breaks and what a terminal would take for commands are escaped."""
    words = "".join(part["text"] for part in parts)
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in words
    )


def _plainly(_: list[Node]) -> Told:
    return iter(())


def _subscription(fields: list[Node]) -> Told:
    yield "A subscription, "
    yield f"version {_shown(fields, 'version')}", "version"
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


def _assignment(fields: list[Node]) -> Told:
    yield "An assignment, "
    yield f"version {_shown(fields, 'version')}", "version"
    yield ", of "
    yield partitions_in_words(find(fields, "assignedPartitions")), "assignedPartitions"
    yield "."


def _sticky(fields: list[Node]) -> Told:
    yield "Sticky was given "
    yield partitions_in_words(find(fields, "previousAssignment")), "previousAssignment"
    if find(fields, "generation") is not None:
        yield " in "
        yield f"generation {_shown(fields, 'generation')}", "generation"
        yield "."
    else:
        yield "; version 0 tells no generation."


def _cooperative_sticky(fields: list[Node]) -> Told:
    generation = number(find(fields, "generation"))
    if generation is None or generation < 0:
        yield "Cooperative-sticky had "
        yield "no assignment yet", "generation"
    else:
        yield "Cooperative-sticky was given its last assignment in "
        yield f"generation {generation}", "generation"
    yield "."


def _key(fields: list[Node]) -> Told:
    known = RECORD_TYPES.get(-1 if (found := number(find(fields, "type"))) is None else found)
    if known is None:
        yield "The key of a record of "
        yield f"type {_shown(fields, 'type')}", "type"
        yield ", which is not known here."
        return
    yield "The key of "
    yield known.name, "type"
    yield ": "
    for index, field in enumerate(field for field in fields if field.name not in ("type", "_rest")):
        yield ", " if index else ""
        yield f"{_spaced(field.name)} {_or_empty(field)}", field.name
    yield "."


def _group_metadata(fields: list[Node]) -> Told:
    members = find(fields, "members")
    count = len(members.fields or ()) if members else 0
    yield "A classic group at "
    yield f"generation {_shown(fields, 'generation')}", "generation"
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
        if given is None:
            continue
        yield " "
        yield text(find(fields, f"members.{index}.clientId"), "The first member"), f"members.{index}"
        if owned is not None:
            yield " came with "
            yield partitions_in_words(owned), f"members.{index}.subscription.ownedPartitions"
            yield " and"
        yield " is given "
        yield partitions_in_words(given), f"members.{index}.assignment.assignedPartitions"
        yield "."
        # One member shows what the rest is like; the fields have them all.
        return


def _offset_commit(fields: list[Node]) -> Told:
    yield "Committed: the next record to read is at "
    yield f"offset {_shown(fields, 'offset')}", "offset"
    committed = find(fields, "commitTimestamp")
    if committed is not None and committed.meaning:
        yield ", since "
        yield committed.meaning, "commitTimestamp"
    yield "."


def _group_epoch(what: str) -> Callable[[list[Node]], Told]:
    def tell(fields: list[Node]) -> Told:
        yield f"{what} is at "
        yield f"group epoch {_shown(fields, 'epoch')}", "epoch"
        yield "."

    return tell


def _target_epoch(what: str) -> Callable[[list[Node]], Told]:
    def tell(fields: list[Node]) -> Told:
        yield f"The target of {what} was computed for "
        yield f"epoch {_shown(fields, 'assignmentEpoch')}", "assignmentEpoch"
        yield "."

    return tell


def _member_metadata(fields: list[Node]) -> Told:
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


def _target_member(path: str) -> Callable[[list[Node]], Told]:
    def tell(fields: list[Node]) -> Told:
        yield "The member should own "
        yield partitions_in_words(find(fields, path)), path
        yield "."

    return tell


def _current(assigned: str, pending: str) -> Callable[[list[Node]], Told]:
    def tell(fields: list[Node]) -> Told:
        yield "The member is at "
        yield f"epoch {_shown(fields, 'memberEpoch')}", "memberEpoch"
        yield " and has "
        yield partitions_in_words(find(fields, assigned)), assigned
        if (node := find(fields, pending)) is not None and node.fields:
            yield "; it still has to give up "
            yield partitions_in_words(node), pending
        yield "."

    return tell


def _record(fields: list[Node]) -> Told:
    key = find(fields, "key")
    if key is not None and key.kind == "key":
        yield from _within("key", _key(key.fields or []))
    else:
        yield "A record"
        yield "" if key is None or key.value is not None else " without a key"
        yield "."
    value = find(fields, "value")
    if value is not None and value.is_null:
        yield " It is a "
        yield "tombstone", "value"
        yield "."
    elif value is not None and value.kind in TELLERS:
        yield " "
        yield from _within("value", TELLERS[value.kind](value.fields or []))


def _within(path: str, told: Told) -> Told:
    """What is told of a blob, with the paths of what is around it."""
    for each in told:
        yield (each[0], f"{path}.{each[1]}") if isinstance(each, tuple) else each


def _batch(fields: list[Node]) -> Told:
    count, base = number(find(fields, "recordsCount")), number(find(fields, "baseOffset"))
    delta = number(find(fields, "lastOffsetDelta"))
    if count is None or base is None or delta is None:
        return
    yield "A batch of "
    yield counted(count, "record"), "recordsCount"
    yield " at " if delta == 0 else " from "
    yield f"offset {base}", "baseOffset"
    if delta:
        yield " to "
        yield str(base + delta), "lastOffsetDelta"
    yield ", written "
    written = find(fields, "maxTimestamp")
    yield written.meaning if written is not None else "", "maxTimestamp"
    attributes = find(fields, "attributes")
    if attributes is not None and attributes.meaning:
        yield "; "
        yield attributes.meaning, "attributes"
    yield "."


def _segment(fields: list[Node]) -> Told:
    batches = [node for node in fields if node.kind == "batch"]
    yield f"A segment of {counted(len(batches), 'batch') if len(batches) == 1 else f'{len(batches)} batches'}"
    if batches:
        first, last = batches[0], batches[-1]
        yield ", from "
        yield f"offset {_shown(first.fields or [], 'baseOffset')}", f"{first.name}.baseOffset"
        yield " on; the last begins at "
        yield f"{_shown(last.fields or [], 'baseOffset')}", f"{last.name}.baseOffset"
    yield "."


def _request(fields: list[Node]) -> Told:
    key = find(fields, "header.requestApiKey")
    if key is None:
        return
    yield "A request of "
    yield key.meaning, "header.requestApiKey"
    yield ", "
    yield f"version {_shown(fields, 'header.requestApiVersion')}", "header.requestApiVersion"
    if client := text(find(fields, "header.clientId")):
        yield ", of "
        yield client, "header.clientId"
    yield from _about(fields, "body.")
    yield "."


def _about(fields: list[Node], path: str = "") -> Told:
    """What most requests and answers have: an error, a group, a member."""
    for name, words in (("groupId", "group"), ("memberId", "member"), ("memberEpoch", "epoch")):
        node = find(fields, f"{path}{name}")
        if node is not None and isinstance(node.value, int | str) and node.value != "":
            yield ", "
            yield f"{words} {node.value}", f"{path}{name}"
    error = find(fields, f"{path}errorCode")
    if error is not None and error.meaning:
        yield ": "
        yield error.meaning, f"{path}errorCode"


def _api(title: str) -> Callable[[list[Node]], Told]:
    def tell(fields: list[Node]) -> Told:
        yield title
        yield from _about(fields, "body." if find(fields, "body") is not None else "")
        yield "."

    return tell


def _regular_expression(fields: list[Node]) -> Told:
    yield "The pattern matches "
    yield listed(strings(find(fields, "topics"))), "topics"
    yield "."


def _shown(fields: list[Node], path: str) -> str:
    node = find(fields, path)
    return "unknown" if node is None or not isinstance(node.value, int | str) else str(node.value)


def _or_empty(node: Node) -> str:
    return str(node.value) if node.value not in (None, "") else "(empty)"


def _spaced(name: str) -> str:
    """``memberId`` as ``member``; the fields of keys are few."""
    return {"groupId": "group", "memberId": "member", "regularExpression": "pattern"}.get(name, name)


TELLERS: Final[dict[str, Callable[[list[Node]], Told]]] = {
    "subscription": _subscription,
    "assignment": _assignment,
    "sticky-user-data": _sticky,
    "cooperative-sticky-user-data": _cooperative_sticky,
    "key": _key,
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
    "consumer-group-target-assignment-member-value": _target_member("topicPartitions"),
    "share-group-target-assignment-member-value": _target_member("topicPartitions"),
    "streams-group-target-assignment-member-value": _target_member("activeTasks"),
    "consumer-group-current-member-assignment-value": _current(
        "assignedPartitions", "partitionsPendingRevocation"
    ),
    "share-group-current-member-assignment-value": _current("assignedPartitions", ""),
    "streams-group-current-member-assignment-value": _current("activeTasks", "activeTasksPendingRevocation"),
    "record": _record,
    "batch": _batch,
    "segment": _segment,
    "request": _request,
    "consumer-group-regular-expression-value": _regular_expression,
}
"""By kind: who tells it."""
