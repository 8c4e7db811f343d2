"""The listing of a message's fields, walked along the same declaration that its reader is compiled from.

A walk takes the same decisions as ``groups.wire.codecs.struct_readers`` and reads each leaf by the compiled reader itself;
what it adds is where everything is. It ends at the first fault: what was read stays, and the node that failed
takes all bytes that are left around it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from groups.wire.codecs.primitives import (
    Reader,
    from_base64,
    read_compact_length,
    read_int32_length,
    read_unsigned_varint,
    take,
    to_base64,
)
from groups.wire.codecs.schema import (
    HIGHEST_TAG,
    NEVER,
    Array,
    Field,
    FieldType,
    Form,
    Message,
    Primitive,
    Struct,
)
from groups.wire.codecs.struct_readers import struct_reader
from groups.wire.codecs.values import Value
from groups.wire.errors import MalformedError, RecordError, TruncatedError
from groups.wire.inspection.nodes import REST, TAG_COUNT, UNKNOWN_TAG, Node, Problem

MOST_NODES: Final = 50_000
"""Fields in one listing, about 8 MB of JSON: a classic group of 2,000 members. Where a listing comes to that many,
the elements of a list that are left are shown as one value."""

MOST_BYTES: Final = 2 * 1024 * 1024
"""Bytes that are listed field by field at once. Brokers take records of 1 MB unless configured otherwise; a longer segment
is read batch by batch. Made of nothing but empty elements, as many take a few seconds."""

MOST_TRIED_BYTES: Final = 64 * 1024
"""Up to here the versions of a request are tried one after the other where none is given; above it is the newest. With
all versions of all of them, bytes that hold nothing but small numbers would cost seconds."""

MOST_TAGS: Final = 1_000
"""Tagged fields of one struct that are listed one by one; Kafka's messages have a handful."""


