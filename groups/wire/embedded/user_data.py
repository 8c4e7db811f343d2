"""What the sticky assignors put into a subscription's user data, and what they believe of a subscription.

User data has no version header. ``sticky`` writes the partitions that the member was given last and, since version
1 (KIP-341), the generation in which it was; it reads version 1, and where that fails version 0::

    StickyUserData             previousAssignment; v1 + generation
    CooperativeStickyUserData  generation

So bytes of version 0 with four or more bytes behind them are read as version 1, bytes behind either are ignored, and
a reader that knows only version 0 reads the partitions of both.

Source: ``StickyAssignor`` and ``CooperativeStickyAssignor`` of Kafka's clients module. They replace the bytes of a
topic that are not UTF-8; here they are refused, as no topic can have such a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.codec import codec, encode_versioned
from groups.wire.codecs.primitives import from_base64
from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields, rows
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import RecordError

STICKY: Final = "sticky"
COOPERATIVE_STICKY: Final = "cooperative-sticky"

NO_GENERATION: Final = -1
"""Present in the data and no generation; not the same as data that carry none."""

STICKY_USER_DATA: Final = Message(
    "StickyUserData",
    fields(
        rows(
            "previousAssignment",
            Field("topic", Primitive.STRING),
            Field("partitions", Array(Primitive.INT32)),
        ),
        Field("generation", Primitive.INT32, since=1),
    ),
    newest=1,
)

COOPERATIVE_STICKY_USER_DATA: Final = Message(
    "CooperativeStickyUserData", fields(Field("generation", Primitive.INT32))
)


@dataclass(frozen=True, slots=True)
class MemberData:
    """What an assignor takes a member to own, ``(topic, partition)`` in the given order, and since which generation:
    ``None`` if nothing contains one, ``NO_GENERATION`` if the bytes say that there is none."""

    partitions: tuple[tuple[str, int], ...] = ()
    generation: int | None = None


def read_sticky(data: bytes, newest: int = STICKY_USER_DATA.newest) -> tuple[Fields, int]:
    """``decode_sticky``, and where reading ended: what is behind that is ignored."""
    if newest >= 1:
        try:
            value, end = codec(STICKY_USER_DATA, 1).read(data, 0)
        except RecordError:
            pass  # Kafka tries version 0 after a failure of any kind.
        else:
            return {"version": 1, **value}, end
    value, end = codec(STICKY_USER_DATA, 0).read(data, 0)
    return {"version": 0, **value}, end


def decode_sticky(data: bytes, newest: int = STICKY_USER_DATA.newest) -> Fields:
    """``{"version": 0, "previousAssignment": [{"topic", "partitions"}]}``, or version 1 with ``"generation"`` too.

    ``version`` is the one that the bytes were read as by a reader that knows up to ``newest``. ``RecordError`` where
    version 0 cannot be read either, of which an assignor makes ``MemberData((), NO_GENERATION)``.
    """
    return read_sticky(data, newest)[0]


def encode_sticky(value: Mapping[str, Value]) -> bytes:
    """The inverse of ``decode_sticky``, version 1 if none is named: the only one that Kafka still writes."""
    return _encode(STICKY_USER_DATA, value)


def decode_cooperative_sticky(data: bytes) -> Fields:
    """``{"version": 0, "generation": n}``; ``RecordError`` for fewer than four bytes, more are ignored."""
    return {"version": 0, **codec(COOPERATIVE_STICKY_USER_DATA, 0).read(data, 0)[0]}


def encode_cooperative_sticky(value: Mapping[str, Value]) -> bytes:
    """The inverse of ``decode_cooperative_sticky``."""
    return _encode(COOPERATIVE_STICKY_USER_DATA, value)


def member_data(assignor: str, subscription: Mapping[str, Value]) -> MemberData:
    """What ``assignor`` believes of a subscription, as ``decode_subscription`` returns it; nothing for the assignors
    that keep nothing from one assignment to the next.

    ``sticky`` asks the user data alone. ``cooperative-sticky`` takes the owned partitions of the subscription and
    its generation, and where it has none (version 0 or 1, or -1) that of the user data.
    """
    given = subscription.get("userData")
    data = None if given is None else from_base64(given)
    if assignor == STICKY:
        return MemberData() if not data else _sticky_member_data(data)
    if assignor == COOPERATIVE_STICKY:
        owned = flat_partitions(subscription.get("ownedPartitions", ()))
        generation = subscription.get("generationId", NO_GENERATION)
        return MemberData(owned, generation if generation >= 0 else _generation_in(data))
    return MemberData()


def flat_partitions(topics: Iterable[Mapping[str, Value]]) -> tuple[tuple[str, int], ...]:
    """``[{"topic", "partitions"}]`` as ``(topic, partition)`` in the same order."""
    return tuple((topic["topic"], partition) for topic in topics for partition in topic["partitions"])


def _sticky_member_data(data: bytes) -> MemberData:
    try:
        value = decode_sticky(data)
    except RecordError:
        return MemberData((), NO_GENERATION)
    return MemberData(flat_partitions(value["previousAssignment"]), value.get("generation"))


def _generation_in(data: bytes | None) -> int | None:
    if data is None:
        return None
    try:
        generation: int = decode_cooperative_sticky(data)["generation"]
    except RecordError:
        return NO_GENERATION
    return generation


def _encode(message: Message, value: Mapping[str, Value]) -> bytes:
    return encode_versioned(message, value)[1]
