"""How each sort of bytes is laid out: where its version is, and which message follows.

A layout lists (``into`` a ``Walk``), reads and writes. Reading and writing go through the compiled codecs and give
the body in Kafka's JSON form, with the leading ``version`` or ``type`` as a field of its own.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Form, Message, Struct
from groups.wire.codecs.values import Fields, Value
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError, TruncatedError, UnencodableError, UnknownVersionError
from groups.wire.inspection.nodes import REST, Node, Problem
from groups.wire.inspection.walk import MOST_TRIED_BYTES, Walk

INT16: Final = struct.Struct(">h")
INT32: Final = struct.Struct(">i")


@dataclass(slots=True)
class Listing:
    """What a layout lists: filled as far as the walk comes, also where it is stopped."""

    fields: list[Node] = field(default_factory=list)
    version: int | None = None
    read: int = 0
    message: str = ""
    """The message that declares the fields, where that is known."""
    fault: Problem | None = None
    """A fault that did not stop the walk: a checksum that is wrong."""


class Layout(ABC):
    """One sort of bytes."""

    appends: bool = False
    """Whether bytes may follow what is known, because newer versions append."""

    @property
    def older_read_it(self) -> bool:
        """Whether somebody who knows only older versions may come to read it."""
        return False

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions that are known, the newest last; none where there is no such thing."""
        return ()

    @property
    def leading_name(self) -> str | None:
        """The name of the int16 that decides how the rest is read, where there is one."""
        return None

    def body_at(self, leading: int) -> tuple[Struct, Form]:
        """What follows that int16; ``UnknownVersionError``."""
        raise UnknownVersionError("there are no versions of it")

    @abstractmethod
    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        """Lists the fields; ``Stopped`` at a fault, ``RecordError`` where nothing can be said of any field."""

    @abstractmethod
    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        """Version, value, and where it ends; ``RecordError``."""

    @abstractmethod
    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        """The bytes of a value; ``UnencodableError``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versioned(Layout):
    """An int16 version and the message: values of records, and the blobs of the consumer protocol.

    The leading version is called ``version``, and ``valueVersion`` where the message has a field of that name.
    """

    message: Message
    appends: bool = False
    older_read_it = True

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(self.message.versions)

    def body_at(self, leading: int) -> tuple[Struct, Form]:
        return self.message.body, self.message.form(self.known(leading))

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
            raise walk.refuse(listing.fields, listing.fields[0], error) from None
        listing.read = walk.message(self.message, used, INT16.size, listing.fields)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        written = leading_int16(data, "a version")
        try:
            used = self.known(written if version is None else min(written, version))
        except UnknownVersionError as error:
            raise at_zero(error) from None
        body, end = codec(self.message, used).read(data, INT16.size)
        return written, {self.leading_name: written, **body}, end

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        body = dict(value)
        written = body.pop(self.leading_name, None)
        if not isinstance(written, int) or not -1 < written <= 0x7FFF:
            raise UnencodableError(f"version: {written!r:.60} is no version")
        out = bytearray(INT16.pack(written))
        codec(self.message, self.known(written)).write(out, body)
        return bytes(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unversioned(Layout):
    """The message alone; its version is given from outside: requests and answers without their headers, user data.

    Where it is not given, the versions are tried, the newest first: the one that reads to the last byte, or, where
    bytes ``appends``, the first that can be read at all, as Kafka's assignors do. Where none does, the one that
    comes farthest.
    """

    declared: Callable[[], Message]
    """Gives the message; asked when it is first needed, since making those of requests takes a while."""
    appends: bool = False
    has_versions: bool = True
    """Whether users give a version of it; a kind with only one layout has none."""

    @property
    def message(self) -> Message:
        return self.declared()

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(self.message.versions) if self.has_versions else ()

    @property
    def older_read_it(self) -> bool:
        # Requests and answers are only ever sent in a version that both sides know.
        return self.appends

    def body_at(self, leading: int) -> tuple[Struct, Form]:
        raise UnknownVersionError(f"the bytes of {self.message.name} do not tell their version")

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = self.message.name
        used = self.used(walk.data, version)
        codec(self.message, used)
        listing.version = used if self.has_versions else None
        listing.read = walk.message(self.message, used, 0, listing.fields)

    def used(self, data: bytes, version: int | None) -> int:
        """The version to read with, given or not."""
        if not self.has_versions:
            return self.message.newest
        return self.fitting(data) if version is None else version

    def fitting(self, data: bytes) -> int:
        """The version to read with if none is given."""
        farthest, best = -1, self.message.newest
        for version in self.versions[::-1] if len(data) <= MOST_TRIED_BYTES else ():
            try:
                end = codec(self.message, version).read(data, 0)[1]
            except RecordError as error:
                end = error.offset or 0
            else:
                if end == len(data) or self.appends:
                    return version
            if end > farthest:
                farthest, best = end, version
        return best

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        used = self.used(data, version)
        body, end = codec(self.message, used).read(data, 0)
        return used if self.has_versions else None, body, end

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        out = bytearray()
        codec(self.message, self.message.newest if version is None else version).write(out, dict(value))
        return bytes(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKey(Layout):
    """An int16 type and the key's fields."""

    leading_name = "type"

    def body_at(self, leading: int) -> tuple[Struct, Form]:
        message = self.message(leading)
        return message.body, message.form(0)

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
            raise walk.refuse(listing.fields, listing.fields[0], error) from None
        listing.message = listing.fields[0].message = message.name
        listing.read = walk.message(message, 0, INT16.size, listing.fields)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        number = leading_int16(data, "a type")
        try:
            message = self.message(number)
        except UnknownVersionError as error:
            raise at_zero(error) from None
        body, end = codec(message, 0).read(data, INT16.size)
        return None, {"type": number, **body}, end

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        body = dict(value)
        number = body.pop("type", None)
        if not isinstance(number, int) or number not in RECORD_TYPES:
            raise UnencodableError(f"type: records of type {number!r:.60} are not known here")
        out = bytearray(INT16.pack(number))
        codec(self.message(number), 0).write(out, body)
        return bytes(out)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfVersioned(Layout):
    """A message whose first field is its version, an int32: what Kafka Streams puts into user data.

    ``message`` returns which declaration a version is read with, and as which version of it; ``decode`` and ``encode``
    know what else has to be right.
    """

    message: Callable[[int], tuple[Message, int]]
    known: range
    decode: Callable[[bytes], tuple[Fields, int]]
    encode: Callable[[Mapping[str, Value]], bytes]
    appends: bool = True

    @property
    def versions(self) -> tuple[int, ...]:
        return tuple(self.known)

    leading_name = "version"
    # Members of Kafka Streams write the version that all of them know: nobody who knows an older one reads it.

    def body_at(self, leading: int) -> tuple[Struct, Form]:
        message, used = self.message(leading)
        codec(message, used)
        return message.body, message.form(used)

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        if len(walk.data) < INT32.size:
            short = TruncatedError("a version", needed=INT32.size, left=len(walk.data), offset=0)
            raise walk.fail(walk.node(listing.fields, self.leading_name, "int32", 0), short)
        listing.version = INT32.unpack_from(walk.data)[0]
        try:
            message, used = self.message(listing.version)
            codec(message, used)
        except RecordError as error:
            first = walk.node(listing.fields, self.leading_name, "int32", 0, value=listing.version)
            first.length = INT32.size
            raise walk.refuse(listing.fields, first, error) from None
        listing.message = message.name
        listing.read = walk.message(message, used, 0, listing.fields)
        try:
            self.decode(walk.data)
        except RecordError as error:
            # The fields can be read, and yet Kafka refuses them together.
            rest = walk.node(listing.fields, REST, "bytes", listing.read)
            raise walk.fail(rest, error) from None

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        value, end = self.decode(data)
        return value["version"], value, end

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        return self.encode(value)


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
