"""Random values of every message, with the bytes that are written here for them, in the form of the fixtures."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from groups.wire.codecs.codec import codec
from groups.wire.codecs.schema import Message
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from groups.wire.embedded.user_data import (
    STICKY_USER_DATA,
    encode_cooperative_sticky,
    encode_sticky,
    member_data,
)
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from groups.wire.generated.requests import LATER
from groups.wire.records import encode_record
from groups.wire.rpc import APIS, REQUEST_HEADER, RESPONSE_HEADER
from tests.wire.kafka_made import as_kafka_prints
from tests.wire.strategies import bodies

OLDEST_VERSIONS = {
    ("RequestHeader", 0),
    *(("OffsetCommit" + side, version) for side in ("Request", "Response") for version in (0, 1)),
    *(("OffsetFetch" + side, 0) for side in ("Request", "Response")),
}
"""Versions that 4.0 took away (KIP-896): an older release's classes made their fixtures."""

NOT_IN_THIS_RELEASE = {"storedDescriptionTopologyEpoch", "failedDescriptionTopologyEpoch"}
"""Tagged fields that are declared here and came later: to the release that reads them, unknown."""


def lines(each: int) -> Iterator[dict[str, Any]]:
    """``each`` values for every version of every message; the same ones whenever it is asked."""
    yield from records(each)
    yield from blobs(each)
    yield from rpcs(each)
    yield from subscriptions_with_user_data(each)


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    values: list[Any] = []

    @seed(0)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def keep(value: Any) -> None:
        values.append(value)

    keep()
    return values


def records(each: int) -> Iterator[dict[str, Any]]:
    for type_ in RECORD_TYPES.values():
        for version in [None, *range(type_.value.newest + 1)]:
            value = st.none() if version is None else bodies(type_.value, version)
            for key, body in drawn(st.tuples(bodies(type_.key, 0), value), each):
                payload = {"type": type_.number, "key": key, "version": version, "value": body}
                key_bytes, value_bytes = encode_record(payload)
                assert key_bytes is not None
                hex_ = {"key_hex": key_bytes.hex(), "value_hex": value_bytes and value_bytes.hex()}
                told = as_kafka_prints(payload)
                for name in NOT_IN_THIS_RELEASE & set(told["value"] or ()):
                    del told["value"][name]
                yield {**told, **hex_}


def blobs(each: int) -> Iterator[dict[str, Any]]:
    encoders: tuple[tuple[Message, Callable[[dict[str, Any]], bytes]], ...] = (
        (SUBSCRIPTION, encode_subscription),
        (ASSIGNMENT, encode_assignment),
    )
    for message, encode in encoders:
        for version in range(message.newest + 1):
            for body in drawn(bodies(message, version), each):
                data = encode({"version": version, **body})
                assert int.from_bytes(data[:2], "big") == version
                yield {"message": message.name, "version": version, "hex": data[2:].hex(), "value": body}


def rpcs(each: int) -> Iterator[dict[str, Any]]:
    messages = [message for api in APIS.values() for message in (api.request, api.response)]
    messages = [message for message in messages if message.name not in LATER]
    for message in [REQUEST_HEADER, RESPONSE_HEADER, *messages]:
        for version in message.versions:
            if (message.name, version) in OLDEST_VERSIONS:
                continue
            for body in drawn(bodies(message, version), each):
                out = bytearray()
                codec(message, version).write(out, body)
                told = {"message": message.name, "version": version, "hex": out.hex()}
                yield {**told, "value": as_kafka_prints(body)}


def subscriptions_with_user_data(each: int) -> Iterator[dict[str, Any]]:
    sticky = [
        bodies(STICKY_USER_DATA, version).map(lambda body, version=version: {"version": version, **body})
        for version in range(STICKY_USER_DATA.newest + 1)
    ]
    generations = st.builds(lambda generation: {"generation": generation}, st.integers(-1, 2**31 - 1))
    data = st.one_of(
        st.none(), st.one_of(sticky).map(encode_sticky), generations.map(encode_cooperative_sticky)
    )
    for assignor in ("sticky", "cooperative-sticky"):
        for version in range(SUBSCRIPTION.newest + 1):
            for body, user_data in drawn(st.tuples(bodies(SUBSCRIPTION, version), data), each):
                body["userData"] = None if user_data is None else base64.b64encode(user_data).decode()
                believed = member_data(assignor, body)
                yield {
                    "assignor": assignor,
                    "hex": encode_subscription({"version": version, **body}).hex(),
                    "partitions": [list(partition) for partition in believed.partitions],
                    "generation": believed.generation,
                }
