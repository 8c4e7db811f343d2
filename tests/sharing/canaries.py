"""Logs of which each name is a canary: a text that nothing may let through."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groups import storage
from groups.history.entries import Entry, Kind, Provenance
from groups.history.passes.recorder import Recorder
from groups.incidents import fields
from groups.models import Timeline
from groups.wire.codecs.schema import Array, FieldType, Message, Primitive, Struct
from groups.wire.embedded.consumer_protocol import (
    decode_assignment,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from groups.wire.record_type import RecordType
from groups.wire.rpc import Api, Direction
from tests.history.corpus import CorpusLog

MARK = "canary"
UUID_BYTES = b"canary-canary-00"
CANARY_ID = base64.urlsafe_b64encode(UUID_BYTES).decode().rstrip("=")
HASH = 7_204_101_112_905_871


def marked(entry: Entry) -> Entry:
    """The entry with a canary in each of its texts that is no word of ours."""
    actor = entry.actor if entry.actor == "coordinator" else MARK + entry.actor
    return replace(
        entry, actor=actor, payload={key: _marked(key, value) for key, value in entry.payload.items()}
    )


def _marked(key: str, value: Any, within: str = "") -> Any:
    if isinstance(value, Mapping):
        if key in fields.MAPS:
            return {_name(name): _inside(key, held) for name, held in value.items()}
        return {name: _marked(name, held, key) for name, held in value.items()}
    if isinstance(value, list):
        return [
            _inside(key, item) if isinstance(item, Mapping) else _marked(key, item, within) for item in value
        ]
    if not isinstance(value, str) or not value or key in fields.OWN_WORDS:
        return value
    if key == "subscription" or (key == "metadata" and within in fields.BLOBS_WITHIN):
        told = decode_subscription(base64.b64decode(value))
        told["topics"] = [_name(topic) for topic in told["topics"]]
        told["userData"] = base64.b64encode(MARK.encode()).decode()
        return base64.b64encode(encode_subscription(told | _owned(told, "ownedPartitions"))).decode()
    if key == "assignment":
        told = decode_assignment(base64.b64decode(value))
        return base64.b64encode(encode_assignment(told | _owned(told, "assignedPartitions"))).decode()
    if fields.FIELDS.get(key) == "topic id":
        return _id(value)
    return _name(value)


def _inside(key: str, held: Any) -> Any:
    if isinstance(held, Mapping):
        return {name: _marked(name, value, key) for name, value in held.items()}
    return _marked(key, held)


def _owned(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    if name not in told:
        return {}
    return {name: [{**owned, "topic": _name(owned["topic"])} for owned in told[name] or ()]}


def _name(name: str) -> str:
    return MARK + name


def _id(value: str) -> str:
    """Another id for each, which begins with the canary's bytes."""
    held = base64.urlsafe_b64decode(value + "==")
    return base64.urlsafe_b64encode(UUID_BYTES[:8] + held[8:]).decode().rstrip("=")


SHAPES = (MARK, base64.b64encode(MARK.encode()).decode(), CANARY_ID, str(HASH))
"""What a canary looks like; the second is the beginning of each id that ``marked`` makes, and of bytes."""


def sings(text: str) -> bool:
    """Whether a canary has got into a text."""
    return any(shape in text for shape in SHAPES)


def message_of(api: Api, direction: Direction) -> Entry:
    """An entry of a request or response, with a canary in each field of all of its versions."""
    message = api.request if direction is Direction.REQUEST else api.response
    body: dict[str, Any] = {}
    for version in message.versions:
        body |= filled(message, version)
    payload = {"api": api.name, "version": message.newest, "body": body}
    return Entry(
        sequence=1, at_ms=1, kind=Kind.REQUEST if direction is Direction.REQUEST else Kind.RESPONSE,
        actor=f"{MARK}-actor", provenance=Provenance.RECORDED, payload=payload | {"to": f"{MARK}-to"},
    )  # fmt: skip


def record_of(kind: RecordType, sequence: int = 1) -> Entry:
    """An entry of a record of this type, with a canary in each field of its key and of every version of its value."""
    value: dict[str, Any] = {}
    for version in range(kind.value.newest + 1):
        value |= filled(kind.value, version)
    key = filled(kind.key, 0)
    return Entry(
        sequence=sequence, at_ms=1, kind=Kind.RECORD, actor="coordinator", provenance=Provenance.RECORDED,
        partition=0, offset=sequence, batch=1, unit=sequence,
        payload={"type": kind.number, "key": key, "version": kind.value.newest, "value": value},
    )  # fmt: skip


def filled(message: Message, version: int) -> dict[str, Any]:
    """A value of the message with a canary in each field."""
    return _struct(message.body, version)


def _struct(struct: Struct, version: int) -> dict[str, Any]:
    return {
        field.name: HASH if field.name in fields.HASHES else _value(field.type, version)
        for field in struct.fields
        if field.is_in(version)
    }


def _value(type_: FieldType, version: int) -> Any:
    if isinstance(type_, Array):
        return [_value(type_.of, version)]
    if isinstance(type_, Struct):
        return _struct(type_, version)
    if type_ is Primitive.UUID:
        return CANARY_ID
    if type_ is Primitive.BYTES:
        return base64.b64encode(f"{MARK} in bytes".encode()).decode()
    if type_ is Primitive.BOOL:
        return True
    return 1 if type_.value[1] is not None else f"{MARK}-name"


def canaries_of(log: CorpusLog, number: int) -> Timeline:
    """The log, stored, with a canary in all that it tells, in its id, its title and its scenario's text."""
    group = MARK + log.group
    timeline = storage.create_timeline(
        timeline_id=f"{MARK}{number}", title=f"{MARK} title", group=group, source="simulation",
        semantics=log.semantics, scenario=f"name: {MARK} scenario",
    )  # fmt: skip
    writer = storage.open_writer(timeline.id, "the test")
    recorder = Recorder(group=group, semantics=log.semantics)
    for entry in log.entries:
        recorder.add(marked(entry))
    batch = recorder.flush(final=True)
    assert batch is not None
    writer.append(batch)
    writer.finish("complete")
    return storage.get(timeline.id)
