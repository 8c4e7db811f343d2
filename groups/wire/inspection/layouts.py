"""How each sort of bytes is laid out: where its version stands, and which message follows.

A layout lists (``into`` a ``Walk``), reads and writes. Reading and writing go through the compiled codecs and give
the body in Kafka's JSON form, with the leading ``version`` or ``type`` as a field of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from groups.wire.codec import codec
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError, TruncatedError, UnencodableError, UnknownVersionError
from groups.wire.inspection.nodes import REST, Node
from groups.wire.inspection.walk import Walk
from groups.wire.schema import Message

INT16: Final = struct.Struct(">h")


@dataclass(slots=True)
class Listing:
    """What a layout lists: filled as far as the walk comes, also where it is stopped."""

    fields: list[Node] = field(default_factory=list)
    version: int | None = None
    read: int = 0
    message: str = ""
    """The message that declares the fields, where that is known."""


class Layout(Protocol):
    """One sort of bytes."""

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that are known, the newest last; none where there is no such thing."""

    @property
    def appends(self) -> bool:
        """Whether bytes may follow what is known, because newer versions append."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that may stand in it."""

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        """Lists the fields; ``Stopped`` at a fault, ``RecordError`` where nothing can be said of any field."""

    def read(self, data: bytes, version: int | None) -> tuple[int | None, dict[str, Any], int]:
        """Version, value, and where it ends; ``RecordError``."""

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        """The bytes of a value; ``UnencodableError``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versioned:
    """An int16 version and the message: values of records, and the blobs of the consumer protocol.

    The leading version is called ``version``, and ``valueVersion`` where the message has a field of that name.
    """

    message: Message
    appends: bool = False

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(self.message.versions)

    @property
    def messages(self) -> tuple[Message, ...]:
        return (self.message,)

    @property
    def leading_name(self) -> str:
        taken = any(field.name == "version" for field in self.message.body.fields)
        return "valueVersion" if taken else "version"

    def known(self, version: int) -> int:
        """The version to read with; a newer one than is known can be read where versions only append."""
        if self.appends and version > self.message.newest:
            return self.message.newest
        codec(self.message, version)
        return version

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = self.message.name
        written = leading(listing, walk, self.leading_name, self.message.name)
        listing.version = written
        listing.read = INT16.size
        try:
            used = self.known(written if version is None else min(written, version))
        except UnknownVersionError as error:
            rest = walk.node(listing.fields, REST, "bytes", INT16.size)
            raise walk.fail(rest, at_zero(error)) from None
        listing.read = walk.message(self.message, used, INT16.size, listing.fields)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, dict[str, Any], int]:
        written = leading_int16(data, "a version")
        used = self.known(written if version is None else min(written, version))
        body, end = codec(self.message, used).read(data, INT16.size)
        return written, {self.leading_name: written, **body}, end

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        body = dict(value)
        written = body.pop(self.leading_name, None)
        if not isinstance(written, int) or not -1 < written <= 0x7FFF:
            raise UnencodableError(f"version: {written!r:.60} is no version")
        out = bytearray(INT16.pack(written))
        codec(self.message, self.known(written)).write(out, body)
        return bytes(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unversioned:
    """The message alone; its version is told from outside: requests and answers without their headers, user data.

    Where it is not told, the versions are tried, the newest first: the one that reads to the last byte, or, where
    bytes ``appends``, the first that can be read at all, as Kafka's assignors do.
    """

    message: Message
    appends: bool = False

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(self.message.versions)

    @property
    def messages(self) -> tuple[Message, ...]:
        return (self.message,)

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = self.message.name
        listing.version = self.fitting(walk.data) if version is None else version
        codec(self.message, listing.version)
        listing.read = walk.message(self.message, listing.version, 0, listing.fields)

    def fitting(self, data: bytes) -> int:
        """The version to read with where none is told; the newest of all if none can be read."""
        for version in reversed(self.versions):
            try:
                if codec(self.message, version).read(data, 0)[1] == len(data) or self.appends:
                    return version
            except RecordError:
                continue
        return self.message.newest

    def read(self, data: bytes, version: int | None) -> tuple[int | None, dict[str, Any], int]:
        used = self.fitting(data) if version is None else version
        body, end = codec(self.message, used).read(data, 0)
        return used, body, end

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        out = bytearray()
        codec(self.message, self.message.newest if version is None else version).write(out, dict(value))
        return bytes(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKey:
    """An int16 type and the key's fields."""

    appends: bool = False

    @property
    def versions(self) -> tuple[int, ...]:
        return ()

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(record_type.key for record_type in RECORD_TYPES.values())

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(RECORD_TYPES)

    def message(self, number: int) -> Message:
        if number not in RECORD_TYPES:
            raise UnknownVersionError(f"records of type {number} are not known here")
        return RECORD_TYPES[number].key

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        number = leading(listing, walk, "type", "")
        listing.read = INT16.size
        try:
            message = self.message(number)
        except UnknownVersionError as error:
            rest = walk.node(listing.fields, REST, "bytes", INT16.size)
            raise walk.fail(rest, at_zero(error)) from None
        listing.message = listing.fields[0].message = message.name
        listing.read = walk.message(message, 0, INT16.size, listing.fields)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, dict[str, Any], int]:
        number = leading_int16(data, "a type")
        body, end = codec(self.message(number), 0).read(data, INT16.size)
        return None, {"type": number, **body}, end

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        body = dict(value)
        number = body.pop("type", None)
        if not isinstance(number, int) or number not in RECORD_TYPES:
            raise UnencodableError(f"type: records of type {number!r:.60} are not known here")
        out = bytearray(INT16.pack(number))
        codec(self.message(number), 0).write(out, body)
        return bytes(out)


def leading(listing: Listing, walk: Walk, name: str, message: str) -> int:
    """The int16 in front, as a node of its own."""
    node = walk.node(listing.fields, name, "int16", 0, message=message)
    try:
        number = leading_int16(walk.data, f"a {name}")
    except RecordError as error:
        raise walk.fail(node, error) from None
    node.value, node.length = number, INT16.size
    return number


def leading_int16(data: bytes, what: str) -> int:
    if len(data) < INT16.size:
        raise TruncatedError(what, needed=INT16.size, left=len(data), offset=0)
    number: int = INT16.unpack_from(data)[0]
    return number


def at_zero(error: RecordError) -> RecordError:
    error.offset = 0
    return error
