"""What a request asks the inspector: bytes, how they are to be read, and changes of them. The answers come from elsewhere."""

from __future__ import annotations

import binascii
from collections.abc import Mapping
from typing import Any, Final

from explorer.pages.inspector.answering import Asked, Refused, check_size
from explorer.pages.inspector.topics import topic_names
from explorer.web.endpoint import BadRequest
from groups import storage
from groups.wire.codecs.primitives import from_base64
from groups.wire.errors import RecordError
from groups.wire.inspection import BadText, bytes_from_text, kind_named

EDITS_MOST: Final = 100
"""Edits of one request; the page sends one."""

NAME_MOST: Final = 80
"""Letters of the name that a side of a comparison is given: a client's id, not a text."""

VERSION_MOST: Final = 32767
"""The highest version that an int16 can name."""


def asked_of(body: Mapping[str, Any], what: str = "The request") -> Asked:
    """The bytes of a request's object, its edits yet to be made; ``BadRequest`` contains what is wrong."""
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
    return Asked(data=data, kind=kind, version=version, how=how, name=name, topics=topics, edits=edits)


def _bytes_of(body: Mapping[str, Any], what: str) -> tuple[bytes, str]:
    text, encoded = body.get("text"), body.get("bytes")
    if (text is None) == (encoded is None):
        raise BadRequest(
            f"{what} needs text (hex, base64, or bytes as a language prints them) or bytes (base64), one of the two.",
            field="text",
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
        raise BadRequest("text must be hex, base64, or bytes as a language prints them.", field="text")
    try:
        data, how = bytes_from_text(text)
    except BadText as error:
        message = str(error)
        raise BadRequest(
            f"{message[:1].upper()}{message[1:]}.", field="text", line=error.line, column=error.column
        ) from error
    if not data:
        raise BadRequest("There are no bytes in it.", field="text")
    return _bounded(data), how


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
    edits = body.get("edits")
    if edits is None:
        return []
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


def _bounded(data: bytes) -> bytes:
    try:
        check_size(data)
    except Refused as error:
        raise BadRequest(str(error), status=error.status, **error.facts) from error
    return data
