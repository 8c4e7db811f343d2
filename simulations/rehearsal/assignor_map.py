"""Which assignor of the coordinator takes over from which of the clients."""

from __future__ import annotations

from typing import Final, TypedDict

from simulations.protocol.assignors.classic.custom import CUSTOM_COOPERATIVE, CUSTOM_USER_DATA, STREAM
from simulations.rehearsal.values import Question


class AssignorRow(TypedDict):
    """``server`` is null where no server assignor does the same; ``used`` whether a member of the group lists it."""

    client: str
    server: str | None
    says: str
    used: bool


_ROWS: Final = (
    ("range", "range", "The same partitions of each topic to the same member."),
    ("roundrobin", "uniform", "As even; a member may own other partitions, and keeps what it has."),
    ("sticky", "uniform", "Even and sticky; partitions move one by one, nobody gives up everything."),
    ("cooperative-sticky", "uniform", "Even and sticky; only what moves is revoked."),
    (
        STREAM,
        None,
        "Kafka Streams is no consumer group of the new protocol: it has a protocol of its own (group.protocol=streams, KIP-1071).",
    ),
    (
        CUSTOM_COOPERATIVE,
        None,
        "A class of your own: it is converted, as its assignments carry no user data, and its rule is gone then.",
    ),
    (
        CUSTOM_USER_DATA,
        None,
        "A class of your own with user data in its assignments: the coordinator refuses to convert the group.",
    ),
)


def assignor_map(question: Question) -> list[AssignorRow]:
    """All of Kafka's, and those of one's own that the group lists."""
    used = {name for member in question.classic for name in member.assignors}
    return [
        {"client": client, "server": server, "says": text, "used": client in used}
        for client, server, text in _ROWS
        if server is not None or client in used
    ]
