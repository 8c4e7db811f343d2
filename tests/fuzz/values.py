"""Valid encodings to begin with, of every schema in every version; and a few batches."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from typing import Any, Final

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import UNKNOWN_TAGS, Array, Field, FieldType, Form, Message, Primitive, Struct
from groups.wire.codecs.uuids import uuid_to_base64
from groups.wire.logs.compression import Compression
from groups.wire.logs.record_batch import Header, Record, RecordBatch

_TEXTS: Final = ("", "a", "orders", "größe", "日本", "😀", "consumer-orders-1-8e7d", "x" * 130)
_EDGES: Final = (0, 1, -1, 2, 5, 63, 64, 127, 128)


def encodings(message: Message, version: int, rng: random.Random, count: int) -> Iterator[bytes]:
    """``count`` valid bodies of one version."""
    write = codec(message, version).write
    for _ in range(count):
        out = bytearray()
        write(out, _struct(message.body, message.form(version), rng))
        yield bytes(out)


def batches(rng: random.Random, count: int) -> Iterator[RecordBatch]:
    """Batches of every compression, with and without headers, transactions and markers."""
    for number in range(count):
        records = tuple(
            Record(
                offset=100 + index,
                timestamp_ms=1_795_224_375_134 + rng.randrange(1000),
                key=rng.choice((None, b"", b"\0\3\0\6orders", rng.randbytes(9))),
                value=rng.choice((None, b"\0\0\0\0\0\2\0", rng.randbytes(30))),
                headers=tuple(Header(key=text, value=b"1") for text in _TEXTS[: rng.choice((0, 0, 0, 3))]),
            )
            for index in range(rng.choice((0, 1, 2, 8)))
        )
        yield RecordBatch(
            base_offset=100,
            records=records,
            compression=Compression(number % len(Compression)),
            is_transactional=number % 7 == 3,
            is_control=number % 11 == 5,
            last_offset_delta=max(len(records) - 1, 0),
            base_timestamp_ms=1_795_224_375_134,
            max_timestamp_ms=1_795_224_376_134,
        )


def _struct(body: Struct, form: Form, rng: random.Random) -> dict[str, Any]:
    out = {field.name: _field(field, form, rng) for field in body.in_version(form.version)}
    for field in body.tagged_in_version(form.version):
        if rng.random() < 0.5:
            out[field.name] = _field(field, form, rng)
    if form.flexible and rng.random() < 0.2:
        tags = sorted(rng.sample(range(40, 400), rng.randint(1, 2)))
        out[UNKNOWN_TAGS] = [{"tag": tag, "data": _base64(rng)} for tag in tags]
    return out


def _field(field: Field, form: Form, rng: random.Random) -> Any:
    if field.is_nullable_in(form.version) and rng.random() < 0.2:
        return None
    return _value(field.type, form, rng)


def _value(type_: FieldType, form: Form, rng: random.Random) -> Any:
    match type_:
        case Struct():
            return _struct(type_, form, rng)
        case Array():
            return [_value(type_.of, form, rng) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
        case Primitive.STRING | Primitive.PLAIN_STRING | Primitive.MODIFIED_UTF8:
            return rng.choice(_TEXTS)
        case Primitive.CHARS:
            return rng.choice(_TEXTS) or None
        case Primitive.BYTES:
            return _base64(rng)
        case Primitive.UUID:
            return uuid_to_base64(rng.randbytes(16))
        case Primitive.BOOL:
            return rng.random() < 0.5
        case _:
            bits = 8 * (type_.value[1] or 0)
            if type_.value[0].isupper():
                return rng.getrandbits(bits)
            if type_.value[0] == "d":
                return rng.choice((0.0, -1.5, 1e300))
            return rng.choice(_EDGES[:8]) if rng.random() < 0.7 else rng.getrandbits(bits) - (1 << bits - 1)


def _base64(rng: random.Random) -> str:
    return base64.b64encode(rng.randbytes(rng.choice((0, 1, 4, 20)))).decode()