class Stopped(Exception):
    """The walk came to a fault; the nodes so far are complete."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.sentence)
        self.problem = problem


class Walk:
    """One walk over one stretch of bytes.

    ``base`` is where the stretch begins in the outermost bytes, which is what offsets are counted from. ``budget``
    is a list of one number, shared with the walks of blobs inside: how many nodes may still be made.
    """

    def __init__(self, data: bytes, base: int = 0, budget: list[int] | None = None) -> None:
        self.data = data
        self.base = base
        self.budget = [MOST_NODES] if budget is None else budget

    def node(self, into: list[Node], name: str, type_: str, at: int, **facts: Value) -> Node:
        self.budget[0] -= 1
        node = Node(name=name, type=type_, offset=self.base + at, **facts)
        into.append(node)
        return node

    def fail(self, node: Node, error: RecordError) -> Stopped:
        """The node takes all bytes that are left, and the fault."""
        node.length = len(self.data) - (node.offset - self.base)
        offset = node.offset if error.offset is None else self.base + error.offset
        node.problem = Problem(sentence=error.sentence, offset=offset)
        return Stopped(node.problem)

    def refuse(self, into: list[Node], node: Node, error: RecordError) -> Stopped:
        """The node was read and its value is the fault; the bytes behind it, of which nothing is known, stay bytes."""
        node.problem = Problem(sentence=error.sentence, offset=node.offset)
        end = node.end - self.base
        if end < len(self.data):
            rest = self.node(into, REST, "bytes", end, value=to_base64(self.data[end:]))
            rest.length = len(self.data) - end
        return Stopped(node.problem)

    def message(self, message: Message, version: int, at: int, into: list[Node]) -> int:
        """The message's fields from ``at`` on; returns where they end. ``Stopped`` at a fault."""
        first = len(into)
        try:
            return self.struct(message.body, message.form(version), at, into)
        finally:
            for node in into[first:]:
                _declared_by(node, message.name)

    def struct(self, body: Struct, form: Form, at: int, into: list[Node]) -> int:
        for each in body.in_version(form.version):
            at = self.field(each, form, at, into)
        return self.tags(body, form, at, into) if form.flexible else at

    def field(self, field: Field, form: Form, at: int, into: list[Node]) -> int:
        nullable = field.is_nullable_in(form.version)
        node = self.node(
            into,
            field.name,
            type_name(field.type, nullable=nullable),
            at,
            since=field.since,
            until=field.until,
        )
        return self.fill(node, field.type, form, at, nullable=nullable)

    def fill(
        self, node: Node, type_: FieldType, form: Form, at: int, *, nullable: bool, start: int = -1
    ) -> int:
        """Reads what is at ``at`` into the node, which may have begun at ``start`` already."""
        begin = at if start < 0 else start
        try:
            match type_:
                case Struct():
                    end = self.fill_struct(node, type_, form, at, nullable=nullable)
                case Array() if not is_integer(type_.of):
                    end = self.fill_array(node, type_, form, at, nullable=nullable)
                case _:
                    end = self.fill_leaf(node, type_, form, at, nullable=nullable)
        except RecordError as error:
            raise self.fail(node, error) from None
        except Stopped:
            node.length = len(self.data) - begin
            raise
        node.prefix += at - begin
        node.length = end - begin
        return end

    def fill_leaf(self, node: Node, type_: FieldType, form: Form, at: int, *, nullable: bool) -> int:
        assert not isinstance(type_, Struct)
        value, end = _leaf_reader(type_, form.flexible, nullable)(self.data, at)
        node.value = value["value"]
        node.prefix = _prefix(type_, node.value, end - at)
        return end

    def fill_struct(self, node: Node, body: Struct, form: Form, at: int, *, nullable: bool) -> int:
        if nullable:
            mark, at = take(self.data, at, 1, "the mark of a struct that may be null")
            node.prefix = 1
            if mark[0] > 0x7F:
                node.value = None
                return at
        node.fields = []
        return self.struct(body, form, at, node.fields)

    def fill_array(self, node: Node, array: Array, form: Form, at: int, *, nullable: bool) -> int:
        count, end = (read_compact_length if form.flexible else read_int32_length)(self.data, at)
        node.prefix = end - at
        if count < 0:
            if nullable and count == -1:
                node.value = None
                return end
            raise MalformedError(f"a list of {count} elements", offset=at)
        left = len(self.data) - end
        if count > left:
            raise TruncatedError(f"a list of {count}", needed=count, left=left, offset=end)
        node.fields = []
        element = type_name(array.of)
        for index in range(count):
            if self.budget[0] <= 0:
                return self.fold(node.fields, array.of, form, end, index, count)
            inner = self.node(node.fields, str(index), element, end)
            end = self.fill(inner, array.of, form, end, nullable=False)
        return end

    def fold(self, into: list[Node], type_: FieldType, form: Form, at: int, first: int, count: int) -> int:
        """The elements from ``first`` on as one value: the listing has as many nodes as it may."""
        name = f"{first}…{count - 1}" if first < count - 1 else str(first)
        node = Node(name=name, type=f"array {type_name(type_)}", offset=self.base + at, value=[])
        into.append(node)
        read = struct_reader(Struct((Field("value", type_),)), form, whole=False)
        end = at
        try:
            for _ in range(first, count):
                value, end = read(self.data, end)
                node.value.append(value["value"])
        except RecordError as error:
            raise self.fail(node, error) from None
        node.length = end - at
        node.meaning = f"{count - first} elements, not listed field by field"
        return end

    def tags(self, body: Struct, form: Form, at: int, into: list[Node]) -> int:
        """The tagged section: a node for its count, and one for each tagged field."""
        head = self.node(into, TAG_COUNT, "count", at)
        try:
            count, end = read_unsigned_varint(self.data, at)
            left = len(self.data) - end
            if count * 2 > left:
                raise TruncatedError(f"{count} tagged fields", needed=count * 2, left=left, offset=end)
            if count > MOST_TAGS:
                raise MalformedError(f"{count} tagged fields; at most {MOST_TAGS} are listed", offset=at)
        except RecordError as error:
            raise self.fail(head, error) from None
        head.value, head.length = count, end - at
        known = {field.tag: field for field in body.tagged_in_version(form.version)}
        for _ in range(count):
            end = self.tagged(known, form, end, into)
        return end

    def tagged(self, known: dict[int | None, Field], form: Form, at: int, into: list[Node]) -> int:
        node = self.node(into, UNKNOWN_TAG, "bytes", at)
        try:
            tag, start = read_unsigned_varint(self.data, at)
            if tag > HIGHEST_TAG:
                raise MalformedError(f"tag {tag}; the highest is {HIGHEST_TAG}", offset=at)
            node.name, node.tag = f"{UNKNOWN_TAG}{tag}", tag
            size, start = read_unsigned_varint(self.data, start)
            raw, end = take(self.data, start, size, f"tagged field {tag}")
        except RecordError as error:
            raise self.fail(node, error) from None
        node.length = end - at
        if tag not in known:
            node.value, node.prefix = to_base64(raw), start - at
            return end
        field = known[tag]
        nullable = field.is_nullable_in(form.version)
        node.name, node.type = field.name, type_name(field.type, nullable=nullable)
        node.since, node.until = field.since, field.until
        # Read from its own bytes alone, so that it cannot reach into what follows it.
        inside = Walk(raw, self.base + start, self.budget)
        try:
            read = inside.tagged_value(node, field, form, nullable=nullable)
        except Stopped:
            node.offset, node.length = self.base + at, len(self.data) - at
            raise
        node.offset, node.length = self.base + at, end - at
        node.prefix += start - at
        if read != size:
            short = MalformedError(f"{field.name} has {size} bytes and uses {read} of them", offset=start)
            raise self.fail(node, short)
        return end

    def tagged_value(self, node: Node, field: Field, form: Form, *, nullable: bool) -> int:
        """A struct that may be null has another mark in a tagged section: an unsigned varint, 0 for null."""
        node.offset = self.base
        if not isinstance(field.type, Struct) or not nullable:
            return self.fill(node, field.type, form, 0, nullable=nullable)
        try:
            mark, start = read_unsigned_varint(self.data, 0)
        except RecordError as error:
            raise self.fail(node, error) from None
        if mark == 0:
            node.value, node.prefix = None, start
            return start
        return self.fill(node, field.type, form, start, nullable=False, start=0)


