"""Replay of the classic protocol's record: type 2, the result of a completed rebalance."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

from groups.history.replay.epoch_groups import fresh
from groups.history.replay.fields import Fields, integer, text
from groups.history.state.classic import (
    COMPLETING_REBALANCE,
    CONSUMER_PROTOCOL_TYPE,
    OPEN,
    ClassicGroup,
    ClassicMember,
)
from groups.history.state.copying import replace
from groups.history.state.group import UNREADABLE, Protocol, State, seen_names
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription


def replay_record(state: State, key: Fields, value: Fields | None) -> State:
    """The state after one type 2 record; a tombstone ends the classic group (also on its way to the new protocol)."""
    if value is None:
        if state.protocol is not Protocol.CLASSIC or state.deleted:
            return state
        return replace(state, deleted=True, classic=ClassicGroup())
    if state.protocol not in (None, Protocol.CLASSIC) and not state.deleted:
        state = state.note(
            "protocol", "A record of the classic protocol came while the group was not classic."
        )
    old = state.classic if state.protocol is Protocol.CLASSIC and not state.deleted else ClassicGroup()
    generation = integer(value["generation"])
    if old.recorded and generation < old.generation:
        state = state.note("epoch_back", f"The generation went back from {old.generation} to {generation}.")
    # Other users of the classic protocol (Kafka Connect) embed bytes of their own, which stay bytes.
    embedded = value.get("protocolType") == CONSUMER_PROTOCOL_TYPE
    members: dict[str, ClassicMember] = {}
    for fields in value.get("members") or ():
        state, member = _member(state, old, fields, embedded=embedded)
        members[member.member_id] = member
    return replace(
        fresh(state),
        protocol=Protocol.CLASSIC,
        deleted=False,
        classic=ClassicGroup(
            recorded=True,
            protocol_type=text(value.get("protocolType")) or "",
            generation=generation,
            protocol_name=text(value.get("protocol")),
            leader=text(value.get("leader")),
            state_timestamp_ms=integer(value.get("currentStateTimestamp", -1)),
            members=members,
            # Who waited gets its part now; what is withheld, another generation brings.
            barrier=OPEN if old.barrier is not None else None,
            joining={key: each for key, each in old.joining.items() if not members},
            withheld=old.withheld if old.phase == COMPLETING_REBALANCE else {},
        ),
    )


def joining_member(state: State, fields: Fields, client: Fields) -> tuple[State, ClassicMember]:
    """A member as its JoinGroup tells it; ``fields`` are the request's, ``client`` those that it was sent with."""
    protocols = fields.get("protocols") or ()
    told = {
        "memberId": client["memberId"],
        "groupInstanceId": fields.get("groupInstanceId"),
        "rebalanceTimeout": fields.get("rebalanceTimeoutMs", fields.get("sessionTimeoutMs", -1)),
        "sessionTimeout": fields.get("sessionTimeoutMs", -1),
        "subscription": protocols[0]["metadata"] if protocols else "",
    }
    embedded = fields.get("protocolType") == CONSUMER_PROTOCOL_TYPE
    return _member(state, state.classic, told, embedded=embedded)


def _member(
    state: State, group: ClassicGroup, fields: Fields, *, embedded: bool
) -> tuple[State, ClassicMember]:
    member_id = str(fields["memberId"])
    subscription, assignment = fields.get("subscription") or "", fields.get("assignment") or ""
    old = group.members.get(member_id)
    if old is not None and old.subscription == subscription:
        subscribed, rack_id = old.subscribed, old.rack_id
    else:
        state, subscribed, rack_id = _subscription(state, member_id, subscription if embedded else "")
    if old is not None and old.assignment == assignment:
        assigned = old.assigned
    else:
        state, assigned = _assignment(state, member_id, assignment if embedded else "")
    session_timeout_ms = integer(fields.get("sessionTimeout", -1))
    new = ClassicMember(
        member_id=member_id,
        instance_id=text(fields.get("groupInstanceId")),
        client_id=text(fields.get("clientId")) or "",
        client_host=text(fields.get("clientHost")) or "",
        rack_id=rack_id,
        # Version 0 has no such field; Kafka takes the session timeout for it.
        rebalance_timeout_ms=integer(fields.get("rebalanceTimeout", session_timeout_ms)),
        session_timeout_ms=session_timeout_ms,
        subscribed=subscribed,
        assigned=assigned,
        subscription=subscription,
        assignment=assignment,
    )
    # An equal member stays the same object, so that what did not change costs nothing further on.
    return seen_names(state, (*subscribed, *assigned)), old if old == new and old is not None else new


def _subscription(state: State, member_id: str, data: str) -> tuple[State, tuple[str, ...], str | None]:
    if not data:
        return state, (), None
    try:
        decoded = decode_subscription(base64.b64decode(data, validate=True))
    except (ValueError, binascii.Error) as error:
        return _unreadable(state, member_id, "subscription", error), (), None
    return state, tuple(decoded["topics"]), decoded.get("rackId") or None


def _assignment(state: State, member_id: str, data: str) -> tuple[State, Mapping[str, tuple[int, ...]]]:
    if not data:
        return state, {}
    try:
        decoded = decode_assignment(base64.b64decode(data, validate=True))
    except (ValueError, binascii.Error) as error:
        return _unreadable(state, member_id, "assignment", error), {}
    return state, {
        str(topic["topic"]): tuple(sorted(topic["partitions"])) for topic in decoded["assignedPartitions"]
    }


def _unreadable(state: State, member_id: str, what: str, error: Exception) -> State:
    return state.note(UNREADABLE, f"A member's {what} cannot be read: {error}", member=member_id)
