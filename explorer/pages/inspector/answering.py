"""What the inspector answers: bytes of a kind, field by field, with a sentence, the guesses, and what clients see."""

from __future__ import annotations

import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from explorer.pages.inspector.changing import changes
from explorer.pages.inspector.comparing import leads, sentence
from explorer.pages.inspector.topics import topic_names
from explorer.web.endpoint import BadRequest
from groups import storage
from groups.wire.codecs.primitives import from_base64, to_base64
from groups.wire.errors import RecordError
from groups.wire.inspection import (
    BadText,
    Inspection,
    bytes_from_text,
    differences,
    edit,
    guess,
    inspect,
    kind_named,
)
from groups.wire.inspection.clients import clients
from groups.wire.inspection.nodes import call_topics
from groups.wire.inspection.sentences import says

BYTES_MOST: Final = 256 * 1024
"""Bytes that one request may ask about: the largest records of groups that were seen are a tenth of it, and a page
that lists them stays quick. `decode` takes more."""

EDITS_MOST: Final = 100
"""Edits of one request; the page sends one."""

EDITED_BYTES_MOST: Final = 1024 * 1024
"""What the edits of one request may come to: each lays out all of the bytes anew. Of the largest, four."""

NAME_MOST: Final = 80
"""Letters of the name that a side of a comparison is given: a client's id, not a text."""

VERSION_MOST: Final = 32767
"""The highest version that an int16 can name."""


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


def asked_of(body: Mapping[str, Any], what: str = "The request") -> Asked:
    """The bytes of a request's object, with its edits made; ``BadRequest`` says what is wrong."""
    data, how = _bytes_of(body, what)
    kind = _kind_of(body)
    version = body.get("version")
    if version is not None and not (_is_whole(version) and 0 <= version <= VERSION_MOST):
        raise BadRequest(
            f"version={version!r:.60} must be a whole number from 0 to {VERSION_MOST}.", field="version"
        )
    name = body.get("name", "")
    if not isinstance(name, str) or len(name) > NAME_MOST:
        raise BadRequest(f"name must be text of {NAME_MOST} letters at most.", field="name")
    topics = _topics_of(body)
    edits = _edits_of(body)
    if edits and kind is None:
        raise BadRequest("Edits need the kind of the bytes.", field="kind")
    edited = 0
    for path, value in edits:
        assert kind is not None
        edited += len(data)
        if edited > EDITED_BYTES_MOST and edited > len(data):
            raise BadRequest(
                f"{len(edits)} edits of {len(data):,} bytes are more than one request takes; make some of them in another.",
                field="edits",
                status=413,
            )
        try:
            data = edit(kind, version, data, path, value)
        except RecordError as error:
            raise BadRequest(f"{error}.", field="edits", path=path) from error
        _bounded(data)
    return Asked(data=data, kind=kind, version=version, how=how, name=name, topics=topics)


def answer_to(asked: Asked, *, guesses: bool = True) -> dict[str, Any]:
    """The answer of ``/api/inspect``; docs/reference/api.md tells of each part."""
    tried = [each.to_json() for each in guess(asked.data)] if guesses or asked.kind is None else []
    inspection = _inspected(asked, tried)
    perhaps = asked.kind is None and not tried[0]["likely"]
    return answer_of(inspection, asked.data, perhaps=perhaps) | {"how": asked.how, "guesses": tried}


def answer_of(inspection: Inspection, data: bytes, *, perhaps: bool = False) -> dict[str, Any]:
    """An inspection as JSON, with what is said of it as a whole."""
    return {
        **inspection.to_json(),
        "bytes": to_base64(data),
        "says": says(inspection, perhaps=perhaps),
        "guesses": [],
        # Values of records are written and read by brokers; what members hand each other may only grow.
        "clients": clients(inspection.kind, data) if kind_named(inspection.kind).layout.appends else [],
    }


def comparison_of(first: Asked, second: Asked) -> dict[str, Any]:
    """The answer of ``/api/inspect/compare``: both, and a row for each field of either."""
    a, b = _compared(first, second), _compared(second, first)
    rows = differences(a, b)
    names = (first.name or "the first", second.name or "the second")
    told = None
    if first.is_record and second.is_record:
        told = changes(a, b, rows, names, (first.tombstone, second.tombstone))
    return {
        "first": answer_of(a, first.data),
        "second": answer_of(b, second.data),
        "rows": rows,
        "leads": leads(a, first.data, b, second.data, names),
        "says": told or sentence(a, b, rows, names),
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


def _bytes_of(body: Mapping[str, Any], what: str) -> tuple[bytes, str]:
    text, encoded = body.get("text"), body.get("bytes")
    if (text is None) == (encoded is None):
        raise BadRequest(
            f"{what} needs text (hex or base64) or bytes (base64), one of the two.", field="text"
        )
    if encoded is not None:
        if not isinstance(encoded, str):
            raise BadRequest("bytes must be base64.", field="bytes")
        try:
            data = from_base64(encoded)
        except (RecordError, ValueError, binascii.Error) as error:
            raise BadRequest(f"bytes must be base64: {error}.", field="bytes") from error
        return _bounded(data), ""
    if not isinstance(text, str):
        raise BadRequest("text must be hex or base64.", field="text")
    try:
        data, how = bytes_from_text(text)
    except BadText as error:
        told = str(error)
        raise BadRequest(
            f"{told[:1].upper()}{told[1:]}.", field="text", line=error.line, column=error.column
        ) from error
    if not data:
        raise BadRequest("There are no bytes in it.", field="text")
    return _bounded(data), how


def _bounded(data: bytes) -> bytes:
    if len(data) > BYTES_MOST:
        raise BadRequest(too_many(len(data)), status=413, field="bytes")
    return data


def too_many(count: int | None = None) -> str:
    """The line that names the bound."""
    found = "This is more" if count is None else f"{count:,} bytes are more"
    return (
        f"{found} than the inspector takes at once, {BYTES_MOST:,} bytes. "
        "The command manage.py decode takes more."
    )


def _kind_of(body: Mapping[str, Any]) -> str | None:
    kind = body.get("kind")
    if kind is None:
        return None
    if not isinstance(kind, str):
        raise BadRequest("kind must be text: a kind of bytes.", field="kind")
    try:
        return kind_named(kind).name
    except RecordError as error:
        raise BadRequest(f"{error}.", field="kind") from error


def _topics_of(body: Mapping[str, Any]) -> dict[str, str]:
    timeline = body.get("timeline")
    if timeline is None:
        return {}
    if not isinstance(timeline, str):
        raise BadRequest("timeline must be the id of a timeline.", field="timeline")
    return topic_names(storage.get(timeline))


def _edits_of(body: Mapping[str, Any]) -> list[tuple[str, Any]]:
    edits = body.get("edits") or []
    if not isinstance(edits, list) or len(edits) > EDITS_MOST:
        raise BadRequest(f"edits must be a list of {EDITS_MOST} at most.", field="edits")
    out = []
    for each in edits:
        if not isinstance(each, dict) or not isinstance(each.get("path"), str) or "value" not in each:
            raise BadRequest('An edit is {"path": "a.b.0", "value": …}.', field="edits")
        out.append((each["path"], each["value"]))
    return out


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
