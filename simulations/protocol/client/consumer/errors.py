"""What a consumer does about each error that a coordinator or the network gives it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final

from simulations.protocol.messages.errors import ErrorCode


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
    """Everything is lost; the member joins again under its id."""
    FATAL = auto()
    """``poll()`` throws; nothing is ever sent again."""


HEARTBEAT_REACTIONS: Final[Mapping[int, Reaction]] = MappingProxyType(
    {
        ErrorCode.COORDINATOR_NOT_AVAILABLE: Reaction.LOOK_UP,
        ErrorCode.NOT_COORDINATOR: Reaction.LOOK_UP,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Reaction.RETRY,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: Reaction.RAISE,
        ErrorCode.FENCED_MEMBER_EPOCH: Reaction.FENCE,
        ErrorCode.UNKNOWN_MEMBER_ID: Reaction.FENCE,
    }
)
"""Every other code is fatal, also one that the client does not know (``AbstractHeartbeatRequestManager.onErrorResponse``)."""

LOOKED_UP: Final = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.REQUEST_TIMED_OUT}
)
"""Errors of a commit or a fetch after which the coordinator is looked up."""

RETRIABLE: Final = LOOKED_UP | {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
}
"""Errors of a commit that may pass: a waiting one is sent again, another one fails as retriable."""

JAVA_EXCEPTIONS: Final[Mapping[int, str]] = MappingProxyType(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED: "TopicAuthorizationException",
        ErrorCode.GROUP_AUTHORIZATION_FAILED: "GroupAuthorizationException",
        ErrorCode.UNSUPPORTED_VERSION: "UnsupportedVersionException",
        ErrorCode.INVALID_REQUEST: "InvalidRequestException",
        ErrorCode.GROUP_ID_NOT_FOUND: "GroupIdNotFoundException",
        ErrorCode.GROUP_MAX_SIZE_REACHED: "GroupMaxSizeReachedException",
        ErrorCode.FENCED_INSTANCE_ID: "FencedInstanceIdException",
        ErrorCode.UNRELEASED_INSTANCE_ID: "UnreleasedInstanceIdException",
        ErrorCode.UNSUPPORTED_ASSIGNOR: "UnsupportedAssignorException",
        ErrorCode.INVALID_REGULAR_EXPRESSION: "InvalidRegularExpression",
    }
)
"""What ``poll()`` throws; for any other code it is an ``UnknownServerException``."""
