"""Two listings side by side, matched by name: a byte more in one does not make all that follows differ.

Elements of a list are matched by what names them (a member's id, a topic) where every element has a name of its own,
else by their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.wire.codecs.values import Fields
from groups.wire.inspection.inspecting import Inspection
from groups.wire.inspection.nodes import TAG_COUNT, Node, value_of

NAMING_FIELDS: Final = (
    "memberId",
    "topicId",
    "topic",
    "topicName",
    "name",
    "groupId",
    "subtopologyId",
    "key",
)
"""The fields that name an element of a list, the surest first."""


def differences(a: Inspection, b: Inspection) -> list[Fields]:
    """A row for each field of either: ``{"path", "a", "b", "same", "meaning"}``.

    ``a`` or ``b`` is left out where that side does not have the field; ``path_b`` is there where the field is
    elsewhere in ``b``.
    """
    return list(_rows(a.fields, b.fields, "", "", (a.version, b.version)))


def _rows(
    a: list[Node], b: list[Node], path_a: str, path_b: str, versions: tuple[int | None, int | None]
) -> Iterator[Fields]:
    named_a, named_b = _by_name(a), _by_name(b)
    for name in [*named_a, *(name for name in named_b if name not in named_a)]:
        left, right = named_a.get(name), named_b.get(name)
        at_a = _joined(path_a, left)
        at_b = _joined(path_b, right)
        if left is not None and right is not None and left.fields is not None and right.fields is not None:
            inner = (_version(left, versions[0]), _version(right, versions[1]))
            yield from _rows(left.fields, right.fields, at_a, at_b, inner)
        else:
            yield _row(left, right, at_a, at_b, versions)


def _row(
    a: Node | None, b: Node | None, at_a: str, at_b: str, versions: tuple[int | None, int | None]
) -> Fields:
    row: Fields = {"path": at_a if a is not None else at_b}
    if a is not None and b is not None and at_a != at_b:
        row["path_b"] = at_b
    if a is not None:
        row["a"] = value_of(a)
    if b is not None:
        row["b"] = value_of(b)
    row["same"] = a is not None and b is not None and row["a"] == row["b"]
    row["meaning"] = _meaning(a, b, versions)
    return row


def _meaning(a: Node | None, b: Node | None, versions: tuple[int | None, int | None]) -> str:
    there = a or b
    assert there is not None
    if a is not None and b is not None:
        return a.meaning or b.meaning
    lacking = versions[1] if b is None else versions[0]
    if lacking is not None and not there.since <= lacking <= there.until:
        return f"not in version {lacking}"
    return there.meaning


def _by_name(nodes: list[Node]) -> dict[str, Node]:
    """The nodes by what they are matched by; counts of tagged fields say nothing that the fields do not."""
    plain = {node.name: node for node in nodes if node.name != TAG_COUNT}
    if not nodes or not all(name.isdigit() for name in plain):
        return plain
    if all(isinstance(node.value, str) for node in nodes):
        named = {str(node.value): node for node in nodes}
        return named if len(named) == len(nodes) else plain
    for field in NAMING_FIELDS:
        names = [child.value for node in nodes if (child := node.child(field)) is not None]
        if len(set(map(str, names))) == len(nodes):
            return {str(name): node for name, node in zip(names, nodes, strict=True)}
    return plain


def _joined(path: str, node: Node | None) -> str:
    name = "" if node is None else node.name
    return f"{path}.{name}" if path else name


def _version(node: Node, around: int | None) -> int | None:
    """The version of an opened blob, which has its own; that of what is around it elsewhere."""
    if node.kind is None:
        return around
    first = node.child("version")
    return first.value if first is not None and isinstance(first.value, int) else None
