"""Compiles a schema into a reader and a writer for one version.

All decisions that a schema allows (which fields, which lengths, null or not) are taken once; what remains at run
time is a row of closures (``groups.wire.codecs.struct_readers``, ``groups.wire.codecs.struct_writers``). In front of the readers'
closures stands one function for the whole message (``groups.wire.codecs.fused_readers``), which gives the same values.

``codec(message, version)`` gives a ``Codec``: ``read(data, at) -> (dict, end)`` and ``write(out, dict)``. Dicts are
in Kafka's JSON form; a tagged field at its default is left out, tagged fields that the schema does not know are
kept, in the struct where they stood, as ``"_unknownTaggedFields": [{"tag": n, "data": base64}]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from groups.wire.codecs.fused_readers import fused_reader
from groups.wire.codecs.primitives import Reader, Writer
from groups.wire.codecs.schema import Message
from groups.wire.codecs.struct_readers import struct_reader
from groups.wire.codecs.struct_writers import struct_writer
from groups.wire.errors import UnknownVersionError


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
def prefix_reader(message: Message) -> Reader:
    """Reads the fields that ``message`` declares, and stops there: the tagged section and whatever else may follow
    belong to parts of the message that are not declared. For messages of which only the beginning is wanted."""
    return struct_reader(message.body, message.form(0), whole=False)
