"""Replay of observations: what a coordinator described of a classic group between two generations, which no record contains."""

from __future__ import annotations

from groups.history.entries import Entry
from groups.history.replay.fields import mapping, text
from groups.history.state.classic_group import (
    BETWEEN,
    NOT_DESCRIBED,
    UNKNOWN_GENERATION,
    ClassicGroup,
    ClassicMember,
)
from groups.history.state.copying import replace
from groups.history.state.group import Protocol, State


def replay_observation(state: State, entry: Entry) -> State:
    """The phase and the members of a classic group, as they were described; of other groups nothing changes."""
    payload = entry.payload
    if payload.get("type") != Protocol.CLASSIC or state.deleted:
        return state
    if state.protocol not in (None, Protocol.CLASSIC):
        return state
    group = state.classic if state.protocol is not None else ClassicGroup(generation=UNKNOWN_GENERATION)
    phase = payload["state"] if payload["state"] in BETWEEN else None
    members = {str(each["memberId"]): mapping(each) for each in payload["members"]} if phase else {}
    joining = {
        member_id: ClassicMember(
            member_id=member_id,
            instance_id=text(each.get("groupInstanceId")),
            client_id=text(each.get("clientId")) or "",
            client_host=text(each.get("clientHost")) or "",
        )
        for member_id, each in members.items()
        if member_id not in group.members
    }
    # Where a line or a request said before why a member went, that holds.
    gone = {name: group.gone.get(name, NOT_DESCRIBED) for name in group.members if name not in members}
    return replace(
        state,
        protocol=Protocol.CLASSIC,
        classic=replace(group, phase=phase, joining=joining, gone=gone if phase else {}),
    )
