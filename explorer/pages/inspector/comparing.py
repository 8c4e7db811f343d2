"""Two inspections in words: which fields differ, and what follows where one of the two writers leads a group."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from groups.wire.inspection import Inspection, kind_named
from groups.wire.inspection.clients import seen_by
from groups.wire.inspection.words import counted

ELEMENT: Final = re.compile(r"\.(\d+)(?=\.|$)")
"""An element of a list in a path; it is written as ``members[0]``."""

DIFFERING_MOST: Final = 5
"""Fields that differ and are named in the sentence; more are counted."""


def sentence(
    a: Inspection, b: Inspection, rows: Sequence[Mapping[str, Any]], names: tuple[str, str]
) -> list[dict[str, str]]:
    """The parts of the sentence on top; those with a path lead to that row."""
    parts = []
    if a.version is not None and b.version is not None and a.version != b.version:
        text = f"{names[0]} is of version {a.version}, {names[1]} of version {b.version}. "
        # A name is kept as it is.
        parts.append({"text": f"T{text[1:]}" if text.startswith("the ") else text})
    differing = [str(row["path"]) for row in rows if not row["same"]]
    if not differing:
        return [*parts, {"text": "Every field is the same." if rows else "Neither has a field."}]
    verb = "differs" if len(differing) == 1 else "differ"
    parts.append({"text": f"{len(differing)} of {counted(len(rows), 'field')} {verb}: "})
    shown = differing[:DIFFERING_MOST]
    more = len(differing) - len(shown)
    for index, path in enumerate(shown):
        left = len(shown) - index - 1
        behind = (
            (f" and {more} more." if more else ".")
            if not left
            else " and "
            if left == 1 and not more
            else ", "
        )
        parts += [{"text": ELEMENT.sub(r"[\1]", path), "path": path}, {"text": behind}]
    return parts


def leads(
    a: Inspection, first: bytes, b: Inspection, second: bytes, names: tuple[str, str]
) -> list[dict[str, str]]:
    """What each writer would read of the other's bytes; only where members hand such bytes to a leader."""
    if a.kind != b.kind or a.kind != "subscription" or not kind_named(a.kind).layout.appends:
        return []
    texts = []
    for leader, version, member, data in (
        (names[1], b.version, names[0], first),
        (names[0], a.version, names[1], second),
    ):
        if version is None:
            return []
        seen = seen_by(a.kind, data, version)
        texts.append({"title": f"If {leader} leads", "says": _reads(seen, member, len(data))})
    return texts


def _reads(seen: Mapping[str, Any], member: str, length: int) -> str:
    if seen["ignored"]:
        ignored = [field["name"] for field in seen["fields"] if not field["read"]]
        what = f": {', '.join(ignored)}" if ignored else ""
        read = f"It reads {seen['read']} of the {counted(length, 'byte')} of {member} and ignores {seen['ignored']}{what}."
    else:
        read = f"It reads all {counted(length, 'byte')} of {member}."
    return " ".join([read, *seen["consequences"]])
