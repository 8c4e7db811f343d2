"""The classic group that there is: what is kept in memory, or what a new coordinator makes of the records.

Kafka: ``GroupMetadataManager.replay`` of a ``GroupMetadataValue``, ``onLoaded``.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

from groups.history.state.classic_group import ClassicGroup
from groups.history.state.group import Protocol
from simulations.protocol.coordinator.classic.group import (
    DEAD,
    EMPTY,
    STABLE,
    Group,
    Member,
    subscribed_topics,
)
from simulations.protocol.coordinator.classic.join_phase import prepare_rebalance
from simulations.protocol.coordinator.classic.operation import Operation
from simulations.protocol.coordinator.consumer.outcome import Context


def classic_group(context: Context) -> Group | None:
    """The classic group as it is now; ``None`` if there is none of this protocol."""
    if context.memory.classic is not None:
        return context.memory.classic
    if context.state.protocol is not Protocol.CLASSIC or context.state.deleted:
        return None
    return group_of_records(context.state.classic, context.now_ms)


def group_of_records(recorded: ClassicGroup, now_ms: int) -> Group:
    """The group that a new coordinator has: stable or empty, with nobody joining and nothing parked.

    Of what a member listed only the protocol that was chosen is known. A group of which there are offsets alone has
    no record; it is as old as its loading.
    """
    if not recorded.recorded:
        return Group(state_timestamp_ms=now_ms)
    group = Group()
    for member in recorded.members.values():
        timeout_ms = member.rebalance_timeout_ms
        loaded = Member(
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout_ms=timeout_ms if timeout_ms != -1 else member.session_timeout_ms,
            session_timeout_ms=member.session_timeout_ms,
            protocol_type=recorded.protocol_type,
            protocols=((recorded.protocol_name or "", b64decode(member.subscription)),),
            assignment=b64decode(member.assignment),
        )
        group = group.added(loaded)
    group = replace(
        group,
        state=STABLE if recorded.members else EMPTY,
        previous_state=DEAD,
        state_timestamp_ms=recorded.state_timestamp_ms,
        generation=recorded.generation,
        protocol_type=recorded.protocol_type or None,
        protocol_name=recorded.protocol_name,
        leader=recorded.leader,
    )
    return replace(group, subscribed=subscribed_topics(group))


def loaded(operation: Operation) -> None:
    """A session for each member; a group with more members than it may have rebalances (``onLoaded``)."""
    group = operation.group
    for member in group.in_order():
        operation.restart_session(member)
    if len(group.members) > operation.context.settings.classic_max_size:
        prepare_rebalance(operation)
