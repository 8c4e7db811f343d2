"""What a scenario's member brings to its process: its settings and its assignors; what ``report`` changes of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from groups.history.state.group import Semantics
from groups.history.state.plain import from_plain, to_plain
from simulations.protocol.assignors.client_side import CLIENT_ASSIGNORS, FROM_CLASSIC, ClientAssignor
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.assignors.streams_like import OLDEST_VERSION, STREAMS_LIKE, Reason, StreamsLike
from simulations.protocol.client.classic import CLIENTS, ClassicConfig
from simulations.protocol.client.classic.config import Metadata
from simulations.protocol.client.consumer import Consumer, ConsumerClient, ConsumerConfig
from simulations.protocol.client.consumer.computing import ComputingConsumer
from simulations.protocol.coordinator.image import Image
from simulations.world.scenario import Member, Scenario
from simulations.world.scenario.classic_members import CLASSIC, CONSUMER, Classic


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
        is_proposed=semantics is Semantics.KIP,
        client=ConsumerClient(member.client if semantics is Semantics.KAFKA else ConsumerClient.JAVA_4_3),
    )


def consumer_of(config: ConsumerConfig, member: Member, semantics: Semantics) -> Consumer:
    """A fresh client; one that computes where the member has assignors of its own, which no release has."""
    if member.assignors and semantics is Semantics.KIP:
        return ComputingConsumer(config, brought(member))
    return Consumer(config)


def classic_config_of(
    scenario: Scenario, member: Member, member_id: str, metadata: Metadata
) -> ClassicConfig:
    """What a member of the classic protocol is set to; ``metadata`` is a broker's list of topics for it."""
    classic = member.classic
    assert classic is not None
    return ClassicConfig(
        group_id=scenario.group,
        member_id=member_id,
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=metadata,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        assignors=classic.assignors,
        upgrade_from=classic.upgrade_from,
        session_timeout_ms=classic.session_timeout_ms,
        heartbeat_interval_ms=classic.heartbeat_interval_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        callback_ms=member.callback_ms,
        auto_commit=member.auto_commit,
        auto_commit_interval_ms=member.auto_commit_interval_ms,
        revoke_commits=classic.revoke_commits,
        metadata_max_age_ms=classic.metadata_max_age_ms,
        release=CLIENTS[classic.client],
    )


def topics_as_noted(image: Image) -> dict[str, Topic]:
    """The topics as a broker's answer to Metadata has them."""
    return {
        name: Topic(partitions=topic.partitions, racks=dict(enumerate(topic.racks)) or None)
        for name, topic in image.topics.items()
    }


def changed(member: Member, changes: Mapping[str, object]) -> Member:
    """The member as a bounce starts it again; ``changes`` are an action's."""
    topics = dict(changes)
    protocol = topics.pop("protocol", None)
    if protocol == CONSUMER and "assignors" in topics:
        names = cast(tuple[str, ...], topics["assignors"])
        return replace(member, classic=None, assignor=None, assignors=names)
    if protocol == CONSUMER:
        return replace(member, classic=None)
    if protocol == CLASSIC or topics:
        return replace(
            member, classic=from_plain(Classic, {**to_plain(member.classic or Classic()), **topics})
        )
    return member


def brought(member: Member) -> tuple[ClientAssignor, ...]:
    """In the order of the member's preference. The source topics of an instance of Streams are those it subscribes to."""
    return tuple(
        _streams(member) if name == STREAMS_LIKE else CLIENT_ASSIGNORS[name]() for name in member.assignors
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
    streams = member.streams
    return StreamsLike(
        topology=streams.topology,
        topics=member.subscribe,
        minimum_version=FROM_CLASSIC if streams.reads_classic else OLDEST_VERSION,
        maximum_version=streams.version,
        standbys=streams.standbys,
    )
