"""One straight function for each version of a message, which reads what is usual in it two to three times faster.

The readers of ``groups.wire.codecs.struct_readers`` say what a message means: a closure for each field, and an error that
names the field and the byte. Here the same declaration becomes the text of one function, without a call for each
field. What lies at fixed distances is one ``struct`` call: integers, ids, and the length or count that follows them.
A member's current assignment of 100 partitions is then read by a handful of calls::

    v1, v2, v3, n4 = unpack5(data, at)
    at += 10
    …

A function made here knows nothing of faults and of rare things (tags that are not declared). Where it meets one it
gives up, and the closures read the same bytes from the start: their word is the only one on what is wrong. That
costs at most the time of one more reading.

Lengths need no comparison of their own: a slice beyond the end is cut short and costs nothing, whatever is read
behind it fails, and the end is compared once, at the end. Counts are compared before a list is made of them.
"""

from __future__ import annotations

import struct
from binascii import b2a_base64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Final

from groups.wire.codecs.primitives import LONGEST_STRING, Reader, read_unsigned_varint
from groups.wire.codecs.schema import ELEMENTS_MOST, Array, Field, FieldType, Form, Primitive, Struct
from groups.wire.codecs.struct_readers import value_reader
from groups.wire.codecs.uuids import uuid_to_base64
from groups.wire.codecs.values import Value

REMEMBERED_COUNTS: Final = 1024
"""Lists of integers are read by a ``struct`` for each length of list; this many are remembered."""


class _UnusualError(Exception):
    """Something that is left to the closures."""


def fused_reader(body: Struct, form: Form, careful: Reader, name: str) -> Reader:
    """Reads as ``careful`` does, which must be ``struct_reader(body, form)``, and hands it what it cannot read."""
    made = _Function(form, careful)
    value = made.struct(body)
    made.flush()
    return made.compiled(value, f"<{name} {form.version}>")


@cache
def _unpacker(codes: str) -> Callable[[bytes, int], tuple[int, ...]]:
    return struct.Struct(codes).unpack_from


@lru_cache(maxsize=REMEMBERED_COUNTS)
def _unpacker_of_many(count: int, code: str) -> Callable[[bytes, int], tuple[int, ...]]:
    return struct.Struct(f">{count}{code}").unpack_from


def _long_length(data: bytes, at: int) -> tuple[int, int]:
    """A compact length, stored as one more, whose first byte is behind us and was not its last."""
    return read_unsigned_varint(data, at - 1)


def _long_string_length(data: bytes, at: int) -> tuple[int, int]:
    length, end = read_unsigned_varint(data, at - 1)
    if length > LONGEST_STRING + 1:
        raise _UnusualError
    return length, end


_HEAD: Final = """\
def read(data, at):
    start = at
    size = len(data)
    try:
"""
_TAIL: Final = """\
        if at > size:
            raise Unusual
        return {value}, at
    except faults:
        return careful(data, start)
"""


