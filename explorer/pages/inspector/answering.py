"""What the inspector answers: bytes of a kind, field by field, with a sentence, the guesses, and what clients see.

Nothing here knows Django: bytes of which the answer takes long are answered in a process of their own
(``explorer.pages.inspector.child``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from explorer.pages.inspector.changing import changes
from groups.wire.codecs.primitives import to_base64
from groups.wire.errors import RecordError
from groups.wire.inspection import Inspection, differences, edit, guess, inspect, kind_named
from groups.wire.inspection.clients import clients, seen_by
from groups.wire.inspection.nodes import call_topics
from groups.wire.inspection.sentences import sentence_of
from groups.wire.inspection.words import counted

# -- Two inspections in words: which fields differ, and what follows where one of the two writers leads a group.

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


BYTES_MOST: Final = 256 * 1024
"""Bytes that one request may ask about: the largest records of groups that were seen are a tenth of it, and a page
that lists them stays quick. `decode` takes more."""

EDITED_BYTES_MOST: Final = 1024 * 1024
"""What the edits of one request may come to: each lays out all of the bytes again. Of the largest, four."""


class Refused(Exception):
    """What was asked cannot be done: one line, the status of the answer, and facts next to the line."""

    def __init__(self, message: str, *, status: int = 400, **facts: Any) -> None:
        super().__init__(message)
        self.status = status
        self.facts = facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Bytes that were asked about: which kind they are to be read as, and how they were written."""

    data: bytes
    kind: str | None = None
    version: int | None = None
    how: str = ""
    name: str = ""
    topics: Mapping[str, str] = field(default_factory=dict)
    """Names by topic id, of the timeline that the bytes are from."""
    tombstone: bool = False
    """Whether there are no bytes because a record has no value."""
    is_record: bool = False
    """Whether they are the value of a record of a timeline."""
    edits: Sequence[tuple[str, Any]] = ()
    """Changes to make first, one after the other: the path of a field, and its new value."""


def edited(asked: Asked) -> Asked:
    """With its edits made. Raises ``Refused``."""
    if not asked.edits:
        return asked
    data, kind, laid_out = asked.data, asked.kind, 0
    assert kind is not None, "who asks sees to it"
    for path, value in asked.edits:
        laid_out += len(data)
        if laid_out > EDITED_BYTES_MOST and laid_out > len(data):
            raise Refused(
                f"{len(asked.edits)} edits of {len(data):,} bytes are more than one request takes; make some of them in another.",
                field="edits",
                status=413,
            )
        try:
            data = edit(kind, asked.version, data, path, value)
        except RecordError as error:
            raise Refused(f"{error}.", field="edits", path=path) from error
        check_size(data)
    return replace(asked, data=data, edits=())


def answer_to(asked: Asked, *, guesses: bool = True) -> dict[str, Any]:
    """The answer of ``/api/inspect``; docs/reference/api.md describes each part. Raises ``Refused``."""
    asked = edited(asked)
    tried = [each.to_json() for each in guess(asked.data)] if guesses or asked.kind is None else []
    inspection = _inspected(asked, tried)
    perhaps = asked.kind is None and not tried[0]["likely"]
    return answer_of(inspection, asked.data, perhaps=perhaps) | {"how": asked.how, "guesses": tried}


def answer_of(inspection: Inspection, data: bytes, *, perhaps: bool = False) -> dict[str, Any]:
    """An inspection as JSON, with what is said of it as a whole."""
    return {
        **inspection.to_json(),
        "bytes": to_base64(data),
        "says": sentence_of(inspection, perhaps=perhaps),
        "guesses": [],
        # Values of records are written and read by brokers; what members hand each other may only grow.
        "clients": clients(inspection.kind, data) if kind_named(inspection.kind).layout.appends else [],
    }


def comparison_of(first: Asked, second: Asked) -> dict[str, Any]:
    """The answer of ``/api/inspect/compare``: both, and a row for each field of either. Raises ``Refused``."""
    first, second = _side("first", first), _side("second", second)
    a, b = _compared(first, second), _compared(second, first)
    rows = differences(a, b)
    names = (first.name or "the first", second.name or "the second")
    changed = None
    if first.is_record and second.is_record:
        changed = changes(a, b, rows, names, (first.tombstone, second.tombstone))
    return {
        "first": answer_of(a, first.data),
        "second": answer_of(b, second.data),
        "rows": rows,
        "leads": leads(a, first.data, b, second.data, names),
        "says": changed or sentence(a, b, rows, names),
    }


def _compared(asked: Asked, other: Asked) -> Inspection:
    if not asked.tombstone:
        return _inspected(asked)
    # A tombstone has no fields, and is of the kind that the value was, or will be.
    kind = kind_named(other.kind or "key")
    return Inspection(kind=kind.name, title="Tombstone", length=0)


def _inspected(asked: Asked, tried: Sequence[Mapping[str, Any]] | None = None) -> Inspection:
    kind, version = asked.kind, asked.version
    if kind is None:
        found = tried if tried is not None else [each.to_json() for each in guess(asked.data)]
        kind = found[0]["kind"]
    inspection = inspect(kind, asked.data, version=version)
    call_topics(inspection.fields, asked.topics)
    return inspection


def _side(which: str, asked: Asked) -> Asked:
    try:
        return edited(asked)
    except Refused as error:
        raise Refused(f"The {which}: {error}", status=error.status, side=which, **error.facts) from error


def check_size(data: bytes) -> None:
    """Raises ``Refused`` where there are too many."""
    if len(data) > BYTES_MOST:
        raise Refused(too_many(len(data)), status=413, field="bytes")


def too_many(count: int | None = None) -> str:
    """The line that names the bound."""
    found = "This is more" if count is None else f"{count:,} bytes are more"
    return (
        f"{found} than the inspector takes at once, {BYTES_MOST:,} bytes. "
        "The command manage.py decode takes more."
    )
