"""The tagged section, in every way in which it may be written though Kafka does not write it so."""

import pytest

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Field, Message, Primitive, fields
from groups.wire.errors import MalformedError

EPOCH = Message(
    "Epoch", fields(Field("epoch", Primitive.INT8), Field("hash", Primitive.INT8, tag=0)), flexible_since=0
)


def read(text: str) -> object:
    raw = bytes.fromhex(text)
    value, end = codec(EPOCH, 0).read(raw, 0)
    assert end == len(raw)
    return value


def test_unknown_tags_in_any_order_are_told_in_rising_order_as_they_are_written():
    value = read("01 03  09 01 aa  05 00  00 01 07")
    assert value == {
        "epoch": 1,
        "hash": 7,
        "_unknownTaggedFields": [{"tag": 5, "data": ""}, {"tag": 9, "data": "qg=="}],
    }
    out = bytearray()
    codec(EPOCH, 0).write(out, value)
    assert bytes(out) == bytes.fromhex("01 03  00 01 07  05 00  09 01 aa")


def test_of_a_tag_that_stands_there_twice_the_last_one_counts():
    assert read("01 02  00 01 07  00 01 08") == {"epoch": 1, "hash": 8}
    assert read("01 02  00 01 07  00 01 00") == {"epoch": 1}


def test_a_tag_beyond_int32_is_refused():
    assert read("01 01  ffffffff07 00") == {
        "epoch": 1,
        "_unknownTaggedFields": [{"tag": 2**31 - 1, "data": ""}],
    }
    with pytest.raises(MalformedError, match="byte 2: tag 2147483648; the highest is 2147483647"):
        read("01 01  8080808008 00")
