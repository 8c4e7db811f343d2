"""What a schema is: plain data on which fields a message has in which version.

A ``Message`` is declared once for all of its versions, in the manner of Kafka's own message definitions: a field
has since when it exists, since when it may be null, and whether it is in the tagged section. Readers and
writers are compiled from the declaration for one version at a time (``groups.wire.codecs.codec``); other users of the
same bytes (a field-by-field listing, a columnar reader) can walk the same declaration.

Field names are those of Kafka's JSON form, which is what ``kafka-dump-log`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Final

from groups.wire.codecs.values import Value

NEVER: Final = 32768
"""One more than the highest version that an int16 can name: the ``since`` of what no version has."""

HIGHEST_TAG: Final = 0x7FFF_FFFF
"""Tags are int32 in Kafka's own classes."""

ELEMENTS_MOST: Final = 0x7FFF_FFFF
"""Counts of lists are int32; bytes that are here already bound them further."""

UNKNOWN_TAGS: Final = "_unknownTaggedFields"
"""The field of the JSON form where tagged fields that the schema does not know are kept, so that encoding gives the
same bytes again."""


class Required(Enum):
    """The default of a field that has none."""

    REQUIRED = "required"


class Primitive(Enum):
    """The types that are not made of others; the value is how many bytes they take, ``None`` if that varies."""

    BOOL = ("?", 1)
    INT8 = ("b", 1)
    INT16 = ("h", 2)
    INT32 = ("i", 4)
    INT64 = ("q", 8)
    UINT16 = ("H", 2)
    UUID = ("uuid", 16)
    STRING = ("string", None)
    PLAIN_STRING = ("plain string", None)
    """A string whose length is an int16 in flexible versions too: the client id of a request's header alone, so that
    brokers of any age can read it."""
    BYTES = ("bytes", None)
    MODIFIED_UTF8 = ("modified utf8", None)
    CHARS = ("chars", None)
    """The two forms in which Java writes a string (``groups.wire.codecs.java_strings``); ``CHARS`` may be null in itself."""

    @property
    def struct_code(self) -> str | None:
        """The letter of ``struct`` for the integers and for a bool; ``None`` for the rest."""
        code = self.value[0]
        return code if len(code) == 1 else None

    @property
    def zero(self) -> Value:
        """What Kafka takes as the default where a field declares none, in JSON form."""
        if self is Primitive.UUID:
            return "A" * 22
        if self is Primitive.BOOL:
            return False
        return "" if self.value[1] is None else 0


@dataclass(frozen=True, slots=True)
class Array:
    """A list of elements of one type, ``most`` of them at most: a reader refuses a longer one before it reads an element."""

    of: FieldType
    most: int = ELEMENTS_MOST


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields that stand together, in their order on the wire."""

    fields: tuple[Field, ...]

    def in_version(self, version: int) -> Iterator[Field]:
        """The fields that stand in the fixed part at ``version``."""
        return (field for field in self.fields if field.tag is None and field.is_in(version))

    def tagged_in_version(self, version: int) -> Iterator[Field]:
        """The fields that may stand in the tagged section at ``version``."""
        return (field for field in self.fields if field.tag is not None and field.is_in(version))


FieldType = Primitive | Array | Struct


@dataclass(frozen=True, slots=True)
class Field:
    """One field, for all versions of its message.

    ``since`` and ``until`` are the first and the last version that have it, ``nullable_since`` the first in which
    it may be null. ``tag`` puts it into the tagged section. ``default`` is, in JSON form, what is written when a
    value is not given; a tagged field at its default is left out, on the wire and in the JSON form alike.
    """

    name: str
    type: FieldType
    _: KW_ONLY
    since: int = 0
    until: int = NEVER
    nullable_since: int = NEVER
    tag: int | None = None
    default: Value = Required.REQUIRED

    def is_in(self, version: int) -> bool:
        return self.since <= version <= self.until

    def is_nullable_in(self, version: int) -> bool:
        return version >= self.nullable_since

    @property
    def tagged_default(self) -> Value:
        """The value that keeps a tagged field out of the section; the type's zero where none is declared."""
        if self.default is not Required.REQUIRED:
            return self.default
        if isinstance(self.type, Array):
            return []
        assert isinstance(self.type, Primitive), "a tagged struct declares its default"
        return self.type.zero


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A declaration for every version from ``oldest`` to ``newest``; a message is equal to itself alone.

    From ``flexible_since`` on strings, bytes and arrays have compact lengths, and every struct ends with a tagged
    section (KIP-482).
    """

    name: str
    body: Struct
    _: KW_ONLY
    oldest: int = 0
    newest: int = 0
    flexible_since: int = NEVER

    @property
    def versions(self) -> range:
        return range(self.oldest, self.newest + 1)

    def knows(self, version: int) -> bool:
        return self.oldest <= version <= self.newest

    def form(self, version: int) -> Form:
        return Form(version=version, flexible=version >= self.flexible_since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a version decides for every field of a message: which there are, and which lengths they have."""

    version: int
    flexible: bool


def fields(*fields: Field) -> Struct:
    """The fields, in their order on the wire."""
    return Struct(fields)


def rows(
    name: str,
    *columns: Field,
    since: int = 0,
    until: int = NEVER,
    nullable_since: int = NEVER,
    default: Value = Required.REQUIRED,
) -> Field:
    """The field of a list of structs."""
    of = Array(Struct(columns))
    return Field(name, of, since=since, until=until, nullable_since=nullable_since, default=default)
