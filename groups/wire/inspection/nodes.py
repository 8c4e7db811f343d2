"""What a listing is made of: a node for each field, with its place in the bytes.

The JSON form of a node::

    {"name": "memberId", "type": "string", "offset": 93, "length": 44, "prefix": 2, "value": "c-117-…"}

``length`` is the whole extent, ``prefix`` the bytes of it that are a length, a count, a mark of null, or a tag
(left out where there are none). A leaf and a list of integers have a ``value`` in Kafka's JSON form; a container has
``fields``. Bytes that were opened in place have both, and ``kind`` (with ``guessed`` where nothing around them shows
what they are). ``text`` is there for an integer that a double
cannot hold. Other keys are omitted when empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.wire.codecs.schema import NEVER, UNKNOWN_TAGS
from groups.wire.codecs.values import Fields, Value

TAG_COUNT: Final = "_taggedFields"
"""The name of the node that is the count in front of a struct's tagged fields."""

REST: Final = "_rest"
"""The name of the node for bytes behind the last field that is known."""

UNKNOWN_TAG: Final = "_tag"
"""What the name of a tagged field begins with that the schema does not know; its number follows."""

MOST_EXACT: Final = 2**53
"""Integers up to here are exact in JSON as JavaScript reads it."""


class _NoValue:
    def __repr__(self) -> str:
        return "no value"


NO_VALUE: Final = _NoValue()
"""The ``value`` of a container, and of a field that could not be read."""


@dataclass(slots=True, kw_only=True)
class Problem:
    """What is wrong, at which byte, in which field (``""`` for all of it)."""

    sentence: str
    offset: int | None
    path: str = ""

    def to_json(self) -> Fields:
        return {"sentence": self.sentence, "offset": self.offset, "path": self.path}

    def __str__(self) -> str:
        place = "" if self.offset is None else f"byte {self.offset}"
        prefix = ", ".join(part for part in (self.path, place) if part)
        return f"{prefix}: {self.sentence}" if prefix else self.sentence


@dataclass(slots=True, kw_only=True, eq=False)
class Node:
    """One field of a listing; see the module for its JSON form."""

    name: str
    type: str
    offset: int
    length: int = 0
    prefix: int = 0
    value: Value = NO_VALUE
    fields: list[Node] | None = None
    kind: str | None = None
    since: int = 0
    until: int = NEVER
    tag: int | None = None
    guessed: bool = False
    """Whether ``kind`` is what the bytes look like, where nothing around them shows what they are."""
    space: str | None = None
    """What the offsets of ``fields`` count in, where that is not what the node itself is in."""
    is_message: bool = False
    """Whether ``fields`` are a message of their own, though the node is no blob: the body of a request."""
    meaning: str = ""
    called: str = ""
    """The name of what an id means, where the caller knows it and the bytes do not contain it; and what a record of a batch
    or a batch of a segment is distinguished by."""
    problem: Problem | None = None
    message: str = field(default="", repr=False)
    """The message that declares the field, for looking up what it means."""

    @property
    def end(self) -> int:
        return self.offset + self.length

    @property
    def begins_paths(self) -> bool:
        """Whether what is inside is distinguished by its path from here on."""
        return self.kind is not None or self.is_message

    @property
    def is_null(self) -> bool:
        return self.value is None

    def child(self, name: str) -> Node | None:
        """The field of that name, in a container."""
        return next((node for node in self.fields or () if node.name == name), None)

    def to_json(self) -> Fields:
        out: Fields = {
            "name": self.name,
            "type": self.type,
            "offset": self.offset,
            "length": self.length,
        }
        if self.prefix:
            out["prefix"] = self.prefix
        if self.value is not NO_VALUE:
            out["value"] = self.value
            if isinstance(self.value, int) and abs(self.value) > MOST_EXACT:
                out["text"] = str(self.value)
        if self.kind is not None:
            out["kind"] = self.kind
        if self.guessed:
            out["guessed"] = True
        if self.since:
            out["since"] = self.since
        if self.until != NEVER:
            out["until"] = self.until
        if self.tag is not None:
            out["tag"] = self.tag
        if self.space is not None:
            out["in"] = self.space
        if self.called:
            out["called"] = self.called
        meaning = (self.called if self.fields is None else "") or self.meaning
        if meaning:
            out["meaning"] = meaning
        if self.problem is not None:
            out["problem"] = self.problem.to_json()
        if self.fields is not None:
            out["fields"] = [node.to_json() for node in self.fields]
        return out


def each_node(nodes: list[Node], path: str = "") -> Iterator[tuple[str, Node]]:
    """Every node with its path (``members.0.memberId``), containers before what is in them."""
    for node in nodes:
        here = f"{path}.{node.name}" if path else node.name
        yield here, node
        if node.fields:
            yield from each_node(node.fields, here)


def call_topics(nodes: list[Node], names: Mapping[str, str]) -> None:
    """Adds to each topic id its name in ``names`` (by id)."""
    for _, node in each_node(nodes):
        if node.name == "topicId" and isinstance(node.value, str):
            node.called = names.get(node.value, "")


def find(nodes: list[Node], path: str) -> Node | None:
    """The node at a path; ``None`` if there is none."""
    found: Node | None = None
    level: list[Node] | None = nodes
    for name in path.split("."):
        found = next((node for node in level or () if node.name == name), None)
        if found is None:
            return None
        level = found.fields
    return found


def value_of(node: Node) -> Value:
    """What the codec reads for a field, made of its nodes: bytes in base64 whether they were opened or not."""
    if node.value is not NO_VALUE:
        return node.value
    if node.type.startswith("array"):
        return [value_of(each) for each in node.fields or ()]
    return values_of(node.fields or [])


def values_of(nodes: list[Node]) -> Fields:
    """The fields of a struct as the codec reads them; counts of tagged fields are not fields."""
    out: Fields = {}
    unknown: list[Fields] = []
    for node in nodes:
        if node.name.startswith(UNKNOWN_TAG) and node.tag is not None:
            unknown.append({"tag": node.tag, "data": node.value})
        elif node.name not in (TAG_COUNT, REST):
            out[node.name] = value_of(node)
    if unknown:
        out[UNKNOWN_TAGS] = unknown
    return out
