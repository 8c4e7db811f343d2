"""Compiles a schema into a reader and a writer for one version.

All decisions that a schema allows (which fields, which lengths, null or not) are taken once, here; what remains at
run time is a row of closures. Neighbouring integers are read by one ``struct`` call.

``codec(message, version)`` gives a ``Codec``: ``read(data, at) -> (dict, end)`` and ``write(out, dict)``. Dicts are
in Kafka's JSON form; a tagged field at its default is left out, tagged fields that the schema does not know are
kept, in the struct where they stood, as ``"_unknownTaggedFields": [{"tag": n, "data": base64}]``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any, Final

from groups.wire.errors import (
    MalformedError,
    RecordError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.primitives import (
    LengthReader,
    LengthWriter,
    Reader,
    Writer,
    bytes_reader,
    bytes_writer,
    from_base64,
    read_compact_length,
    read_int16_length,
    read_int32_length,
    read_unsigned_varint,
    read_uuid,
    string_reader,
    string_writer,
    take,
    to_base64,
    write_compact_length,
    write_int16_length,
    write_int32_length,
    write_unsigned_varint,
    write_uuid,
)
from groups.wire.schema import Array, Field, FieldType, Message, Primitive, Required, Struct

UNKNOWN_TAGS: Final = "_unknownTaggedFields"
"""Where tagged fields that the schema does not know are kept, so that encoding gives the same bytes again."""

HIGHEST_TAG: Final = 0x7FFF_FFFF


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
            f"{message.name} has no version {version} here; known are 0 to {message.newest}"
        )
    form = _Form(version=version, flexible=message.is_flexible_in(version))
    return Codec(
        name=message.name,
        version=version,
        read=_struct_reader(message.body, form),
        write=_struct_writer(message.body, form),
    )


@cache
def prefix_reader(message: Message) -> Reader:
    """Reads the fields that ``message`` declares, and stops there: the tagged section and whatever else may follow
    belong to parts of the message that are not declared. For messages of which only the beginning is wanted."""
    return _struct_reader(message.body, _Form(version=0, flexible=message.is_flexible_in(0)), whole=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What the version decides for every field: which there are, and which lengths they have."""

    version: int
    flexible: bool

    @property
    def read_count(self) -> LengthReader:
        return read_compact_length if self.flexible else read_int32_length

    @property
    def write_count(self) -> LengthWriter:
        return write_compact_length if self.flexible else write_int32_length

    @property
    def read_string_length(self) -> LengthReader:
        return read_compact_length if self.flexible else read_int16_length

    @property
    def write_string_length(self) -> LengthWriter:
        return write_compact_length if self.flexible else write_int16_length


# Reading


def _reader(type_: FieldType, form: _Form, *, nullable: bool) -> Reader:
    match type_:
        case Struct():
            read = _struct_reader(type_, form)
            return _nullable_struct_reader(read) if nullable else read
        case Array():
            return _array_reader(type_, form, nullable=nullable)
        case Primitive.STRING:
            return string_reader(form.read_string_length, nullable=nullable)
        case Primitive.BYTES:
            return bytes_reader(form.read_count, nullable=nullable)
        case Primitive.UUID:
            return read_uuid
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

    def read_nullable(data: bytes, at: int) -> tuple[Any, int]:
        mark, start = take(data, at, 1, "the mark of a struct that may be null")
        return (None, start) if mark[0] > 0x7F else read(data, start)

    return read_nullable


def _array_reader(array: Array, form: _Form, *, nullable: bool) -> Reader:
    read_count = form.read_count
    code = array.of.struct_code if isinstance(array.of, Primitive) else None
    width = struct.calcsize(f">{code}") if code else 1
    read_element = None if code else _reader(array.of, form, nullable=False)

    def read(data: bytes, at: int) -> tuple[list[Any] | None, int]:
        count, end = read_count(data, at)
        if count < 0:
            if nullable and count == -1:
                return None, end
            raise MalformedError(f"a list of {count} elements", offset=at)
        # Every element has at least `width` bytes, so a count that cannot be true is refused before it costs.
        if count * width > len(data) - end:
            raise TruncatedError(f"a list of {count}", needed=count * width, left=len(data) - end, offset=end)
        if read_element is None:
            return list(struct.unpack_from(f">{count}{code}", data, end)), end + count * width
        elements = []
        index = 0
        try:
            for index in range(count):  # noqa: B007 (told by the handler)
                element, end = read_element(data, end)
                elements.append(element)
        except RecordError as error:
            error.inside(str(index))
            raise
        return elements, end

    return read


def _struct_reader(body: Struct, form: _Form, *, whole: bool = True) -> Reader:
    steps: list[tuple[str | None, tuple[str, ...], Reader]] = []
    for plain, group in groupby(body.in_version(form.version), key=_is_plain_integer):
        fields = list(group)
        if plain and len(fields) > 1:
            steps.append((None, tuple(field.name for field in fields), _integers_reader(fields)))
            continue
        for field in fields:
            nullable = field.is_nullable_in(form.version)
            steps.append((field.name, (field.name,), _reader(field.type, form, nullable=nullable)))
    row = tuple(steps)
    read_tags = _tags_reader(body, form) if form.flexible and whole else None

    def read(data: bytes, at: int) -> tuple[dict[str, Any], int]:
        out: dict[str, Any] = {}
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


