"""What a schema can say, compiled: the types and the range of versions that no record happens to have."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.errors import UnencodableError, UnknownVersionError
from tests.wire.strategies import bodies

SWITCH = Message(
    "Switch",
    fields(
        Field("on", Primitive.BOOL),
        Field("port", Primitive.UINT16),
        Field("row", Array(Primitive.BOOL), since=3, default=[]),
        Field("name", Primitive.PLAIN_STRING, since=4, nullable_since=4),
        Field("late", Primitive.BOOL, since=4, tag=0),
    ),
    oldest=2,
    newest=4,
    flexible_since=4,
)


def written(version: int, value: Any) -> bytes:
    out = bytearray()
    codec(SWITCH, version).write(out, value)
    return bytes(out)


@given(st.sampled_from(SWITCH.versions), st.data())
def test_every_version_survives_its_bytes(version: int, data: st.DataObject):
    value = data.draw(bodies(SWITCH, version))
    raw = written(version, value)
    assert codec(SWITCH, version).read(raw, 0) == (value, len(raw))


def test_a_bool_is_one_byte_and_a_port_is_unsigned():
    value = {"on": True, "port": 65_535, "row": [False, True]}
    assert written(3, value) == bytes.fromhex("01 ffff 00000002 00 01")
    # Kafka takes every byte but zero as true.
    assert codec(SWITCH, 2).read(bytes.fromhex("07 0000"), 0) == ({"on": True, "port": 0}, 3)


def test_a_tagged_bool_that_is_false_is_left_out():
    value = {"on": False, "port": 1, "name": None, "late": False}
    assert written(4, value) == bytes.fromhex("00 0001 01 ffff 00")


def test_a_plain_string_has_the_length_of_old_in_flexible_versions_too():
    value = {"on": False, "port": 1, "row": [], "name": "ab"}
    assert written(4, value) == bytes.fromhex("00 0001 01 0002 6162 00")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"on": 1, "port": 1}, "on: 1 is neither true nor false"),
        ({"on": True, "port": -1}, "port: -1 is not a uint16"),
        ({"on": True, "port": 65_536}, "port: 65536 is not a uint16"),
    ],
)
def test_what_does_not_fit_is_refused(value: dict[str, Any], sentence: str):
    with pytest.raises(UnencodableError) as caught:
        written(2, value)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("version", [1, 5])
def test_versions_outside_the_declared_range_are_unknown(version: int):
    with pytest.raises(UnknownVersionError, match=r"Switch has no version \d here; known are 2 to 4"):
        codec(SWITCH, version)
