"""What a client of old reads of a newer blob of the consumer protocol, and what follows when it leads the group.

A client reads with the last version that it knows and ignores what is behind. So a leader of old does not learn
which partitions a member still holds (KIP-429: the reason why an upgrade to cooperative assignors takes two rolling
bounces), since which generation (KIP-792), or in which rack the member is (KIP-881).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from groups.wire.codecs.schema import Message
from groups.wire.codecs.values import Fields, Value
from groups.wire.embedded.consumer_protocol import NEWEST_VERSION, read_blob
from groups.wire.embedded.user_data import (
    COOPERATIVE_STICKY,
    NO_GENERATION,
    STICKY,
    MemberData,
    flat_partitions,
    member_data,
)
from groups.wire.errors import RecordError

RANGE: Final = "range"
ROUND_ROBIN: Final = "roundrobin"

EAGER: Final = frozenset({RANGE, ROUND_ROBIN, STICKY})
"""Kafka's assignors that count on every member to have given up all that it held."""

RACK_AWARE: Final = frozenset({RANGE, STICKY, COOPERATIVE_STICKY})

SHOWN_PARTITIONS: Final = 3
"""A sentence names this many partitions and counts the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A blob as a client reads it that knows versions up to ``newest_known``."""

    newest_known: int
    value: Fields | None
    """As ``decode_subscription`` or ``decode_assignment`` returns it; ``None`` if the client cannot read it."""
    fault: RecordError | None = None
    """Why it cannot."""
    bytes_read: int = 0
    bytes_ignored: int = 0
    lost: Fields = field(default_factory=dict)
    """The fields that the blob carries and this client ignores, as today's clients read them."""


class Consequence(StrEnum):
    """What follows for the group when such a client is its leader."""

    UNREADABLE = "unreadable"
    """The leader cannot read the subscription: the rebalance fails."""
    HOLDINGS_UNSEEN = "holdings-unseen"
    """The leader does not learn what the member holds."""
    HOLDINGS_NOT_ASKED = "holdings-not-asked"
    """The leader's assignor does not ask what the member holds, in any version."""
    GENERATION_FROM_USER_DATA = "generation-from-user-data"
    GENERATION_UNKNOWN = "generation-unknown"
    PREVIOUS_FROM_USER_DATA = "previous-from-user-data"
    """The assignor takes the member's last assignment from the user data, in any version."""
    RACK_UNSEEN = "rack-unseen"


@dataclass(frozen=True, slots=True)
class OlderClientEffect:
    """A consequence, and a sentence about it whose "it" is the leader."""

    consequence: Consequence
    sentence: str


def seen_by(message: Message, data: bytes, newest_known: int) -> Seen:
    """What a client reads of a blob of ``message`` (``SUBSCRIPTION`` or ``ASSIGNMENT``) that knows versions 0 to
    ``newest_known``."""
    try:
        value, end = read_blob(message, data, newest_known)
    except RecordError as fault:
        return Seen(newest_known=newest_known, value=None, fault=fault)
    return Seen(
        newest_known=newest_known,
        value=value,
        bytes_read=end,
        bytes_ignored=len(data) - end,
        lost=_lost(message, data, value),
    )


def _lost(message: Message, data: bytes, value: Mapping[str, Value]) -> Fields:
    try:
        whole, _ = read_blob(message, data, NEWEST_VERSION)
    except RecordError:
        return {}  # Damaged where this client does not look: nobody can say what it misses.
    return {name: whole[name] for name in whole if name not in value}


def consequences(seen: Seen, assignor: str) -> list[OlderClientEffect]:
    """What follows for the member whose subscription was ``seen``, if that client leads with ``assignor``; nothing,
    if it does as today's clients do."""
    if seen.value is None:
        fault = f"It cannot read the subscription, and the rebalance fails: {seen.fault}"
        return [OlderClientEffect(Consequence.UNREADABLE, fault)]
    return [*_holdings(seen, seen.value, assignor), *_racks(seen, assignor)]


def _holdings(seen: Seen, value: Mapping[str, Value], assignor: str) -> Iterator[OlderClientEffect]:
    held = flat_partitions({**value, **seen.lost}.get("ownedPartitions", ()))
    if assignor in EAGER and held:
        yield OlderClientEffect(
            Consequence.HOLDINGS_NOT_ASKED,
            f"It takes nobody to hold anything, as {assignor} does in every version: it may give "
            f"{_named(held)} to others at once, while the member still holds {_them(held)}.",
        )
    elif held and "ownedPartitions" in seen.lost:
        yield OlderClientEffect(
            Consequence.HOLDINGS_UNSEEN,
            f"It takes the member to hold nothing: it may give {_named(held)} to others at once, while the "
            f"member still holds {_them(held)}.",
        )
    elif assignor == COOPERATIVE_STICKY and seen.lost.get("generationId", NO_GENERATION) >= 0:
        yield _generation(member_data(COOPERATIVE_STICKY, value).generation, seen.lost["generationId"])
    if assignor == STICKY:
        yield _previous(member_data(STICKY, value))


def _generation(believed: int | None, written: int) -> OlderClientEffect:
    if believed is None or believed < 0:
        return OlderClientEffect(
            Consequence.GENERATION_UNKNOWN,
            f"It learns no generation, where the subscription has {written}: if two members claim a partition, "
            "it cannot tell which of the claims is stale.",
        )
    other = "" if believed == written else f", where the subscription has {written}"
    return OlderClientEffect(
        Consequence.GENERATION_FROM_USER_DATA,
        f"It knows generation {believed} from the user data alone{other}.",
    )


def _previous(believed: MemberData) -> OlderClientEffect:
    if not believed.partitions:
        sentence = "It finds no earlier assignment in the user data, where alone sticky looks."
    else:
        since = "no generation" if believed.generation is None else f"generation {believed.generation}"
        sentence = (
            f"It knows from the user data alone what the member had: {_named(believed.partitions)}, {since}."
        )
    return OlderClientEffect(Consequence.PREVIOUS_FROM_USER_DATA, sentence)


def _racks(seen: Seen, assignor: str) -> Iterator[OlderClientEffect]:
    # An empty rack is none, to the assignors.
    if assignor in RACK_AWARE and (rack := seen.lost.get("rackId")):
        yield OlderClientEffect(
            Consequence.RACK_UNSEEN,
            f"It does not learn that the member is in rack {rack}, and assigns as if it were in none.",
        )


def _named(partitions: tuple[tuple[str, int], ...]) -> str:
    names = [f"{topic}-{partition}" for topic, partition in partitions[:SHOWN_PARTITIONS]]
    if (more := len(partitions) - len(names)) > 0:
        names.append(f"{more} more")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _them(partitions: tuple[tuple[str, int], ...]) -> str:
    return "it" if len(partitions) == 1 else "them"
