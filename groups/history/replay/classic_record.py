"""Replay of the classic protocol's record: type 2, the result of a completed rebalance."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeVar

from groups.history.replay.epoch_groups import fresh
from groups.history.replay.fields import Fields, integer, text
from groups.history.state.classic_group import (
    COMPLETING_REBALANCE,
    CONSUMER_PROTOCOL_TYPE,
    OPEN,
    ClassicGroup,
    ClassicMember,
    Worker,
)
from groups.history.state.copying import replace
from groups.history.state.group import UNREADABLE, Protocol, State, seen_names
from groups.wire.embedded.connect_protocol import (
    CONNECT_PROTOCOL_TYPE,
    Work,
    decode_connect_assignment,
    decode_worker_state,
    work,
)
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription

D = TypeVar("D")


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
    protocol_type = text(value.get("protocolType")) or ""
    members: dict[str, ClassicMember] = {}
    for fields in value.get("members") or ():
        state, member = _member(state, old, fields, protocol_type)
        members[member.member_id] = member
    return replace(
        fresh(state),
        protocol=Protocol.CLASSIC,
        deleted=False,
        classic=ClassicGroup(
            recorded=True,
            protocol_type=protocol_type,
            generation=generation,
            protocol_name=text(value.get("protocol")),
            leader=text(value.get("leader")),
            state_timestamp_ms=integer(value.get("currentStateTimestamp", -1)),
            members=members,
            # A member that waited gets its part now; what is withheld, another generation brings.
            barrier=OPEN if old.barrier is not None else None,
            # In a simulated run the next generation takes in those who join an empty group. Of a real group, a member that
            # was only described is known until the next record: if it still joins, it is described again.
            joining=old.joining if old.barrier is not None and not members else {},
            withheld=old.withheld if old.phase == COMPLETING_REBALANCE else {},
        ),
    )


def joining_member(state: State, fields: Fields, client: Fields) -> tuple[State, ClassicMember]:
    """A member as its JoinGroup reports it; ``fields`` are the request's, ``client`` those that it was sent with."""
    protocols = fields.get("protocols") or ()
    known = {
        "memberId": client["memberId"],
        "groupInstanceId": fields.get("groupInstanceId"),
        "rebalanceTimeout": fields.get("rebalanceTimeoutMs", fields.get("sessionTimeoutMs", -1)),
        "sessionTimeout": fields.get("sessionTimeoutMs", -1),
        "subscription": protocols[0]["metadata"] if protocols else "",
    }
    return _member(state, state.classic, known, text(fields.get("protocolType")) or "")


def _member(
    state: State, group: ClassicGroup, fields: Fields, protocol_type: str
) -> tuple[State, ClassicMember]:
    member_id = str(fields["memberId"])
    subscription, assignment = fields.get("subscription") or "", fields.get("assignment") or ""
    old = group.members.get(member_id)
    if old is not None and (old.subscription, old.assignment) == (subscription, assignment):
        read = _Read(old.subscribed, old.rack_id, old.assigned, old.worker, old.unreadable)
    else:
        # Users of the classic protocol whose bytes are not known have members without any of this.
        read = READERS.get(protocol_type, _nothing)(subscription, assignment)
        for what, reason in read.unreadable.items():
            state = state.note(UNREADABLE, f"A member's {what} cannot be read: {reason}", member=member_id)
    session_timeout_ms = integer(fields.get("sessionTimeout", -1))
    new = ClassicMember(
        member_id=member_id,
        instance_id=text(fields.get("groupInstanceId")),
        client_id=text(fields.get("clientId")) or "",
        client_host=text(fields.get("clientHost")) or "",
        rack_id=read.rack_id,
        # Version 0 has no such field; Kafka takes the session timeout for it.
        rebalance_timeout_ms=integer(fields.get("rebalanceTimeout", session_timeout_ms)),
        session_timeout_ms=session_timeout_ms,
        subscribed=read.subscribed,
        assigned=read.assigned,
        subscription=subscription,
        assignment=assignment,
        worker=read.worker,
        unreadable=read.unreadable,
    )
    if read.worker is None:
        # A worker has connectors, which are no topics.
        state = seen_names(state, (*read.subscribed, *read.assigned))
    # An equal member stays the same object, so that what did not change costs nothing further on.
    return state, old if old == new and old is not None else new


class _Read(NamedTuple):
    """What a member's two blobs contain; ``unreadable`` has the reason for each that cannot be decoded."""

    subscribed: tuple[str, ...] = ()
    rack_id: str | None = None
    assigned: Mapping[str, tuple[int, ...]] = {}
    worker: Worker | None = None
    unreadable: Mapping[str, str] = {}


def _nothing(_subscription: str, _assignment: str) -> _Read:
    return _Read()


def claimed(subscription: str) -> dict[str, tuple[int, ...]]:
    """What a consumer reports that it owns, by topic; empty where its bytes have no such field or cannot be read."""
    decoded = _decoded(decode_subscription, "subscription", subscription, {})
    owned = (decoded.get("ownedPartitions") or ()) if decoded is not None else ()
    return {str(topic["topic"]): tuple(sorted(topic["partitions"])) for topic in owned}


def _consumer(subscription: str, assignment: str) -> _Read:
    unreadable: dict[str, str] = {}
    subscribed = _decoded(decode_subscription, "subscription", subscription, unreadable)
    given = _decoded(decode_assignment, "assignment", assignment, unreadable)
    return _Read(
        subscribed=tuple(subscribed["topics"]) if subscribed is not None else (),
        rack_id=(subscribed.get("rackId") or None) if subscribed is not None else None,
        assigned={
            str(topic["topic"]): tuple(sorted(topic["partitions"]))
            for topic in (given["assignedPartitions"] if given is not None else ())
        },
        unreadable=unreadable,
    )


def _connect(subscription: str, assignment: str) -> _Read:
    unreadable: dict[str, str] = {}
    worker = _decoded(decode_worker_state, "subscription", subscription, unreadable)
    given = _decoded(decode_connect_assignment, "assignment", assignment, unreadable)
    runs = Work((), {})
    try:
        runs = work(worker, given)
    except (ValueError, binascii.Error) as error:
        unreadable["assignment"] = f"what it ran before: {error}"
    if "subscription" in unreadable and given is not None and given["version"] > 0:
        unreadable["assignment"] = "it continues what its state has, which cannot be read"
    return _Read(
        assigned={} if "assignment" in unreadable else runs.tasks,
        worker=Worker(
            url=worker["url"] if worker is not None else "",
            config_offset=worker["configOffset"] if worker is not None else None,
            connectors=() if "assignment" in unreadable else runs.connectors,
            delay_ms=given.get("delay", 0) if given is not None else 0,
            failed=given is not None and given["error"] != 0,
        ),
        unreadable=unreadable,
    )


def _decoded(decode: Callable[[bytes], D], what: str, data: str, unreadable: dict[str, str]) -> D | None:
    if not data:
        return None
    try:
        return decode(base64.b64decode(data, validate=True))
    except (ValueError, binascii.Error) as error:
        unreadable[what] = str(error)
        return None


READERS: Final[Mapping[str, Callable[[str, str], _Read]]] = {
    CONSUMER_PROTOCOL_TYPE: _consumer,
    CONNECT_PROTOCOL_TYPE: _connect,
}
"""By protocol type: who reads what members and their leader say to each other."""
