"""The states of a consumer's membership, and what may happen in which."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from simulations.coordinator.errors import ErrorCode

FENCES: Final = (ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID)
"""Answers after which a consumer drops everything and joins anew; every other error here is fatal."""


class MemberState(StrEnum):
    """``MemberState`` of the Java client."""

    UNSUBSCRIBED = "UNSUBSCRIBED"
    JOINING = "JOINING"
    RECONCILING = "RECONCILING"
    ACKNOWLEDGING = "ACKNOWLEDGING"
    STABLE = "STABLE"
    FENCED = "FENCED"
    PREPARE_LEAVING = "PREPARE_LEAVING"
    LEAVING = "LEAVING"
    STALE = "STALE"
    FATAL = "FATAL"


BEATING: Final = frozenset(
    {
        MemberState.JOINING,
        MemberState.RECONCILING,
        MemberState.ACKNOWLEDGING,
        MemberState.STABLE,
        MemberState.PREPARE_LEAVING,
    }
)
RECEIVING: Final = frozenset(
    {MemberState.JOINING, MemberState.RECONCILING, MemberState.ACKNOWLEDGING, MemberState.STABLE}
)
"""States in which an assignment that an answer brings is taken."""
