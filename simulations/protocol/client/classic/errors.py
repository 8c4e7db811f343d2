"""Error codes of the classic APIs by their names, and Java's exceptions for them (``Errors``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

REQUEST_TIMED_OUT: Final = 7
OFFSET_METADATA_TOO_LARGE: Final = 12
COORDINATOR_LOAD_IN_PROGRESS: Final = 14
COORDINATOR_NOT_AVAILABLE: Final = 15
NOT_COORDINATOR: Final = 16
ILLEGAL_GENERATION: Final = 22
UNKNOWN_MEMBER_ID: Final = 25
REBALANCE_IN_PROGRESS: Final = 27
TOPIC_AUTHORIZATION_FAILED: Final = 29
GROUP_AUTHORIZATION_FAILED: Final = 30
MEMBER_ID_REQUIRED: Final = 79
FENCED_INSTANCE_ID: Final = 82

LOOKED_UP: Final = frozenset({COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR})
"""After these the coordinator is looked up."""

RETRIED: Final = LOOKED_UP | {COORDINATOR_LOAD_IN_PROGRESS, REQUEST_TIMED_OUT, 3}
"""Errors of a commit after which it is sent again, if somebody waits for it."""

NAMES: Final[Mapping[int, str]] = MappingProxyType(
    {
        REQUEST_TIMED_OUT: "REQUEST_TIMED_OUT",
        OFFSET_METADATA_TOO_LARGE: "OFFSET_METADATA_TOO_LARGE",
        COORDINATOR_LOAD_IN_PROGRESS: "COORDINATOR_LOAD_IN_PROGRESS",
        COORDINATOR_NOT_AVAILABLE: "COORDINATOR_NOT_AVAILABLE",
        NOT_COORDINATOR: "NOT_COORDINATOR",
        ILLEGAL_GENERATION: "ILLEGAL_GENERATION",
        23: "INCONSISTENT_GROUP_PROTOCOL",
        24: "INVALID_GROUP_ID",
        UNKNOWN_MEMBER_ID: "UNKNOWN_MEMBER_ID",
        26: "INVALID_SESSION_TIMEOUT",
        REBALANCE_IN_PROGRESS: "REBALANCE_IN_PROGRESS",
        TOPIC_AUTHORIZATION_FAILED: "TOPIC_AUTHORIZATION_FAILED",
        GROUP_AUTHORIZATION_FAILED: "GROUP_AUTHORIZATION_FAILED",
        35: "UNSUPPORTED_VERSION",
        MEMBER_ID_REQUIRED: "MEMBER_ID_REQUIRED",
        81: "GROUP_MAX_SIZE_REACHED",
        FENCED_INSTANCE_ID: "FENCED_INSTANCE_ID",
    }
)


_OTHERWISE_NAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "REQUEST_TIMED_OUT": "TimeoutException",
        "OFFSET_METADATA_TOO_LARGE": "OffsetMetadataTooLarge",
        "TOPIC_AUTHORIZATION_FAILED": "TopicAuthorizationException",
        "GROUP_AUTHORIZATION_FAILED": "GroupAuthorizationException",
        "UNKNOWN_SERVER_ERROR": "UnknownServerException",
    }
)
"""Errors whose class is not called as they are."""


def error_name(code: int) -> str:
    return NAMES.get(code, "UNKNOWN_SERVER_ERROR")


def exception_of(code: int) -> str:
    """Java's class for an error: in most cases its name in camel case, ``…Exception``.

    >>> exception_of(27), exception_of(30)
    ('RebalanceInProgressException', 'GroupAuthorizationException')
    """
    name = error_name(code)
    return _OTHERWISE_NAMED.get(name) or name.title().replace("_", "") + "Exception"