class _Function:
    """The text of a function while it is made, line by line, and the names that it uses."""

    def __init__(self, form: Form, careful: Reader) -> None:
        self.form = form
        self.lines: list[str] = []
        self.depth = 2
        self.names: dict[str, Value] = {
            "careful": careful,
            "faults": (_UnusualError, IndexError, ValueError, struct.error),
            "Unusual": _UnusualError,
            "long_length": _long_length,
            "long_string_length": _long_string_length,
            "unpacker_of_many": _unpacker_of_many,
            "to_base64": b2a_base64,
            "id_text": uuid_to_base64,
        }
        self.waiting: list[tuple[str, str]] = []
        """Codes of ``struct``, and the variables for what they read: as many as stand in a row."""
        self.count = 0

    def compiled(self, value: str, file: str) -> Reader:
        text = _HEAD + "\n".join(self.lines) + "\n" + _TAIL.format(value=value)
        # The text is made of declarations alone, and names of fields stand in it as quoted strings.
        exec(compile(text, file, "exec"), self.names)  # noqa: S102
        read: Reader = self.names["read"]
        return read

    def say(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """What is said inside is indented under ``head``; nothing is left waiting at its end."""
        self.say(head)
        self.depth += 1
        yield
        self.flush()
        self.depth -= 1

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def keep(self, prefix: str, value: object) -> str:
        """A name for something that the function uses and that is no text."""
        name = self.fresh(prefix)
        self.names[name] = value
        return name

    def wait_for(self, code: str, variable: str) -> str:
        self.waiting.append((code, variable))
        return variable

    def flush(self) -> None:
        """Read what is waiting, with one call."""
        if not self.waiting:
            return
        codes = ">" + "".join(code for code, _ in self.waiting)
        targets = ", ".join(variable for _, variable in self.waiting)
        if codes == ">B":
            self.say(f"{targets} = data[at]", "at += 1")
        else:
            unpack = self.keep("unpack", _unpacker(codes))
            self.say(f"{targets}{',' * (len(self.waiting) == 1)} = {unpack}(data, at)")
            self.say(f"at += {struct.calcsize(codes)}")
        self.waiting.clear()

    # Each of these writes how a value is read, and gives the expression of the value.

    def struct(self, body: Struct) -> str:
        fixed = [
            (field.name, self.value(field.type, nullable=field.is_nullable_in(self.form.version)))
            for field in body.in_version(self.form.version)
        ]
        shown = "{" + ", ".join(f"{name!r}: {value}" for name, value in fixed) + "}"
        if not self.form.flexible:
            return shown
        tags = self.wait_for("B", self.fresh("n"))
        self.flush()
        declared = list(body.tagged_in_version(self.form.version))
        if not declared:
            self.say(f"if {tags}: raise Unusual")
            return shown
        out = self.fresh("s")
        self.say(f"{out} = {shown}")
        with self.block(f"if {tags}:"):
            self.tagged(declared, tags, out)
        return out

    def tagged(self, declared: list[Field], left: str, out: str) -> None:
        """Reads the declared tags in rising order, as Kafka writes them; any other is left over."""
        end = self.fresh("end")
        for field in sorted(declared, key=lambda field: field.tag or 0):
            with self.block(f"if {left} and data[at] == {field.tag}:"):
                self.say(f"{left} -= 1", f"{end} = data[at + 1]", "at += 2")
                self.say(f"if {end} > 0x7F: {end}, at = long_length(data, at)", f"{end} += at")
                value = self.tagged_value(field)
                self.flush()
                default = self.keep("default", field.tagged_default)
                self.say(f"if at != {end}: raise Unusual", f"given = {value}")
                self.say(f"if given != {default}: {out}[{field.name!r}] = given")
        self.say(f"if {left}: raise Unusual")

    def tagged_value(self, field: Field) -> str:
        nullable = field.is_nullable_in(self.form.version)
        if not isinstance(field.type, Struct) or not nullable:
            return self.value(field.type, nullable=nullable)
        # In a tagged section the mark is a varint, and 0 is null.
        mark = self.wait_for("B", self.fresh("n"))
        self.flush()
        self.say(f"if {mark} > 0x7F: raise Unusual")
        return self.struct_if(mark, field.type)

    def value(self, type_: FieldType, *, nullable: bool) -> str:
        match type_:
            case Struct():
                return self.nullable_struct(type_) if nullable else self.struct(type_)
            case Array():
                return self.array(type_, nullable=nullable)
            case Primitive.STRING:
                length = self.length("h", nullable=nullable, long="long_string_length")
                return self.sized("data[at:end].decode()", length, nullable=nullable)
            case Primitive.PLAIN_STRING:
                length = self.length("h", nullable=nullable, compact=False)
                return self.sized("data[at:end].decode()", length, nullable=nullable)
            case Primitive.BYTES:
                length = self.length("i", nullable=nullable)
                return self.sized(
                    "to_base64(data[at:end], newline=False).decode()", length, nullable=nullable
                )
            case Primitive.UUID:
                return f"id_text({self.wait_for('16s', self.fresh('v'))})"
            case _ if type_.struct_code is not None:
                return self.wait_for(type_.struct_code, self.fresh("v"))
            case _:
                # No record has the others, so that their readers are just called.
                self.flush()
                value = self.fresh("v")
                read = self.keep("read", value_reader(type_, self.form, nullable=nullable))
                self.say(f"{value}, at = {read}(data, at)")
                return value

    def nullable_struct(self, body: Struct) -> str:
        mark = self.wait_for("B", self.fresh("n"))
        self.flush()
        return self.struct_if(f"{mark} < 0x80", body)

    def struct_if(self, there: str, body: Struct) -> str:
        value = self.fresh("v")
        with self.if_there(value, there, nullable=True):
            inner = self.struct(body)
            self.flush()
            self.say(f"{value} = {inner}")
        return value

    def length(
        self, code: str, *, nullable: bool, compact: bool | None = None, long: str = "long_length"
    ) -> tuple[str, str]:
        """Reads a length or count; gives its expression, and the condition that it is not null.

        Compact ones are one more than what they say, and 0 is null; for the others -1 is.
        """
        length = self.fresh("n")
        if self.form.flexible if compact is None else compact:
            self.wait_for("B", length)
            self.flush()
            self.say(f"if {length} > 0x7F: {length}, at = {long}(data, at)")
            if not nullable:
                self.say(f"if not {length}: raise Unusual")
            return f"{length} - 1", length
        self.wait_for(code, length)
        self.flush()
        self.say(f"if {length} < {-1 if nullable else 0}: raise Unusual")
        return length, f"{length} >= 0"

    @contextmanager
    def if_there(self, value: str, condition: str, *, nullable: bool) -> Iterator[None]:
        """What is said inside gives ``value``, which is null unless ``condition`` holds."""
        if not nullable:
            yield
            return
        self.say(f"{value} = None")
        with self.block(f"if {condition}:"):
            yield

    def sized(self, form: str, length: tuple[str, str], *, nullable: bool) -> str:
        """A string or bytes, made by ``form`` of what lies between ``at`` and ``end``."""
        number, there = length
        value = self.fresh("v")
        with self.if_there(value, there, nullable=nullable):
            self.say(f"end = at + {number}", f"{value} = {form}", "at = end")
        return value

    def array(self, array: Array, *, nullable: bool) -> str:
        count, there = self.length("i", nullable=nullable)
        value = self.fresh("v")
        with self.if_there(value, there, nullable=nullable):
            self.elements(array, count, value)
        return value

    def elements(self, array: Array, count: str, value: str) -> None:
        of = array.of
        number = self.fresh("n")
        self.say(f"{number} = {count}")
        if array.most < ELEMENTS_MOST:
            self.say(f"if {number} > {array.most}: raise Unusual")
        code = of.struct_code if isinstance(of, Primitive) else None
        if code is not None:
            width = struct.calcsize(f">{code}")
            self.say(f"if {number} * {width} > size - at: raise Unusual")
            self.say(f"{value} = list(unpacker_of_many({number}, {code!r})(data, at))")
            self.say(f"at += {number} * {width}")
            return
        # Every element has at least a byte.
        self.say(f"if {number} > size - at: raise Unusual", f"{value} = []")
        with self.block(f"for _ in range({number}):"):
            element = self.value(of, nullable=False)
            self.flush()
            self.say(f"{value}.append({element})")
