"""Writers of structs and lists, compiled from a schema for one version."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from groups.wire.codecs.java_strings import write_chars, write_modified_utf8
from groups.wire.codecs.primitives import (
    LengthWriter,
    Writer,
    bytes_writer,
    from_base64,
    string_writer,
    write_bool,
    write_compact_length,
    write_int16_length,
    write_int32_length,
    write_unsigned_varint,
    write_uuid,
)
from groups.wire.codecs.schema import (
    HIGHEST_TAG,
    UNKNOWN_TAGS,
    Array,
    Field,
    FieldType,
    Form,
    Primitive,
    Required,
    Struct,
)
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import RecordError, UnencodableError


def _write_count(form: Form) -> LengthWriter:
    return write_compact_length if form.flexible else write_int32_length


def _write_string_length(form: Form) -> LengthWriter:
    return write_compact_length if form.flexible else write_int16_length


def _writer(type_: FieldType, form: Form, *, nullable: bool) -> Writer:
    match type_:
        case Struct():
            write = struct_writer(type_, form)
            return _nullable_struct_writer(write) if nullable else write
        case Array():
            return _array_writer(type_, form, nullable=nullable)
        case Primitive.STRING:
            return string_writer(_write_string_length(form), nullable=nullable)
        case Primitive.PLAIN_STRING:
            return string_writer(write_int16_length, nullable=nullable)
        case Primitive.BYTES:
            return bytes_writer(_write_count(form), nullable=nullable)
        case Primitive.UUID:
            return write_uuid
        case Primitive.MODIFIED_UTF8:
            return write_modified_utf8
        case Primitive.CHARS:
            return write_chars
        case Primitive.BOOL:
            return write_bool
        case _:
            return _integer_writer(type_)


def _integer_writer(type_: Primitive) -> Writer:
    pack = struct.Struct(f">{type_.struct_code}").pack

    def write(out: bytearray, value: Value) -> None:
        try:
            out += pack(value)
        except struct.error:
            raise UnencodableError(f"{value!r:.60} is not {_article(type_)}") from None

    return write


def _article(type_: Primitive) -> str:
    name = type_.name.lower()
    return f"an {name}" if name.startswith("i") else f"a {name}"


def _nullable_struct_writer(write: Writer) -> Writer:
    def write_nullable(out: bytearray, value: Value) -> None:
        if value is None:
            out.append(0xFF)
        else:
            out.append(1)
            write(out, value)

    return write_nullable


def _tagged_writer(field: Field, form: Form) -> Writer:
    """A struct that may be null has another mark in a tagged section: an unsigned varint, 0 for null."""
    if not isinstance(field.type, Struct) or not field.is_nullable_in(form.version):
        return _writer(field.type, form, nullable=field.is_nullable_in(form.version))
    write = _writer(field.type, form, nullable=False)

    def write_nullable(out: bytearray, value: Value) -> None:
        write_unsigned_varint(out, 0 if value is None else 1)
        if value is not None:
            write(out, value)

    return write_nullable


def _array_writer(array: Array, form: Form, *, nullable: bool) -> Writer:
    write_count = _write_count(form)
    write_element = _writer(array.of, form, nullable=False)

    def write(out: bytearray, value: Value) -> None:
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


def struct_writer(body: Struct, form: Form) -> Writer:
    """Writes a dict as a struct; ``UnencodableError`` for a field that is missing, unknown, or does not fit."""
    fixed = tuple(
        (field.name, _writer(field.type, form, nullable=field.is_nullable_in(form.version)), field.default)
        for field in body.in_version(form.version)
    )
    tagged = tuple(
        (
            field.name,
            field.tag,
            _tagged_writer(field, form),
            field.tagged_default,
        )
        for field in body.tagged_in_version(form.version)
    )
    allowed = {name for name, *_ in fixed} | {name for name, *_ in tagged}
    if form.flexible:
        allowed.add(UNKNOWN_TAGS)

    def write(out: bytearray, value: Value) -> None:
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


def _write_tags(out: bytearray, value: Fields, tagged: Iterable[tuple[str, Value, Writer, Value]]) -> None:
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


def _tag(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= HIGHEST_TAG:
        raise UnencodableError(f"{value!r:.60} is not a tag")
    return value
