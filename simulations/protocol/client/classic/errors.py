"""Error codes of the classic APIs by their names, and Java's exceptions for them (``Errors``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from simulations.protocol.messages.errors import ErrorCode

LOOKED_UP: Final = frozenset({ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR})
"""After these the coordinator is looked up."""

RETRIED: Final = LOOKED_UP | {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
"""Errors of a commit after which it is sent again, if somebody waits for it."""

NAMES: Final[Mapping[int, str]] = MappingProxyType(
    {
        code: code.name
        for code in (
            ErrorCode.REQUEST_TIMED_OUT,
            ErrorCode.OFFSET_METADATA_TOO_LARGE,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.ILLEGAL_GENERATION,
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            ErrorCode.INVALID_GROUP_ID,
            ErrorCode.UNKNOWN_MEMBER_ID,
            ErrorCode.INVALID_SESSION_TIMEOUT,
            ErrorCode.REBALANCE_IN_PROGRESS,
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            ErrorCode.GROUP_AUTHORIZATION_FAILED,
            ErrorCode.UNSUPPORTED_VERSION,
            ErrorCode.MEMBER_ID_REQUIRED,
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            ErrorCode.FENCED_INSTANCE_ID,
        )
    }
)
"""Errors that a classic consumer has a name for; every other one is an UNKNOWN_SERVER_ERROR."""


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
