"""Readers of structs and lists, compiled from a schema for one version.

Neighbouring integers are read by one ``struct`` call; a list of integers likewise.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import itemgetter

from groups.wire.codecs.java_strings import read_chars, read_modified_utf8
from groups.wire.codecs.primitives import (
    LengthReader,
    Reader,
    bytes_reader,
    read_compact_length,
    read_int16_length,
    read_int32_length,
    read_unsigned_varint,
    read_uuid,
    string_reader,
    take,
    to_base64,
)
from groups.wire.codecs.schema import (
    HIGHEST_TAG,
    UNKNOWN_TAGS,
    Array,
    Field,
    FieldType,
    Form,
    Primitive,
    Struct,
)
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import MalformedError, RecordError, TruncatedError


def _read_count(form: Form) -> LengthReader:
    return read_compact_length if form.flexible else read_int32_length


def _read_string_length(form: Form) -> LengthReader:
    return read_compact_length if form.flexible else read_int16_length


def value_reader(type_: FieldType, form: Form, *, nullable: bool) -> Reader:
    """The reader of one value that does not stand in a tagged section."""
    match type_:
        case Struct():
            read = struct_reader(type_, form)
            return _nullable_struct_reader(read) if nullable else read
        case Array():
            return _array_reader(type_, form, nullable=nullable)
        case Primitive.STRING:
            return string_reader(_read_string_length(form), nullable=nullable)
        case Primitive.PLAIN_STRING:
            return string_reader(read_int16_length, nullable=nullable)
        case Primitive.BYTES:
            return bytes_reader(_read_count(form), nullable=nullable)
        case Primitive.UUID:
            return read_uuid
        case Primitive.MODIFIED_UTF8:
            return read_modified_utf8
        case Primitive.CHARS:
            return read_chars
        case _:
            return _integer_reader(type_)


def _integer_reader(type_: Primitive) -> Reader:
    layout = struct.Struct(f">{type_.struct_code}")
    unpack, size = layout.unpack_from, layout.size

    def read(data: bytes, at: int) -> tuple[int, int]:
        try:
            return unpack(data, at)[0], at + size
        except struct.error:
            raise _cut_short(type_.name.lower(), size, data, at) from None

    return read


def _integers_reader(fields: Iterable[Field]) -> Reader:
    """Neighbouring integers at once; the value is a tuple."""
    layout = struct.Struct(">" + "".join(field.type.struct_code for field in fields))  # type: ignore[union-attr, misc]
    unpack, size = layout.unpack_from, layout.size

    def read(data: bytes, at: int) -> tuple[tuple[int, ...], int]:
        try:
            return unpack(data, at), at + size
        except struct.error:
            raise _cut_short("a row of integers", size, data, at) from None

    return read


def _nullable_struct_reader(read: Reader) -> Reader:
    """A struct that may be null begins with a byte of its own: negative for null."""

    def read_nullable(data: bytes, at: int) -> tuple[Value, int]:
        mark, start = take(data, at, 1, "the mark of a struct that may be null")
        return (None, start) if mark[0] > 0x7F else read(data, start)

    return read_nullable


def _tagged_reader(field: Field, form: Form) -> Reader:
    """A struct that may be null has another mark in a tagged section: an unsigned varint, 0 for null."""
    if not isinstance(field.type, Struct) or not field.is_nullable_in(form.version):
        return value_reader(field.type, form, nullable=field.is_nullable_in(form.version))
    read = value_reader(field.type, form, nullable=False)

    def read_nullable(data: bytes, at: int) -> tuple[Value, int]:
        mark, start = read_unsigned_varint(data, at)
        return (None, start) if mark == 0 else read(data, start)

    return read_nullable


def _array_reader(array: Array, form: Form, *, nullable: bool) -> Reader:
    read_count = _read_count(form)
    most = array.most
    code = array.of.struct_code if isinstance(array.of, Primitive) else None
    width = struct.calcsize(f">{code}") if code else 1
    read_element = None if code else value_reader(array.of, form, nullable=False)

    def read(data: bytes, at: int) -> tuple[list[Value] | None, int]:
        count, end = read_count(data, at)
        if count < 0:
            if nullable and count == -1:
                return None, end
            raise MalformedError(f"a list of {count} elements", offset=at)
        if count > most:
            raise MalformedError(f"a list of {count:,} elements; {most:,} at most are read", offset=at)
        # Every element has at least `width` bytes, so a count that cannot be true is refused before it costs.
        if count * width > len(data) - end:
            raise TruncatedError(f"a list of {count}", needed=count * width, left=len(data) - end, offset=end)
        if read_element is None:
            return list(struct.unpack_from(f">{count}{code}", data, end)), end + count * width
        elements = []
        index = 0
        try:
            for index in range(count):  # noqa: B007 (the handler reports it)
                element, end = read_element(data, end)
                elements.append(element)
        except RecordError as error:
            error.inside(str(index))
            raise
        return elements, end

    return read


def struct_reader(body: Struct, form: Form, *, whole: bool = True) -> Reader:
    """Reads a struct into a dict; without ``whole`` it stops behind the last declared field, before any tags."""
    steps: list[tuple[str | None, tuple[str, ...], Reader]] = []
    for plain, group in groupby(body.in_version(form.version), key=_is_plain_integer):
        fields = list(group)
        if plain and len(fields) > 1:
            steps.append((None, tuple(field.name for field in fields), _integers_reader(fields)))
            continue
        for field in fields:
            nullable = field.is_nullable_in(form.version)
            steps.append((field.name, (field.name,), value_reader(field.type, form, nullable=nullable)))
    row = tuple(steps)
    read_tags = _tags_reader(body, form) if form.flexible and whole else None

    def read(data: bytes, at: int) -> tuple[Fields, int]:
        out: Fields = {}
        name: str | None = None
        names: tuple[str, ...] = ()
        try:
            for name, names, read_field in row:
                if name is None:
                    values, at = read_field(data, at)
                    out.update(zip(names, values, strict=True))
                else:
                    out[name], at = read_field(data, at)
        except RecordError as error:
            error.inside(name or names[0])
            raise
        if read_tags is not None:
            # No tagged field at all is by far the commonest case: one zero byte.
            at = at + 1 if at < len(data) and not data[at] else read_tags(data, at, out)
        return out, at

    return read


def _is_plain_integer(field: Field) -> bool:
    return isinstance(field.type, Primitive) and field.type.struct_code is not None


TagsReader = Callable[[bytes, int, Fields], int]
"""Reads a tagged section into the fields that were read before it; where the section ends."""


def _tags_reader(body: Struct, form: Form) -> TagsReader:
    known = {
        field.tag: (
            field.name,
            _tagged_reader(field, form),
            field.tagged_default,
        )
        for field in body.tagged_in_version(form.version)
    }

    def read(data: bytes, at: int, out: Fields) -> int:
        count, at = read_unsigned_varint(data, at)
        if count * 2 > len(data) - at:
            raise TruncatedError(f"{count} tagged fields", needed=count * 2, left=len(data) - at, offset=at)
        unknown = []
        for _ in range(count):
            tag, after = read_unsigned_varint(data, at)
            if tag > HIGHEST_TAG:
                raise MalformedError(f"tag {tag}; the highest is {HIGHEST_TAG}", offset=at)
            size, at = read_unsigned_varint(data, after)
            raw, end = take(data, at, size, f"tagged field {tag}")
            if tag not in known:
                unknown.append({"tag": tag, "data": to_base64(raw)})
            else:
                name, read_field, default = known[tag]
                try:
                    # Read from its own bytes alone, so that it cannot reach into what follows it.
                    value, length = read_field(raw, 0)
                except RecordError as error:
                    error.offset = at if error.offset is None else at + error.offset
                    error.inside(name)
                    raise
                if length != size:
                    raise MalformedError(f"{name} has {size} bytes and uses {length} of them", offset=at)
                if value != default:
                    out[name] = value
                else:
                    # A tag that is there twice: the last one counts, as in Kafka.
                    out.pop(name, None)
            at = end
        if unknown:
            # Kafka takes them in any order and writes them in rising order alone.
            out[UNKNOWN_TAGS] = sorted(unknown, key=itemgetter("tag"))
        return at

    return read


def _cut_short(what: str, size: int, data: bytes, at: int) -> TruncatedError:
    return TruncatedError(what, needed=size, left=max(len(data) - at, 0), offset=at)
