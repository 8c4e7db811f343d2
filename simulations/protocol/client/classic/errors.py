"""Error codes of the classic APIs by their names, and Java's exceptions for them (``Errors``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

REQUEST_TIMED_OUT: Final = 7
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


def error_name(code: int) -> str:
    return NAMES.get(code, "UNKNOWN_SERVER_ERROR")


def exception_of(code: int) -> str:
    """Java's class for an error: its name in camel case, ``…Exception``.

    >>> exception_of(27), exception_of(25)
    ('RebalanceInProgressException', 'UnknownMemberIdException')
    """
    name = error_name(code)
    if code in (TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED):
        # These alone are not called as their errors are.
        name = name.removesuffix("_FAILED")
    return name.title().replace("_", "") + "Exception"