def type_name(type_: FieldType, *, nullable: bool = False) -> str:
    """``int32``, ``string?``, ``array int32``, ``struct``: a question mark where null is allowed."""
    match type_:
        case Struct():
            name = "struct"
        case Array(of=Struct()):
            name = "array"
        case Array(of=of):
            name = f"array {type_name(of)}"
        case Primitive.CHARS:
            return "string?"
        case Primitive.PLAIN_STRING | Primitive.MODIFIED_UTF8:
            name = "string"
        case Primitive():
            name = type_.name.lower()
    return f"{name}?" if nullable else name


def is_integer(type_: FieldType) -> bool:
    return isinstance(type_, Primitive) and type_.struct_code is not None


@cache
def _leaf_reader(type_: Primitive | Array, flexible: bool, nullable: bool) -> Reader:
    """The compiled reader of one field, which gives ``{"value": …}``."""
    field = Field("value", type_, nullable_since=0 if nullable else NEVER)
    return struct_reader(Struct((field,)), Form(version=0, flexible=flexible), whole=False)


def _prefix(type_: Primitive | Array, value: Value, length: int) -> int:
    """The bytes of a leaf that are its length, its count or its null mark."""
    if isinstance(type_, Array):
        assert isinstance(type_.of, Primitive)
        return length - len(value or ()) * (type_.of.value[1] or 0)
    if type_ is Primitive.MODIFIED_UTF8:
        return 2
    if type_ is Primitive.CHARS:
        return 4
    if type_ in (Primitive.STRING, Primitive.PLAIN_STRING):
        return length - len((value or "").encode())
    if type_ is Primitive.BYTES:
        return length - len(from_base64(value or ""))
    return 0


def _declared_by(node: Node, message: str) -> None:
    node.message = message
    for inner in node.fields or ():
        _declared_by(inner, message)
