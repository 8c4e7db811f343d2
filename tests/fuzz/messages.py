"""Targets: every schema in every version, and its listing.

The reader that is compiled and the plain one say the same, and so does the listing: the same values, or a fault too.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Final

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Message
from groups.wire.codecs.struct_readers import struct_reader
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.streams_user_data import ASSIGNMENT_INFO, SUBSCRIPTION_INFO, VERSION_PROBE
from groups.wire.embedded.user_data import COOPERATIVE_STICKY_USER_DATA, STICKY_USER_DATA
from groups.wire.errors import RecordError
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from groups.wire.inspection import Kind, Node, kinds
from groups.wire.inspection.nodes import values_of
from groups.wire.inspection.walk import Stopped, Walk
from groups.wire.rpc import APIS, REQUEST_HEADER, RESPONSE_HEADER, Api
from tests.fuzz.oracle import MOST_LISTED_BYTES_FOR_A_BYTE, Target, expect
from tests.fuzz.values import encodings

SEEDS_OF_A_SCHEMA: Final = 4


@cache
def messages() -> dict[str, Message]:
    """Every schema that there is, by a name of its own."""
    found = [SUBSCRIPTION, ASSIGNMENT, STICKY_USER_DATA, COOPERATIVE_STICKY_USER_DATA]
    found += [SUBSCRIPTION_INFO, VERSION_PROBE, ASSIGNMENT_INFO, REQUEST_HEADER, RESPONSE_HEADER]
    for type_ in RECORD_TYPES.values():
        found += [type_.key, type_.value]
    for api in APIS.values():
        found += [api.request, api.response]
    named = {message.name: message for message in found}
    # Layouts of the proposal that were never released have the names of those that were.
    listed = {kind.name: message for kind in kinds().values() if (message := message_of(kind)) is not None}
    return named | {name: message for name, message in listed.items() if message not in found}


def message_of(kind: Kind) -> Message | None:
    """The one message that a kind is, if it is one."""
    api: Api | None = getattr(kind.layout, "api", None)
    message = getattr(kind.layout, "message", None) if api is None else api.response
    return message if isinstance(message, Message) else None


def targets() -> Iterator[Target]:
    for title, message in messages().items():
        for version in message.versions:
            name = f"{title}-{version}"
            seeds = partial(made, message, version)
            yield Target(name, "messages", message_check(message, version), seeds)
            check = partial(check_listing, message, version)
            yield Target(f"list:{name}", "listings", check, seeds, MOST_LISTED_BYTES_FOR_A_BYTE)


@cache
def made(message: Message, version: int) -> list[bytes]:
    rng = random.Random(f"{message.name} {version}")
    return list(encodings(message, version, rng, SEEDS_OF_A_SCHEMA))


def message_check(message: Message, version: int) -> Callable[[bytes], None]:
    compiled = codec(message, version)
    read, write = compiled.read, compiled.write
    careful = struct_reader(message.body, message.form(version))

    def check(data: bytes) -> None:
        value, end = read(data, 0)
        expect(0 <= end <= len(data), "reads beyond the end", end)
        plainly = careful(data, 0)
        expect(plainly == (value, end), "is read in two ways", (value, end), plainly)
        out = bytearray()
        write(out, value)
        again, stop = read(bytes(out), 0)
        expect(stop == len(out), "leaves bytes of its own writing", value)
        expect(again == value, "changes when it is written", value, again)

    return check


def check_listing(message: Message, version: int, data: bytes) -> None:
    """The listing has the codec's values, or its fault; nodes lie in their containers."""
    nodes: list[Node] = []
    stopped: Stopped | None = None
    end = 0
    try:
        end = Walk(data).message(message, version, 0, nodes)
    except Stopped as caught:
        stopped = caught
    check_extents(nodes, 0, len(data))
    try:
        value, read_end = codec(message, version).read(data, 0)
    except RecordError as error:
        expect(stopped is not None, "is listed though it cannot be read", str(error))
        assert stopped is not None
        expect(stopped.problem.offset is not None, "lists a fault without an offset", stopped.problem)
        raise
    if stopped is not None and "are listed" in stopped.problem.sentence:
        return  # more tagged fields than a listing shows
    expect(stopped is None, "is read though it cannot be listed", stopped and stopped.problem)
    expect(end == read_end, "is listed to another end", end, read_end)
    shown, read = bytearray(), bytearray()
    codec(message, version).write(shown, values_of(nodes))
    codec(message, version).write(read, value)
    expect(shown == read, "is listed with other values", value)


def check_extents(nodes: list[Node], begin: int, end: int) -> None:
    at = begin
    for node in nodes:
        expect(
            at <= node.offset and node.offset + node.length <= end, "a node outside of its container", node
        )
        at = node.offset + node.length
        expect(0 <= node.prefix <= node.length, "a prefix longer than its node", node)
        if node.fields and node.space is None:
            check_extents(node.fields, node.offset, at)
