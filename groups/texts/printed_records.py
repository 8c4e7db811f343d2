"""Records as Kafka's tools print them, JSON objects, as the bytes of keys and values that they were."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Final

from groups.wire.codecs.codec import codec
from groups.wire.codecs.primitives import write_unsigned_varint
from groups.wire.codecs.schema import Message
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from groups.wire.errors import RecordError
from groups.wire.generated.metadata import METADATA_RECORDS
from groups.wire.records import encode_record

_CLASSIC_GROUP: Final = 2
_FRAME: Final = 1
_API_KEYS: Final = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", message.name).upper(): number
    for number, message in METADATA_RECORDS.items()
}
_SINCE: Final = (("rackId", 3), ("generationId", 2), ("ownedPartitions", 1))
"""The fields that each version of a subscription added, the newest first: the version itself is not printed."""


class NotPrinted(Exception):
    """Why the text is no record: one line."""


def offsets_pair(key: object, payload: object) -> tuple[bytes | None, bytes | None]:
    """Key and value of a record of ``__consumer_offsets``; ``payload`` is None for a tombstone."""
    number, fields = _numbered(key, "type")
    if payload is None:
        return encode_record({"type": number, "key": fields, "version": None, "value": None})
    version, value = _numbered(payload, "version")
    if number == _CLASSIC_GROUP:
        members = value.get("members")
        value = {**value, "members": list(map(_member, members)) if isinstance(members, list) else []}
    try:
        return encode_record({"type": number, "key": fields, "version": version, "value": value})
    except RecordError:
        raise
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise NotPrinted(f"a field is not what it is in a record of type {number} ({error!s:.60})") from None


def metadata_value(printed: object) -> bytes | None:
    """The value of a record of ``__cluster_metadata``; the fields that are read here alone."""
    if not isinstance(printed, Mapping) or not isinstance(printed.get("data"), Mapping):
        raise NotPrinted(
            'the payload is no record of the metadata log: {"type", "version", "data"} was expected'
        )
    number = _API_KEYS.get(str(printed.get("type")))
    version = printed.get("version")
    if number is None or not isinstance(version, int) or version < 0:
        return None
    message = METADATA_RECORDS[number]
    known = min(version, message.newest)
    names = {each.name for each in message.body.fields if each.is_in(known)}
    out = bytearray()
    for part in (_FRAME, number, known):
        write_unsigned_varint(out, part)
    value = {
        name: _only_declared(message, name, given) for name, given in printed["data"].items() if name in names
    }
    codec(message, known).write(out, value)
    return bytes(out)


def _only_declared(message: Message, name: str, given: object) -> object:
    """A list of structs may have fields that later versions added: they are not read here, and left out."""
    declared = next(each.type for each in message.body.fields if each.name == name)
    inner = getattr(getattr(declared, "of", None), "fields", None)
    if inner is None or not isinstance(given, list):
        return given
    names = {each.name for each in inner}
    return [
        {key: value for key, value in row.items() if key in names} if isinstance(row, Mapping) else row
        for row in given
    ]


def _numbered(printed: object, name: str) -> tuple[int, Mapping[str, object]]:
    """The number under ``name``, which is printed as text, and the fields under ``data``."""
    number = printed.get(name) if isinstance(printed, Mapping) else None
    fields = printed.get("data") if isinstance(printed, Mapping) else None
    if not re.fullmatch(r"\d{1,5}", str(number)) or not isinstance(fields, Mapping):
        raise NotPrinted(f'expected {{"{name}": number, "data": {{…}}}}, found {str(printed)[:60]}')
    return int(str(number)), fields


def _member(member: object) -> object:
    """A classic member: subscription and assignment are printed as fields where the group is one of consumers."""
    if not isinstance(member, Mapping):
        raise NotPrinted("a member is no object")
    subscription, assignment = member.get("subscription"), member.get("assignment")
    version = 0
    if isinstance(subscription, Mapping):
        version = next((since for name, since in _SINCE if name in subscription), 0)
        subscription = _text(encode_subscription({"version": version, **subscription}))
    if isinstance(assignment, Mapping):
        assignment = _text(encode_assignment({"version": version, **assignment}))
    return {**member, "subscription": subscription or "", "assignment": assignment or ""}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
