"""What a scenario's member brings to its process: its settings and its assignors; what ``report`` changes of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.history.state.group import Semantics
from simulations.protocol.assignors.client_side import CLIENT_ASSIGNORS, ClientAssignor
from simulations.protocol.assignors.streams_like import NAME as STREAMS
from simulations.protocol.assignors.streams_like import Reason, StreamsLike
from simulations.protocol.client.consumer import ConsumerConfig
from simulations.world.scenario import Member, Scenario


def config_of(scenario: Scenario, name: str, member_id: str, semantics: Semantics) -> ConsumerConfig:
    """What a member's consumer is set to, in a run as in an exploration; what takes time is the run's to add."""
    member = scenario.members[name]
    return ConsumerConfig(
        group_id=scenario.group,
        member_id=member_id,
        client_id=member.client_id,
        client_host=member.client_host,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        server_assignor=member.assignor,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        callback_ms=member.callback_ms,
        calls_for_nothing=semantics is Semantics.KAFKA,
    )


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
