"""Why a coordinator refuses a request, or what it should load."""

from __future__ import annotations

from simulations.protocol.messages.errors import ErrorCode


class RequestRefused(Exception):
    """A request that is answered with an error; nothing is written and no timer is touched."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ConfigRefused(RequestRefused):
    """A group's own setting that the broker does not take (``INVALID_CONFIG``)."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INVALID_CONFIG, message)


class IllegalState(Exception):
    """Records that a coordinator refuses to load; the message is Kafka's (``IllegalStateException``)."""


class AnotherProtocol(Exception):
    """What was asked would convert a group of the classic protocol that has members; this coordinator does not."""
