"""The assignors that a scenario's member brings, made for its process; what ``report`` changes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simulations.assignors.client_side import CLIENT_ASSIGNORS, ClientAssignor
from simulations.assignors.streams_like import NAME as STREAMS
from simulations.assignors.streams_like import Reason, StreamsLike
from simulations.scenario import Member


def brought(member: Member) -> tuple[ClientAssignor, ...]:
    """In the order of the member's preference. The source topics of an instance of Streams are those it subscribes to."""
    return tuple(
        _streams(member) if name == STREAMS else CLIENT_ASSIGNORS[name]() for name in member.assignors
    )


def reported(
    assignors: tuple[ClientAssignor, ...], reason: Reason, lags: Mapping[int, int]
) -> tuple[ClientAssignor, ...]:
    """The assignors with another reason and other lags for those of Streams."""
    return tuple(
        replace(each, wants=reason, lags=dict(lags)) if isinstance(each, StreamsLike) else each
        for each in assignors
    )


def _streams(member: Member) -> StreamsLike:
    told = member.streams
    return StreamsLike(
        topology=told.topology,
        topics=member.subscribe,
        maximum_version=told.version,
        standbys=told.standbys,
    )
