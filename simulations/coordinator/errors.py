"""Kafka's error codes that the consumer protocol answers (``org.apache.kafka.common.protocol.Errors``)."""

from __future__ import annotations

from enum import IntEnum

from groups.wire import kip


class ErrorCode(IntEnum):
    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_METADATA_TOO_LARGE = 12
    UNKNOWN_MEMBER_ID = 25
    UNSUPPORTED_VERSION = 35
    INVALID_REQUEST = 42
    GROUP_ID_NOT_FOUND = 69
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    INVALID_ASSIGNMENT = kip.INVALID_ASSIGNMENT


class RequestRefused(Exception):
    """A request that is answered with an error; nothing is written and no timer is touched."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
