"""The states of a consumer's membership, from which each may be entered, and what happens in which."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


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


(
    _UNSUBSCRIBED,
    _JOINING,
    _RECONCILING,
    _ACKNOWLEDGING,
    _STABLE,
    _FENCED,
    _PREPARE_LEAVING,
    _LEAVING,
    _STALE,
    _,
) = MemberState

ALLOWED_FROM: Final[Mapping[MemberState, frozenset[MemberState]]] = MappingProxyType(
    {
        MemberState.UNSUBSCRIBED: frozenset({_PREPARE_LEAVING, _LEAVING, _FENCED}),
        MemberState.JOINING: frozenset({_FENCED, _UNSUBSCRIBED, _STALE}),
        MemberState.RECONCILING: frozenset({_STABLE, _JOINING, _ACKNOWLEDGING, _RECONCILING}),
        MemberState.ACKNOWLEDGING: frozenset({_RECONCILING}),
        MemberState.STABLE: frozenset({_JOINING, _ACKNOWLEDGING, _RECONCILING}),
        MemberState.FENCED: frozenset(
            {_JOINING, _STABLE, _RECONCILING, _ACKNOWLEDGING, _PREPARE_LEAVING, _LEAVING}
        ),
        MemberState.PREPARE_LEAVING: frozenset(
            {_JOINING, _STABLE, _RECONCILING, _ACKNOWLEDGING, _UNSUBSCRIBED}
        ),
        MemberState.LEAVING: frozenset({_PREPARE_LEAVING}),
        MemberState.STALE: frozenset({_LEAVING}),
        MemberState.FATAL: frozenset(
            {_JOINING, _STABLE, _RECONCILING, _ACKNOWLEDGING, _PREPARE_LEAVING, _LEAVING, _UNSUBSCRIBED}
        ),
    }
)
"""``MemberState.previousValidStates``: each state with those that it may follow."""

RECEIVING: Final = frozenset({_JOINING, _RECONCILING, _ACKNOWLEDGING, _STABLE})
"""States in which an assignment that an answer brings is taken; from each of them a member may leave."""

BEATING: Final = RECEIVING | {_PREPARE_LEAVING}
"""States in which heartbeats go out regularly. The one of LEAVING goes out once, at once."""


class IllegalTransition(Exception):
    """The machine went where the table does not lead: a mistake of its own."""


def check_transition(old: MemberState, new: MemberState) -> None:
    if old not in ALLOWED_FROM[new]:
        raise IllegalTransition(f"{new} cannot follow {old}")
