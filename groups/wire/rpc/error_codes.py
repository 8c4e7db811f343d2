"""Kafka's names for the numbers in ``errorCode`` fields."""

from __future__ import annotations

from functools import cache


@cache
def _names() -> dict[int, str]:
    from kio.schema.errors import ErrorCode

    return {int(code): code.name.upper() for code in ErrorCode}


def error_name(code: int) -> str | None:
    """``UNKNOWN_MEMBER_ID`` for 25; ``None`` for a number of a later release."""
    return _names().get(code)
