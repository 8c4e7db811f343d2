"""Every kind of bytes that can be listed, by the name that commands and addresses use.

A new kind is a line in one of the tables below; what its fields mean is in ``meanings``, what is opened inside
it in ``opening``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Final

from groups.wire.codecs.schema import Message
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded import streams_user_data
from groups.wire.embedded.connect_protocol import CONNECT_ASSIGNMENT, WORKER_STATE
from groups.wire.embedded.user_data import COOPERATIVE_STICKY_USER_DATA, STICKY_USER_DATA
from groups.wire.errors import UnknownVersionError
from groups.wire.generated.embedded import ASSIGNMENT, SUBSCRIPTION
from groups.wire.inspection.framing import FramedRecord, InspectedBatch, Segment
from groups.wire.inspection.layouts import Layout, RecordKey, SelfVersioned, Unversioned, Versioned
from groups.wire.inspection.requests import Request, Response
from groups.wire.kip import KIP_APIS, KIP_RECORD_TYPES
from groups.wire.rpc import APIS, Direction, api_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of bytes: its name, what people call it, and how it is laid out."""

    name: str
    title: str
    about: str
    layout: Layout
    prior: int = 0
    """How much likelier than others, where bytes read as several: see ``guessing``."""
    last_resort: bool = False
    """Whether bytes are tried as this only where they are nothing else: requests and answers without their headers,
    which are many, and whose version is nowhere."""
    is_checked: bool = False
    """Whether a checksum has to be right, so that what reads as this is this."""
    by_name_only: bool = False
    """Never guessed: nothing in the bytes distinguishes the proposal's own layouts from the released ones."""


def kebab(name: str) -> str:
    """``GroupMetadataValue`` as ``group-metadata-value``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _blobs() -> Iterator[Kind]:
    yield Kind(
        name="subscription",
        title="Subscription",
        about="what a classic member tells its leader (metadata of a JoinGroup protocol)",
        layout=Versioned(message=SUBSCRIPTION, appends=True),
        prior=3,
    )
    yield Kind(
        name="assignment",
        title="Assignment",
        about="what the leader of a classic group gives a member (SyncGroup)",
        layout=Versioned(message=ASSIGNMENT, appends=True),
        prior=2,
    )

    yield Kind(
        name="connect-worker-state",
        title="State of a Connect worker",
        about="what a worker of Kafka Connect tells its leader (metadata of a JoinGroup protocol)",
        layout=Versioned(message=WORKER_STATE, appends=True),
    )
    yield Kind(
        name="connect-assignment",
        title="Assignment of Kafka Connect",
        about="connectors and tasks that the leader of a Connect cluster gives a worker (SyncGroup)",
        layout=Versioned(message=CONNECT_ASSIGNMENT, appends=True),
    )


def _user_data() -> Iterator[Kind]:
    yield Kind(
        name="sticky-user-data",
        title="User data of sticky",
        about="what the sticky assignor puts into a subscription",
        layout=Unversioned(declared=lambda: STICKY_USER_DATA, appends=True),
    )
    yield Kind(
        name="cooperative-sticky-user-data",
        title="User data of cooperative-sticky",
        about="what the cooperative-sticky assignor puts into a subscription",
        layout=Unversioned(declared=lambda: COOPERATIVE_STICKY_USER_DATA, appends=True, has_versions=False),
    )


def _streams_user_data() -> Iterator[Kind]:
    yield Kind(
        name="streams-subscription-info",
        title="Subscription info of Kafka Streams",
        about="what a Kafka Streams instance puts into its subscription",
        layout=SelfVersioned(
            message=streams_user_data.subscription_info_message,
            known=range(1, streams_user_data.NEWEST_VERSION + 1),
            decode=streams_user_data.read_subscription_info,
            encode=streams_user_data.encode_subscription_info,
        ),
    )
    yield Kind(
        name="streams-assignment-info",
        title="Assignment info of Kafka Streams",
        about="what the leader of a Kafka Streams group puts into an assignment",
        layout=SelfVersioned(
            message=lambda version: (streams_user_data.ASSIGNMENT_INFO, version),
            known=range(1, streams_user_data.NEWEST_VERSION + 1),
            decode=streams_user_data.read_assignment_info,
            encode=streams_user_data.encode_assignment_info,
        ),
    )


def _records() -> Iterator[Kind]:
    yield Kind(
        name="key",
        title="Key of a record",
        about="the key of any record of __consumer_offsets",
        layout=RecordKey(),
        prior=3,
    )
    for record_type in RECORD_TYPES.values():
        yield Kind(
            name=kebab(record_type.value.name),
            title=f"{record_type.name} value",
            about=f"the value of a record of type {record_type.number}",
            layout=Versioned(message=record_type.value),
            prior=1 if record_type.number else -2,
        )


def _framed() -> Iterator[Kind]:
    yield Kind(
        name="record",
        title="Record",
        about="one record of a batch, from its length on; or --key and a value",
        layout=FramedRecord(),
        prior=-2,
    )
    yield Kind(
        name="batch",
        title="Record batch",
        about="one batch of a log, of magic 2",
        layout=InspectedBatch(),
        prior=40,
        is_checked=True,
    )
    yield Kind(
        name="segment",
        title="Log segment",
        about="a segment or checkpoint file: batches one after the other",
        layout=Segment(),
        prior=30,
        is_checked=True,
    )


def _requests() -> Iterator[Kind]:
    yield Kind(
        name="request",
        title="Request",
        about="a request with its header, which tells the API and the version",
        layout=Request(),
        prior=4,
    )
    for api in APIS.values():
        yield Kind(
            name=f"{kebab(api.name)}-request",
            title=f"{api.name} request",
            about=f"the fields of a request of API key {api.key}, without its header",
            layout=Unversioned(declared=partial(api_message, api.key, Direction.REQUEST)),
            last_resort=True,
        )
        yield Kind(
            name=f"{kebab(api.name)}-response",
            title=f"{api.name} response",
            about=f"the answer to a request of API key {api.key}, with or without its header",
            layout=Response(api=api),
            last_resort=True,
        )


def _kip() -> Iterator[Kind]:
    for record_type in KIP_RECORD_TYPES.values():
        if record_type is not RECORD_TYPES[record_type.number]:
            yield Kind(
                name=f"kip-{kebab(record_type.value.name)}",
                title=f"{record_type.name} value of KIP-848",
                about=f"the value of type {record_type.number} as the proposal had it",
                layout=Versioned(message=record_type.value),
                by_name_only=True,
            )
    for api in KIP_APIS.values():
        for message, what in ((api.request, "request"), (api.response, "response")):
            yield Kind(
                name=f"kip-{kebab(message.name)}",
                title=f"{api.name} {what} of KIP-848",
                about=f"the proposal's own {what}, without its header",
                layout=Unversioned(declared=partial(_itself, message)),
                by_name_only=True,
            )


def _itself(message: Message) -> Message:
    return message


@cache
def kinds() -> dict[str, Kind]:
    """Every kind by its name, in the order in which people read them."""
    return {kind.name: kind for table in _TABLES for kind in table()}


_TABLES: Final = (_blobs, _user_data, _streams_user_data, _records, _framed, _requests, _kip)


def kind_named(name: str) -> Kind:
    """The kind of that name; ``UnknownVersionError`` contains how to see them all."""
    found = kinds().get(name)
    if found is None:
        raise UnknownVersionError(f"{name!r:.60} is no kind of bytes that is known here")
    return found
