"""Compiles a schema into a reader and a writer for one version.

All decisions that a schema allows (which fields, which lengths, null or not) are taken once; what remains at run
time is a row of closures (``groups.wire.codecs.struct_readers``, ``groups.wire.codecs.struct_writers``). In front of the readers'
closures is one function for the whole message (``groups.wire.codecs.fused_readers``), which gives the same values.

``codec(message, version)`` gives a ``Codec``: ``read(data, at) -> (dict, end)`` and ``write(out, dict)``. Dicts are
in Kafka's JSON form; a tagged field at its default is left out, tagged fields that the schema does not know are
kept, in the struct where they stood, as ``"_unknownTaggedFields": [{"tag": n, "data": base64}]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from groups.wire.codecs.fused_readers import fused_reader
from groups.wire.codecs.primitives import Reader, Writer
from groups.wire.codecs.schema import Message
from groups.wire.codecs.struct_readers import struct_reader
from groups.wire.codecs.struct_writers import struct_writer
from groups.wire.codecs.values import Value
from groups.wire.errors import RecordError, UnencodableError, UnknownVersionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """The compiled form of one version of a message."""

    name: str
    version: int
    read: Reader
    write: Writer


@cache
def codec(message: Message, version: int) -> Codec:
    """The codec of ``message`` at ``version``; ``UnknownVersionError`` if the schema does not have it."""
    if not message.knows(version):
        raise UnknownVersionError(
            f"{message.name} has no version {version} here; known are {message.oldest} to {message.newest}"
        )
    form = message.form(version)
    careful = struct_reader(message.body, form)
    return Codec(
        name=message.name,
        version=version,
        read=fused_reader(message.body, form, careful, message.name),
        write=struct_writer(message.body, form),
    )


@cache
def prefix_reader(message: Message, version: int) -> Reader:
    """Reads the fields that ``message`` declares, and stops there: the tagged section and whatever else may follow
    belong to parts of the message that are not declared. For messages of which only the beginning is wanted."""
    return struct_reader(message.body, message.form(version), whole=False)


def encode_versioned(message: Message, value: Mapping[str, Value]) -> tuple[int, bytes]:
    """The version that ``value`` names (the newest where it names none) and its fields as bytes of that version."""
    body = dict(value)
    version = body.pop("version", message.newest)
    data = encode(message, version, body)
    assert isinstance(version, int)
    return version, data


def encode(message: Message, version: Value, value: Mapping[str, Value]) -> bytes:
    """The fields as bytes of that version; ``UnencodableError`` names the field that does not fit, or the version."""
    if not isinstance(version, int) or not message.knows(version):
        raise UnencodableError(
            f"{message.name} has no version {version!r:.60}; known are {message.oldest} to {message.newest}"
        )
    out = bytearray()
    try:
        codec(message, version).write(out, dict(value))
    except RecordError as error:
        error.inside(message.name)
        raise
    return bytes(out)
