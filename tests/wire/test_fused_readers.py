"""The fused readers and the closures that they stand in for: one and the same, on good bytes and on bad."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.codecs.codec import codec
from groups.wire.codecs.fused_readers import fused_reader
from groups.wire.codecs.primitives import Reader
from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.codecs.struct_readers import struct_reader
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from groups.wire.rpc.apis import APIS
from tests.tiers import examples
from tests.wire.strategies import bodies

NESTED = fields(Field("name", Primitive.STRING), Field("late", Array(Primitive.UUID), since=1, tag=0))
EVERYTHING = Message(
    "Everything",
    fields(
        Field("small", Primitive.INT8),
        Field("id", Primitive.UUID),
        Field("plain", Primitive.PLAIN_STRING, nullable_since=1),
        Field("maybe", NESTED, nullable_since=1),
        Field("blobs", Array(Primitive.BYTES), nullable_since=0),
        Field("rows", Array(Array(Primitive.INT16))),
        Field("text", Primitive.STRING, since=1, tag=0, nullable_since=1, default=None),
        Field("told", NESTED, since=1, tag=1, nullable_since=1, default=None),
        Field("on", Primitive.BOOL, since=1, tag=2),
        Field("numbers", Array(Primitive.INT64), since=1, tag=3, nullable_since=1),
        Field("javas", Array(Primitive.MODIFIED_UTF8)),
        Field("chars", Primitive.CHARS),
    ),
    newest=1,
    flexible_since=1,
)
"""What the formats of today do not have side by side."""

MESSAGES = [EVERYTHING, SUBSCRIPTION, ASSIGNMENT]
MESSAGES += [message for type_ in RECORD_TYPES.values() for message in (type_.key, type_.value)]
REQUESTS_AND_RESPONSES = [message for api in APIS.values() for message in (api.request, api.response)]


def outcome(read: Reader, data: bytes, at: int) -> Any:
    """What comes of reading, as text, in which the order of the fields counts too."""
    try:
        return repr(read(data, at))
    except RecordError as error:
        return type(error).__name__, str(error), error.offset, error.path


def gives_up(data: bytes, at: int) -> Any:
    raise AssertionError(f"left to the closures: {data.hex()}")


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes cut, lengthened, or with some of them replaced by what lengths make of it."""
    out = bytearray(data)
    for _ in range(draw(st.integers(0, 3))):
        if out:
            byte = st.sampled_from([0, 1, 2, 0x7F, 0x80, 0xFF]) | st.integers(0, 255)
            out[draw(st.integers(0, len(out) - 1))] = draw(byte)
    return bytes(out[: draw(st.just(len(out)) | st.integers(0, len(out)))]) + draw(st.binary(max_size=3))


@examples(400)
@given(st.sampled_from(MESSAGES + REQUESTS_AND_RESPONSES), st.data())
def test_good_bytes_and_bad_give_the_same_values_and_the_same_errors(message: Message, data: st.DataObject):
    version = data.draw(st.sampled_from(message.versions))
    form = message.form(version)
    out = bytearray(b"..")
    codec(message, version).write(out, data.draw(bodies(message, version)))
    raw = data.draw(damaged(bytes(out)))
    careful = struct_reader(message.body, form)
    assert outcome(codec(message, version).read, raw, 2) == outcome(careful, raw, 2)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_whatever_a_schema_declares_is_read_without_the_closures(message: Message):
    @examples(10)
    @given(st.data())
    def check(data: st.DataObject):
        version = data.draw(st.sampled_from(message.versions))
        value = data.draw(bodies(message, version).map(without_unknown_tags))
        out = bytearray()
        codec(message, version).write(out, value)
        read = fused_reader(message.body, message.form(version), gives_up, message.name)
        assert read(bytes(out), 0) == (value, len(out))

    check()


def without_unknown_tags(value: Any) -> Any:
    match value:
        case dict():
            return {
                name: without_unknown_tags(given)
                for name, given in value.items()
                if name != "_unknownTaggedFields"
            }
        case list():
            return [without_unknown_tags(given) for given in value]
    return value


def test_lengths_of_two_bytes_are_read_without_the_closures():
    message = RECORD_TYPES[8].value
    topic = {"topicId": "cLledStpRu6ixDUvA4jVgA", "partitions": [*range(300)], "assignmentEpochs": [7] * 300}
    numbers = {"memberEpoch": 7, "previousMemberEpoch": 6, "state": 0}
    value = {**numbers, "assignedPartitions": [topic] * 200, "partitionsPendingRevocation": []}
    out = bytearray()
    codec(message, 0).write(out, value)
    assert fused_reader(message.body, message.form(0), gives_up, "")(bytes(out), 0) == (value, len(out))


@pytest.mark.parametrize(
    "type_",
    [
        Primitive.STRING,
        Primitive.BYTES,
        Array(Primitive.INT32),
        Array(Primitive.STRING),
        Array(fields(Field("on", Primitive.BOOL))),
    ],
    ids=["string", "bytes", "integers", "strings", "structs"],
)
@pytest.mark.parametrize(("flexible", "null"), [(True, b"\0"), (False, b"\xff\xff\xff\xff")])
def test_a_null_where_none_may_be_is_refused_and_one_that_may_be_is_read(
    type_: Any, flexible: bool, null: bytes
):
    since = 0 if flexible else 1
    tail = b"\0" * 8
    for nullable in (False, True):
        nullable_since = {"nullable_since": 0} if nullable else {}
        body = fields(Field("it", type_, **nullable_since), Field("last", Primitive.INT8))
        message = Message("One", body, newest=0, flexible_since=since)
        mark = null[:2] if type_ is Primitive.STRING and not flexible else null
        careful = struct_reader(message.body, message.form(0))
        fused = outcome(codec(message, 0).read, mark + tail, 0)
        assert fused == outcome(careful, mark + tail, 0)
        assert ("None" in fused) is nullable, fused
