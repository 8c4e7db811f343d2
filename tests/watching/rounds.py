"""Rounds over a cluster that is none: groups as a coordinator would describe them, at a time of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groups.clusters.brokers import Listed, Listing
from groups.history.polls.description import GroupDescription, GroupKind, MemberDescription, Undescribed
from groups.watching.group_row import LagFacts
from groups.watching.pulling import Round

BEGIN_MS = 1_795_000_000_000

Shares = Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]
"""Member → partitions of ``orders`` that it has, and those of its target."""


def described(
    group: str, shares: Shares, *, epoch: int, assignment_epoch: int | None = None, state: str = "Stable"
) -> GroupDescription:
    """A consumer group as its coordinator describes it; a member that has its target is at the assignment epoch."""
    target_epoch = epoch if assignment_epoch is None else assignment_epoch
    members = tuple(
        MemberDescription(
            member_id=name, client_id=name, host="/10.0.0.1",
            epoch=target_epoch if has == wants else target_epoch - 1,
            subscribed=("orders",), assignment={"orders": has}, target={"orders": wants}, member_type=1,
        )
        for name, (has, wants) in shares.items()
    )  # fmt: skip
    return GroupDescription(
        group=group, kind=GroupKind.CONSUMER, state=state if members else "Empty", group_epoch=epoch,
        assignment_epoch=target_epoch, assignor="uniform", members=members,
    )  # fmt: skip


def behind(
    records: int | None,
    ms: int | None = None,
    *,
    is_least: bool = False,
    lost: tuple[int, str] | None = None,
) -> LagFacts:
    """``lost``: records, and the partition that lost most."""
    return {
        "lag": records,
        "lag_ms": ms,
        "lag_is_least": is_least,
        "lost_records": lost[0] if lost else 0,
        "lost_partition": lost[1] if lost else None,
        "skew": None,
        "skew_of": None,
    }


def round_of(
    at_ms: int,
    *told: GroupDescription | Undescribed,
    lag: Mapping[str, int | LagFacts | None] | None = None,
    **more: Any,
) -> Round:
    """One full round that saw these groups; a lag is its records alone, or all that a round finds out."""
    rows = {
        each.group: Listed(
            group=each.group,
            kind=GroupKind.CONSUMER,
            state=each.state if isinstance(each, GroupDescription) else "Stable",
            protocol_type="consumer",
            broker=1,
        )
        for each in told
    }
    return Round(
        at_ms=at_ms, took_ms=5, full=True, listing=Listing(groups=rows, silent={}),
        answers={each.group: each for each in told}, asked=frozenset(rows),
        lag=None if lag is None else {name: each if isinstance(each, dict) else behind(each) for name, each in lag.items()},
        partitions={"orders": 4}, **more,
    )  # fmt: skip
