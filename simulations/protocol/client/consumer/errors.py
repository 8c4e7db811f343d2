"""What a consumer does about each error that a coordinator or the network gives it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
REQUEST_TIMED_OUT: Final = 7
COORDINATOR_LOAD_IN_PROGRESS: Final = 14
COORDINATOR_NOT_AVAILABLE: Final = 15
NOT_COORDINATOR: Final = 16
UNKNOWN_MEMBER_ID: Final = 25
TOPIC_AUTHORIZATION_FAILED: Final = 29
UNKNOWN_TOPIC_ID: Final = 100
FENCED_MEMBER_EPOCH: Final = 110
STALE_MEMBER_EPOCH: Final = 113


class Failure(StrEnum):
    """Why a request has no answer: the connection broke, or ``request.timeout.ms`` ran out, which breaks it."""

    DISCONNECTED = "disconnected"
    TIMED_OUT = "timed_out"


class Reaction(Enum):
    LOOK_UP = auto()
    """The coordinator is unknown from here on; sent again as soon as it is found."""
    RETRY = auto()
    """Sent again after a back-off."""
    RAISE = auto()
    """``poll()`` throws; the member stays, and sends again after a back-off."""
    FENCE = auto()
    """Everything is lost; the member joins anew under its id."""
    FATAL = auto()
    """``poll()`` throws; nothing is ever sent again."""


HEARTBEAT_REACTIONS: Final[Mapping[int, Reaction]] = MappingProxyType(
    {
        COORDINATOR_NOT_AVAILABLE: Reaction.LOOK_UP,
        NOT_COORDINATOR: Reaction.LOOK_UP,
        COORDINATOR_LOAD_IN_PROGRESS: Reaction.RETRY,
        TOPIC_AUTHORIZATION_FAILED: Reaction.RAISE,
        FENCED_MEMBER_EPOCH: Reaction.FENCE,
        UNKNOWN_MEMBER_ID: Reaction.FENCE,
    }
)
"""Every other code is fatal, also one that the client does not know (``AbstractHeartbeatRequestManager.onErrorResponse``)."""

LOOKED_UP: Final = frozenset({COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, REQUEST_TIMED_OUT})
"""Errors of a commit or a fetch after which the coordinator is looked up."""

RETRIABLE: Final = LOOKED_UP | {COORDINATOR_LOAD_IN_PROGRESS, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID}
"""Errors of a commit that may pass: a waiting one is sent again, another one fails as retriable."""

JAVA_EXCEPTIONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        29: "TopicAuthorizationException",
        30: "GroupAuthorizationException",
        35: "UnsupportedVersionException",
        42: "InvalidRequestException",
        69: "GroupIdNotFoundException",
        81: "GroupMaxSizeReachedException",
        82: "FencedInstanceIdException",
        111: "UnreleasedInstanceIdException",
        112: "UnsupportedAssignorException",
        128: "InvalidRegularExpression",
    }
)
"""What ``poll()`` throws; for any other code it is an ``UnknownServerException``."""