def _tags_reader(body: Struct, form: _Form) -> Any:
    known = {
        field.tag: (
            field.name,
            _reader(field.type, form, nullable=field.is_nullable_in(form.version)),
            field.tagged_default,
        )
        for field in body.tagged_in_version(form.version)
    }

    def read(data: bytes, at: int, out: dict[str, Any]) -> int:
        count, at = read_unsigned_varint(data, at)
        if count * 2 > len(data) - at:
            raise TruncatedError(f"{count} tagged fields", needed=count * 2, left=len(data) - at, offset=at)
        unknown = []
        for _ in range(count):
            tag, at = read_unsigned_varint(data, at)
            size, at = read_unsigned_varint(data, at)
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
            at = end
        if unknown:
            out[UNKNOWN_TAGS] = unknown
        return at

    return read


def _cut_short(what: str, size: int, data: bytes, at: int) -> TruncatedError:
    return TruncatedError(what, needed=size, left=max(len(data) - at, 0), offset=at)


# Writing


def _writer(type_: FieldType, form: _Form, *, nullable: bool) -> Writer:
    match type_:
        case Struct():
            write = _struct_writer(type_, form)
            return _nullable_struct_writer(write) if nullable else write
        case Array():
            return _array_writer(type_, form, nullable=nullable)
        case Primitive.STRING:
            return string_writer(form.write_string_length, nullable=nullable)
        case Primitive.BYTES:
            return bytes_writer(form.write_count, nullable=nullable)
        case Primitive.UUID:
            return write_uuid
        case _:
            return _integer_writer(type_)


def _integer_writer(type_: Primitive) -> Writer:
    pack = struct.Struct(f">{type_.struct_code}").pack

    def write(out: bytearray, value: Any) -> None:
        try:
            out += pack(value)
        except struct.error:
            raise UnencodableError(f"{value!r:.60} is not an {type_.name.lower()}") from None

    return write


def _nullable_struct_writer(write: Writer) -> Writer:
    def write_nullable(out: bytearray, value: Any) -> None:
        if value is None:
            out.append(0xFF)
        else:
            out.append(1)
            write(out, value)

    return write_nullable


def _array_writer(array: Array, form: _Form, *, nullable: bool) -> Writer:
    write_count = form.write_count
    write_element = _writer(array.of, form, nullable=False)

    def write(out: bytearray, value: Any) -> None:
        if value is None and nullable:
            write_count(out, -1)
            return
        if not isinstance(value, list | tuple):
            raise UnencodableError(f"{value!r:.60} is not a list")
        write_count(out, len(value))
        for index, element in enumerate(value):
            try:
                write_element(out, element)
            except RecordError as error:
                error.inside(str(index))
                raise

    return write


def _struct_writer(body: Struct, form: _Form) -> Writer:
    fixed = tuple(
        (field.name, _writer(field.type, form, nullable=field.is_nullable_in(form.version)), field.default)
        for field in body.in_version(form.version)
    )
    tagged = tuple(
        (
            field.name,
            field.tag,
            _writer(field.type, form, nullable=field.is_nullable_in(form.version)),
            field.tagged_default,
        )
        for field in body.tagged_in_version(form.version)
    )
    allowed = {name for name, *_ in fixed} | {name for name, *_ in tagged}
    if form.flexible:
        allowed.add(UNKNOWN_TAGS)

    def write(out: bytearray, value: Any) -> None:
        if not isinstance(value, dict):
            raise UnencodableError(f"{value!r:.60} is not an object with fields")
        if not value.keys() <= allowed:
            strange = sorted(map(str, value.keys() - allowed))[0]
            raise UnencodableError(f"version {form.version} has no field {strange!r:.60}")
        name = ""
        try:
            for name, write_field, default in fixed:
                given = value.get(name, default)
                if given is Required.REQUIRED:
                    raise UnencodableError("the field is missing")
                write_field(out, given)
        except RecordError as error:
            error.inside(name)
            raise
        if form.flexible:
            _write_tags(out, value, tagged)

    return write


def _write_tags(
    out: bytearray, value: dict[str, Any], tagged: Iterable[tuple[str, Any, Writer, Any]]
) -> None:
    present: list[tuple[int, bytes]] = []
    for name, tag, write_field, default in tagged:
        if (given := value.get(name, default)) == default:
            continue
        raw = bytearray()
        try:
            write_field(raw, given)
        except RecordError as error:
            error.inside(name)
            raise
        present.append((tag, bytes(raw)))
    try:
        present += [
            (_tag(unknown["tag"]), from_base64(unknown["data"])) for unknown in value.get(UNKNOWN_TAGS, ())
        ]
    except (KeyError, TypeError, RecordError):
        raise UnencodableError(
            f"{UNKNOWN_TAGS} is not a list of objects with a tag and data in base64"
        ) from None
    # Kafka writes tags in rising order and refuses to write any other.
    present.sort(key=lambda pair: pair[0])
    write_unsigned_varint(out, len(present))
    for tag, field_bytes in present:
        write_unsigned_varint(out, tag)
        write_unsigned_varint(out, len(field_bytes))
        out += field_bytes


def _tag(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value <= HIGHEST_TAG:
        raise UnencodableError(f"{value!r:.60} is not a tag")
    return value
