"""One sentence or two on top of a listing: what the bytes say, each clause with the field that it is on.

``sentence_of(inspection)`` gives parts, ``{"text": "generation 7", "path": "generation"}``; a part without a path is glue.
A new kind may add a function to ``value_sentences.VALUE_PARTS``; the others get title, version and length.
"""

from __future__ import annotations

from typing import Final

from groups.wire.inspection.inspecting import Inspection
from groups.wire.inspection.nodes import Node, find
from groups.wire.inspection.value_sentences import VALUE_PARTS, Parts, PartsOf, key_parts, shown
from groups.wire.inspection.words import counted, number, text

Part = dict[str, str]


def sentence_of(inspection: Inspection, *, perhaps: bool = False) -> list[Part]:
    """The sentence's parts in their order; joined they read as text.

    ``perhaps``: the kind was guessed, and nothing speaks for it.
    """
    parts_of = PARTS.get(inspection.kind, _plainly)
    if inspection.kind.endswith(("-request", "-response")):
        parts_of = _api(_titled(inspection))
    if inspection.stopped:
        # What could be read is half of a story; the fields have it.
        parts_of = _plainly
    parts: list[Part] = []
    for part in parts_of(inspection.fields) if inspection.fields else _plainly(inspection.fields):
        words, path = part if isinstance(part, tuple) else (part, "")
        if path and find(inspection.fields, path) is not None:
            parts.append({"text": words, "path": path})
        elif parts and "path" not in parts[-1]:
            parts[-1]["text"] += words
        else:
            parts.append({"text": words})
    if not parts:
        parts.append({"text": f"{_titled(inspection)}, {counted(inspection.length, 'byte')}."})
    if perhaps and not inspection.stopped:
        parts.insert(0, {"text": f"{inspection.title}, perhaps: "})
    if inspection.problem is not None:
        where = {"path": inspection.problem.path} if inspection.problem.path else {}
        parts += [
            {"text": " Reading stops: " if inspection.stopped else " Something is wrong: "},
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


def _plainly(_: list[Node]) -> Parts:
    return iter(())


def _record(fields: list[Node]) -> Parts:
    key = find(fields, "key")
    # What could not be read to its end gets no sentence: half of it could mean the opposite of the whole.
    if key is not None and key.kind == "key" and key.problem is None:
        yield from _within("key", key_parts(key.fields or []))
    else:
        yield "A record"
        yield "" if key is None or key.value is not None else " without a key"
        yield "."
    value = find(fields, "value")
    if value is not None and value.is_null:
        yield " It is a "
        yield "tombstone", "value"
        yield "."
    elif value is not None and value.kind in PARTS and value.problem is None:
        yield " "
        yield from _within("value", PARTS[value.kind](value.fields or []))


def _within(path: str, parts: Parts) -> Parts:
    """The parts of a blob, with the paths of what is around it."""
    for each in parts:
        yield (each[0], f"{path}.{each[1]}") if isinstance(each, tuple) else each


def _batch(fields: list[Node]) -> Parts:
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


def _segment(fields: list[Node]) -> Parts:
    batches = [node for node in fields if node.kind == "batch"]
    yield f"A segment of {counted(len(batches), 'batch') if len(batches) == 1 else f'{len(batches)} batches'}"
    if batches:
        first, last = batches[0], batches[-1]
        yield ", from "
        yield f"offset {shown(first.fields or [], 'baseOffset')}", f"{first.name}.baseOffset"
        yield " on; the last begins at "
        yield f"{shown(last.fields or [], 'baseOffset')}", f"{last.name}.baseOffset"
    yield "."


def _request(fields: list[Node]) -> Parts:
    key = find(fields, "header.requestApiKey")
    if key is None:
        return
    yield "A request of "
    yield key.meaning, "header.requestApiKey"
    yield ", "
    yield f"version {shown(fields, 'header.requestApiVersion')}", "header.requestApiVersion"
    if client := text(find(fields, "header.clientId")):
        yield ", of "
        yield client, "header.clientId"
    yield from _about(fields, "body.")
    yield "."


def _about(fields: list[Node], path: str = "") -> Parts:
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


def _api(title: str) -> PartsOf:
    def parts(fields: list[Node]) -> Parts:
        yield title
        yield from _about(fields, "body." if find(fields, "body") is not None else "")
        yield "."

    return parts


PARTS: Final[dict[str, PartsOf]] = {
    **VALUE_PARTS,
    "record": _record,
    "batch": _batch,
    "segment": _segment,
    "request": _request,
}
