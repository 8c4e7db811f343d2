"""Bytes to begin with: small ones that show what the inspector does, and records of the case studies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from explorer.pages.inspector.records import place_of
from groups import storage
from groups.history.entries import EntryLine
from groups.models import Timeline
from groups.wire.codecs.primitives import to_base64
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from groups.wire.generated.classic import GROUP_METADATA
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
)
from groups.wire.records import encode_record

COOPERATIVE: Final = (6).to_bytes(4, "big")
"""What cooperative-sticky keeps in user data: a generation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Bytes that stand in the page: ``kind`` is what they are, ``hex`` what one would paste."""

    title: str
    about: str
    kind: str
    hex: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordExample:
    """A record of a timeline that is stored."""

    title: str
    about: str
    timeline: str
    sequence: int
    place: str


@cache
def examples() -> tuple[Example, ...]:
    """The bundled ones."""
    newer, older = _subscriptions()
    owned = {
        "version": 1,
        "topics": ["foo"],
        "userData": None,
        "ownedPartitions": [{"topic": "foo", "partitions": [0, 1]}],
    }
    return (
        Example(
            title="A classic group’s record",
            about="Two members; what they said and what they were given is opened in place.",
            kind="group-metadata-value",
            hex=_hex(_classic_group(newer, older)),
        ),
        Example(
            title="A subscription",
            about="Version 1: what an older client would not read is struck out.",
            kind="subscription",
            hex=_hex(encode_subscription(owned)),
        ),
        Example(
            title="An assignment",
            about="What the leader of a classic group gives a member.",
            kind="assignment",
            hex=_hex(_assignment([0, 1])),
        ),
        Example(
            title="A subscription that was cut off",
            about="What was read stays, the field that failed says why.",
            kind="subscription",
            hex=_hex(newer[:41]),
        ),
    )


RECORDS: Final = (
    (
        "kip848-basic",
        CONSUMER_GROUP_MEMBER_METADATA,
        "A member joins",
        "From KIP-848’s basic case: what the coordinator keeps of a member.",
    ),
    (
        "kip848-basic",
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        "What a member owns",
        "From KIP-848’s basic case: epochs, state, partitions.",
    ),
)
"""Records of case studies, by timeline and type: the last of each among the first entries is shown."""

LOOKED_AT: Final = 40
"""Entries of a case study in which its records are looked for."""


def records_of_studies() -> list[RecordExample]:
    """Those of ``RECORDS`` that are stored."""
    found = []
    for timeline_id, number, title, about in RECORDS:
        timeline = Timeline.objects.filter(pk=timeline_id).first()
        entry = _record_of(timeline, number) if timeline is not None else None
        if entry is not None:
            found.append(
                RecordExample(
                    title=title,
                    about=about,
                    timeline=timeline_id,
                    sequence=entry["sequence"],
                    place=f"{RECORD_TYPES[number].message}, {place_of(entry)}",
                )
            )
    return found


def _record_of(timeline: Timeline, number: int) -> EntryLine | None:
    entries = storage.entries_between(timeline, 1, LOOKED_AT)
    return next(
        (
            entry
            for entry in reversed(entries)
            if entry["kind"] == "record"
            and entry["payload"].get("type") == number
            and entry["payload"].get("value")
        ),
        None,
    )


def _subscriptions() -> tuple[bytes, bytes]:
    """Those of two members that had half of a topic each: of today's client, and of one that knows version 1."""
    common = {"topics": ["orders"], "userData": to_base64(COOPERATIVE)}
    newer = encode_subscription(
        common
        | {
            "version": 3,
            "ownedPartitions": [{"topic": "orders", "partitions": [0, 1, 2]}],
            "generationId": 6,
            "rackId": "a",
        }
    )
    older = encode_subscription(
        common | {"version": 1, "ownedPartitions": [{"topic": "orders", "partitions": [3, 4, 5]}]}
    )
    return newer, older


def _assignment(partitions: list[int]) -> bytes:
    return encode_assignment(
        {
            "version": 3,
            "assignedPartitions": [{"topic": "orders", "partitions": partitions}],
            "userData": None,
        }
    )


def _classic_group(newer: bytes, older: bytes) -> bytes:
    first = "c-117-7d1f0c52-3b0e-4f6a-9a31-5c8e2b64d0f7"
    second = "c-042-e2a94b17-90cd-4d08-8f53-1b7d6a2c9e40"

    def member(
        member_id: str, instance: str | None, host: str, subscription: bytes, given: bytes
    ) -> dict[str, Any]:
        return {
            "memberId": member_id,
            "groupInstanceId": instance,
            "clientId": member_id[:5],
            "clientHost": host,
            "rebalanceTimeout": 300_000,
            "sessionTimeout": 45_000,
            "subscription": to_base64(subscription),
            "assignment": to_base64(given),
        }

    value = {
        "protocolType": "consumer",
        "generation": 7,
        "protocol": "cooperative-sticky",
        "leader": first,
        "currentStateTimestamp": 1_795_224_375_134,
        "members": [
            member(first, None, "/10.1.2.7", newer, _assignment([0, 1])),
            member(second, "bay-2", "/10.1.2.9", older, _assignment([3, 4])),
        ],
    }
    _, written = encode_record(
        {"type": GROUP_METADATA, "key": {"group": "orders"}, "version": 3, "value": value}
    )
    assert written is not None
    return written


def _hex(data: bytes) -> str:
    return data.hex(" ")
