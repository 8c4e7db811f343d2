"""Replay of the streams protocol's records (KIP-1071): types 17 and 19 to 23."""

from __future__ import annotations

from typing import Final, cast

from groups.history.replay import epoch_groups
from groups.history.replay.epoch_groups import (
    assignment_of,
    known_or_past,
    no_room,
    partitions_of,
    replays_of,
    with_current,
)
from groups.history.replay.fields import Fields, integer, mapping, text
from groups.history.replay.record_types import TOPOLOGY
from groups.history.state.copying import replace
from groups.history.state.epochs import named_partitions, with_member
from groups.history.state.group import Protocol, State, seen_names
from groups.history.state.streams import NOT_VALIDATED, STABLE, StreamsMember, Subtopology, Topology
from groups.history.state.versions import put

SUBTOPOLOGY: Final = "subtopologyId"


def _group_epoch(state: State, key: Fields, value: Fields) -> State:
    """Type 17: the epoch, and which topology was found to have all its topics."""
    state = epoch_groups.group_epoch(state, key, value)
    validated = integer(value.get("validatedTopologyEpoch", NOT_VALIDATED))
    return replace(state, streams=replace(state.streams, validated_topology_epoch=validated))


def _member(state: State, key: Fields, value: Fields) -> State:
    """Type 19: the member is made if it is absent (epoch 0); its epochs and its tasks stay."""
    member_id = str(key["memberId"])
    endpoint = mapping(value.get("userEndpoint"))
    new = replace(
        state.streams.members.get(member_id) or StreamsMember(member_id=member_id),
        instance_id=text(value.get("instanceId")),
        rack_id=text(value.get("rackId")),
        client_id=text(value.get("clientId")) or "",
        client_host=text(value.get("clientHost")) or "",
        rebalance_timeout_ms=integer(value.get("rebalanceTimeoutMs", -1)),
        topology_epoch=integer(value.get("topologyEpoch", -1)),
        process_id=text(value.get("processId")) or "",
        endpoint=f"{endpoint.get('host')}:{endpoint.get('port')}" if endpoint else None,
        tags={str(tag["key"]): str(tag["value"]) for tag in value.get("clientTags") or ()},
    )
    return replace(state, streams=with_member(state.streams, new))


def _target_member(state: State, key: Fields, value: Fields) -> State:
    """Type 21: the member need not exist."""
    group, member_id = state.streams, str(key["memberId"])
    active, standby, warmup = (
        partitions_of(value.get(name), SUBTOPOLOGY) for name in ("activeTasks", "standbyTasks", "warmupTasks")
    )
    tasks = active, standby, warmup
    named = group.named - group.named_by_target(member_id) + named_partitions(tasks)
    full = no_room(state, named, tasks)
    if full is not None:
        return full
    new = replace(
        group,
        named=named,
        target=put(group.target, member_id, active),
        target_standby=put(group.target_standby, member_id, standby),
        target_warmup=put(group.target_warmup, member_id, warmup),
    )
    return replace(state, streams=new)


def _current_member(state: State, key: Fields, value: Fields) -> State:
    """Type 22: the member is made if it is absent; the epochs of active tasks follow it."""
    member_id = str(key["memberId"])
    state, old = known_or_past(state, state.streams.members, StreamsMember, member_id)
    epoch = integer(value["memberEpoch"])
    # Polls of a live group know it only of members at the assignment epoch; a record always has it.
    code = value.get("state", STABLE)
    new = replace(
        old,
        epoch=epoch,
        previous_epoch=integer(value.get("previousMemberEpoch", old.epoch)),
        current_recorded=True,
        state=None if code is None else integer(code),
        assigned=assignment_of(value.get("activeTasks"), epoch, SUBTOPOLOGY),
        standby=partitions_of(value.get("standbyTasks"), SUBTOPOLOGY),
        warmup=partitions_of(value.get("warmupTasks"), SUBTOPOLOGY),
        pending_revocation=assignment_of(value.get("activeTasksPendingRevocation"), epoch, SUBTOPOLOGY),
        standby_pending_revocation=partitions_of(value.get("standbyTasksPendingRevocation"), SUBTOPOLOGY),
        warmup_pending_revocation=partitions_of(value.get("warmupTasksPendingRevocation"), SUBTOPOLOGY),
    )
    return with_current(state, old, new)


def _topology(state: State, _key: Fields, value: Fields) -> State:
    """Type 23: what the application does, subtopology by subtopology."""
    subtopologies = {
        # Kept as it is, with fields that are not known: frames show those that they know.
        str(each[SUBTOPOLOGY]): cast(Subtopology, mapping(each))
        for each in value.get("subtopologies") or ()
    }
    topology = Topology(epoch=integer(value["epoch"]), subtopologies=subtopologies)
    names = [
        str(name)
        for each in subtopologies.values()
        for name in (
            *(each.get("sourceTopics") or ()),
            *(topic["name"] for topic in each.get("repartitionSourceTopics") or ()),
        )
    ]
    return replace(seen_names(state, names), streams=replace(state.streams, topology=topology))


def _topology_gone(state: State, _key: Fields) -> State:
    return replace(state, streams=replace(state.streams, topology=None))


REPLAYS: Final = replays_of(
    Protocol.STREAMS,
    {
        17: _group_epoch,
        19: _member,
        20: epoch_groups.target_epoch,
        21: _target_member,
        22: _current_member,
        23: _topology,
    },
    {TOPOLOGY: _topology_gone},
)
