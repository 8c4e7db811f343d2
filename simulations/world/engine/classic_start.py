"""A classic group that is there when a run begins, and its members' clients, who have just been given their partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.classic.embedding import assignment
from simulations.protocol.client.consumer.effects import Effect
from simulations.protocol.coordinator.classic.group import STABLE, Group, Member, subscribed_topics
from simulations.protocol.coordinator.classic.records import group_metadata
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.classic_requests import CONSUMER_PROTOCOL_TYPE
from simulations.world.engine.initial_state import committed_records
from simulations.world.scenario import Scenario
from simulations.world.scenario.values import ClassicStart


def begun_group(
    scenario: Scenario, start: ClassicStart, clients: Mapping[str, ClassicConsumer], now_ms: int
) -> Group:
    """The group as its coordinator knows it: every member joined again in the generation that the run begins with."""
    leader = clients[start.leader].config.release
    group = Group(
        state=STABLE,
        state_timestamp_ms=now_ms,
        generation=start.generation,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        leader=start.leader,
    )
    for name, owned in start.owned.items():
        member, client = scenario.members[name], clients[name]
        assert member.classic is not None
        group = group.added(
            Member(
                member_id=name,
                instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                session_timeout_ms=member.classic.session_timeout_ms,
                protocols=client.offers(member.subscribe, now_ms, regex=member.regex),
                assignment=assignment(owned, leader.subscription_version),
            )
        )
    group = replace(group, protocol_name=group.selected_protocol())
    return replace(group, subscribed=subscribed_topics(group))


def records_of(scenario: Scenario, start: ClassicStart, group: Group, image: Image) -> list[Record]:
    """What the log holds of it: its type 2, and the offsets that were committed."""
    assignments = {member.member_id: member.assignment for member in group.members.values()}
    return [
        group_metadata(scenario.group, group, assignments),
        *committed_records(scenario, start.offsets, image),
    ]


def adopted(
    start: ClassicStart, group: Group, name: str, client: ClassicConsumer, now_ms: int
) -> list[Effect]:
    """What a member's client does at once: it takes what it was given."""
    return client.adopt(
        generation=group.generation,
        protocol_name=group.protocol_name or "",
        assignment=group.members[name].assignment,
        group_names=(group.subscribed or frozenset()) if name == start.leader else None,
        now_ms=now_ms,
    )
