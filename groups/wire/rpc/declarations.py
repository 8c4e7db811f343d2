"""kio's declarations of requests and responses as ``Message``s.

kio (PyPI) is generated from the definitions in Kafka's source: a dataclass for each message, struct and version. It
serves here as the source of declarations alone, but for messages of which a later release has a newer version; one engine reads, writes and lists everything. Names become those of
Kafka's JSON form again: kio writes ``throttle_time`` and a ``timedelta`` where Kafka has ``throttleTimeMs``.

kio is imported when the first message is asked for, as it takes a tenth of a second which few programs need; a server
lets ``preparing`` do it.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from datetime import timedelta
from functools import cache
from types import NoneType
from typing import Any, Final, get_args, get_origin

from groups.wire.codecs.primitives import to_base64
from groups.wire.codecs.schema import NEVER, Array, Field, FieldType, Message, Primitive, Required, Struct
from groups.wire.codecs.values import Value
from groups.wire.generated.requests import LATER
from groups.wire.rpc.merging import in_one_version, merged
from groups.wire.rpc.older import OLDER

_PRIMITIVES: Final = {
    "bool": Primitive.BOOL,
    "int8": Primitive.INT8,
    "int16": Primitive.INT16,
    "int32": Primitive.INT32,
    "int64": Primitive.INT64,
    "uint16": Primitive.UINT16,
    "string": Primitive.STRING,
    "bytes": Primitive.BYTES,
    "records": Primitive.BYTES,
    "uuid": Primitive.UUID,
    "error_code": Primitive.INT16,
    "timedelta_i32": Primitive.INT32,
    "timedelta_i64": Primitive.INT64,
}

_MILLISECOND: Final = timedelta(milliseconds=1)


@cache
def declared_message(key: int, name: str, direction: str) -> Message:
    """The message of an API, ``direction`` being ``request`` or ``response``, for every version that ever was."""
    message = f"{name}{direction.capitalize()}"
    if message in LATER:
        return LATER[message]
    classes = {version: load(key, version, direction) for version in declared_versions(key)}
    bodies = {version: _struct(declared) for version, declared in classes.items()}
    for older in OLDER:
        if older.name == message:
            bodies |= {version: in_one_version(older.body, version) for version in older.versions}
    flexible = [version for version, declared in classes.items() if declared.__flexible__]
    oldest, newest = min(bodies), max(bodies)
    flexible_since = min(flexible, default=NEVER)
    return Message(
        message,
        merged(message, bodies),
        oldest=oldest,
        newest=newest,
        flexible_since=0 if flexible_since == oldest else flexible_since,
    )


def declared_versions(key: int) -> list[int]:
    """The versions of an API that kio has."""
    from kio.schema.index import api_key_map, schema_name_map

    return list(schema_name_map[api_key_map[key]])


_Declared = Any
"""kio's class of a message, a field of it, its annotation or its default. ``Any``, as they are looked into at run time alone."""


def load(key: int, version: int, direction: str) -> _Declared:
    """kio's class for the message of an API; imported when it is first asked for."""
    from kio.index import load_request_schema, load_response_schema

    return (load_request_schema if direction == "request" else load_response_schema)(key, version)


def _struct(declared: _Declared) -> Struct:
    return Struct(tuple(_field(field) for field in fields(declared)))


def _field(field: _Declared) -> Field:
    kafka_type = field.metadata.get("kafka_type", "")
    type_, nullable = _type(field.type, kafka_type)
    return Field(
        _json_name(field.name, kafka_type),
        type_,
        nullable_since=0 if nullable else NEVER,
        tag=field.metadata.get("tag"),
        default=_default(field.default, type_),
    )


def _json_name(name: str, kafka_type: str) -> str:
    first, *others = name.split("_")
    suffix = "Ms" if kafka_type.startswith("timedelta") else ""
    return first + "".join(word.capitalize() for word in others) + suffix


def _type(annotation: _Declared, kafka_type: str) -> tuple[FieldType, bool]:
    """The type, and whether it may be null."""
    origin: _Declared = get_origin(annotation)
    if origin is tuple:
        element, _ = _type(get_args(annotation)[0], kafka_type)
        return Array(element), False
    parts = get_args(annotation)
    if NoneType in parts:
        [annotation] = [part for part in parts if part is not NoneType]
        type_, _ = _type(annotation, kafka_type)
        # kio reports the id of all zeros as none; on the wire there is no null for an id.
        return type_, type_ is not Primitive.UUID
    return (_struct(annotation) if is_dataclass(annotation) else _PRIMITIVES[kafka_type]), False


def _default(default: _Declared, type_: FieldType) -> Value:
    if default is MISSING:
        return Required.REQUIRED
    match default:
        case None:
            return type_.zero if type_ is Primitive.UUID else None
        case timedelta():
            return default // _MILLISECOND
        case bytes():
            return to_base64(default)
        case tuple():
            assert not default
            return []
        case bool() | str():
            return default
        case int():
            return int(default)
        case _:
            assert is_dataclass(default)
            assert isinstance(type_, Struct)
            defaults = (getattr(default, field.name) for field in fields(default))
            return {
                field.name: _default(value, field.type)
                for field, value in zip(type_.fields, defaults, strict=True)
            }
