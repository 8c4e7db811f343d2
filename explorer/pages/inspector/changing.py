"""What became of a record: the differences of two values of one key, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from groups.wire.inspection import Inspection, Node, find
from groups.wire.inspection.words import counted, listed

CLAUSES_MOST: Final = 6
"""Changes that the sentence lists; more are counted, and the rows have them all."""

VALUE_MOST: Final = 40
"""Letters of a value in the sentence; of a longer value only the fact that it changed is shown."""

_NAMES: Final = ("clientId", "memberId", "topic", "topicName", "topicId", "name", "groupId", "subtopologyId")
"""What an element of a list is called by, the shortest first."""

_IDENTITIES: Final = ("memberId", *_NAMES)
"""What distinguishes an element from the others; two members may be of one client."""

_SPOKEN: Final = re.compile(r"(imestamp(Ms)?|[sS]tate)$")
"""Fields whose meaning is shown, not their number."""

Part = dict[str, str]


@dataclass(slots=True, kw_only=True)
class _Moved:
    """What a list lost and gained: partitions, tasks, topics, members."""

    phrase: str
    path: str
    lost: list[str] = field(default_factory=list)
    gained: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"{verb} {listed(names)}" for verb, names in self._both() if names]
        return f"{self.phrase} {' and '.join(parts)}"

    def _both(self) -> tuple[tuple[str, list[str]], ...]:
        return (("lost", self.lost), ("gained", self.gained))


def changes(
    a: Inspection,
    b: Inspection,
    rows: Sequence[Mapping[str, Any]],
    names: tuple[str, str],
    tombstones: tuple[bool, bool],
) -> list[Part] | None:
    """The sentence on top, each clause with the row that it is on; ``None`` where either cannot be read."""
    if all(tombstones):
        return [{"text": f"Both {names[0]} and {names[1]} are tombstones."}]
    if tombstones[0]:
        return [{"text": f"{names[0].capitalize()} is a tombstone; {names[1]} gives the key a value anew."}]
    if tombstones[1]:
        return [{"text": f"{names[1].capitalize()} is a tombstone: what {names[0]} said is gone."}]
    if a.stopped or b.stopped or a.kind != b.kind:
        return None
    differing = [row for row in rows if not row["same"]]
    if not differing:
        return [{"text": f"Every field of {names[1]} is the same as in {names[0]}."}]
    clauses = list(_clauses(a, b, differing))
    parts: list[Part] = [{"text": f"From {names[0]} to {names[1]}: "}]
    for index, (words, path) in enumerate(clauses[:CLAUSES_MOST]):
        parts += [{"text": ", "}] if index else []
        parts.append({"text": words, "path": path})
    more = len(clauses) - CLAUSES_MOST
    parts.append({"text": f", and {counted(more, 'change')} more." if more > 0 else "."})
    return parts


def _clauses(a: Inspection, b: Inspection, rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Numbers first, as epochs say when; then what lists lost and gained."""
    moved: dict[tuple[str, ...], _Moved] = {}
    for row in rows:
        path = str(row["path"])
        sides = (
            (a.fields, path, "a" in row),
            (b.fields, str(row.get("path_b", path)), "b" in row),
        )
        if _moves(sides, path, moved):
            continue
        owner, words = _called(*(sides[0] if "a" in row else sides[1])[:2])
        before, after = (_shown(fields, at) if there else None for fields, at, there in sides)
        if before is None or after is None:
            shown = before if after is None else after
            yield (
                f"{owner}{words} {shown or ''} {'is gone' if after is None else 'is new'}".replace("  ", " "),
                path,
            )
        elif not before or not after or len(before) > VALUE_MOST or len(after) > VALUE_MOST:
            yield f"{owner}{words} changed", path
        else:
            yield f"{owner}{words} {before} → {after}", path
    for each in moved.values():
        if each.lost or each.gained:
            yield str(each), each.path


def _moves(
    sides: Sequence[tuple[list[Node], str, bool]], path: str, moved: dict[tuple[str, ...], _Moved]
) -> bool:
    """Whether the row is of what a list holds; then it is kept for that list."""
    held: list[list[str]] = [[], []]
    of: tuple[tuple[str, ...], str] | None = None
    for side, (fields, at, there) in enumerate(sides):
        if not there:
            continue
        found = _held(fields, at)
        if found is None:
            return False
        of, held[side] = found[0], found[1]
    if of is None:
        return False
    key, phrase = of
    into = moved.setdefault(key, _Moved(phrase=phrase, path=path))
    into.lost += [name for name in held[0] if name not in held[1]]
    into.gained += [name for name in held[1] if name not in held[0]]
    return True


def _held(fields: list[Node], path: str) -> tuple[tuple[tuple[str, ...], str], list[str]] | None:
    """The list that a row is of, and the names of what it has there: partitions of a topic, or an element by name."""
    steps = path.split(".")
    if steps[-1] == "partitions" and len(steps) > 2 and steps[-2].isdigit():
        steps = steps[:-1]
    if not steps[-1].isdigit() or len(steps) < 2:
        return None
    element = find(fields, ".".join(steps))
    if element is None:
        return None
    owner, phrase = _called(fields, ".".join(steps[:-1]))
    key = (*_identities(fields, steps[:-2]), steps[-2])
    return (key, f"{owner}{phrase}"), _names(element)


def _names(element: Node) -> list[str]:
    partitions = element.child("partitions")
    if partitions is not None and isinstance(partitions.value, list):
        between = "_" if element.child("subtopologyId") is not None else "-"
        return [f"{_name(element)}{between}{each}" for each in partitions.value]
    return [_name(element)]


def _called(fields: list[Node], path: str) -> tuple[str, str]:
    """Whose field it is (``c-117's ``, or nothing), and the field in words."""
    steps = path.split(".")
    owner = ""
    for end in range(2, len(steps)):
        element = find(fields, ".".join(steps[:end])) if steps[end - 1].isdigit() else None
        if element is not None and (name := _name(element)):
            owner = f"{name}’s "
    last = next(step for step in reversed(steps) if not step.isdigit())
    return owner, _spaced(last)


def _identities(fields: list[Node], steps: Sequence[str]) -> Iterator[str]:
    for end in range(1, len(steps) + 1):
        if not steps[end - 1].isdigit():
            yield steps[end - 1]
        elif (element := find(fields, ".".join(steps[:end]))) is not None:
            yield _name(element, _IDENTITIES)


def _name(element: Node, by: Sequence[str] = _NAMES) -> str:
    if element.fields is None:
        return str(element.value)
    for name in by:
        found = element.child(name)
        if found is not None and isinstance(found.value, str | int):
            text = str(found.value)
            return found.called or (f"{text[:6]}…" if name == "topicId" else text)
    return ""


def _shown(fields: list[Node], path: str) -> str:
    node = find(fields, path)
    if node is None or node.fields is not None or not isinstance(node.value, str | int | None):
        return ""
    if node.value is None:
        return "null"
    if _SPOKEN.search(node.name) and node.meaning:
        # A state's name; what it means is in the row.
        return node.meaning.partition(": ")[0]
    return "empty" if node.value == "" else str(node.value)


def _spaced(name: str) -> str:
    """``memberEpoch`` as ``member epoch``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
