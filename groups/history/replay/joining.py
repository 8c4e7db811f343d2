"""Replay of a classic group's joining phase, which leaves no record: it follows from requests, answers and timers.

The barrier is followed only in a simulated run (``ClassicGroup.barrier``), where every request and every timer is an entry: from
a log of requests alone nobody knows for whom the coordinator waits, nor how long. A LeaveGroup and a session timer that fires end
a membership in every log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from groups.history.entries import Entry, Provenance
from groups.history.replay.classic_record import claimed, joining_member
from groups.history.replay.fields import Fields, integer, mapping, text
from groups.history.state.classic_group import (
    COMPLETING_REBALANCE,
    EXPIRED,
    LEFT,
    OPEN,
    PREPARING_REBALANCE,
    TIMED_OUT,
    Barrier,
    ClassicGroup,
    ClassicMember,
)
from groups.history.state.copying import replace
from groups.history.state.epochs import ModernMember
from groups.history.state.group import Client, Protocol, State
from groups.history.state.versions import drop, put

JOIN_TIMER: Final = "join"
SYNC_TIMER: Final = "sync"

MEMBER_ID_REQUIRED: Final = 79
REBALANCE_IN_PROGRESS: Final = 27

FENCES: Final[Mapping[int, str]] = {
    22: "ILLEGAL_GENERATION",
    25: "UNKNOWN_MEMBER_ID",
    82: "FENCED_INSTANCE_ID",
}
"""Answers after which a member of the classic protocol gives everything up."""


def timer(state: State, entry: Entry) -> State:
    """The join timer begins a join phase; either timer shows how long the coordinator waits."""
    group, started = state.classic, entry.payload["event"] == "started"
    barrier = group.barrier
    if barrier is None:
        return state
    if entry.payload["timer"] == JOIN_TIMER and started and group.phase != PREPARING_REBALANCE:
        barrier = _joining_again(group, barrier)
        group = replace(group, phase=PREPARING_REBALANCE, withheld={})
    if entry.payload["timer"] == SYNC_TIMER and entry.payload["event"] == "fired":
        if group.phase == COMPLETING_REBALANCE:
            # A member that has not synced by then is dropped, the leader too (``expirePendingSync``).
            missing = {member_id: TIMED_OUT for member_id in group.shown if member_id not in barrier.synced}
            group = replace(group, gone={**group.gone, **missing})
        barrier = _joining_again(group, barrier)
        group = replace(group, phase=PREPARING_REBALANCE, withheld={})
    until_ms = integer(entry.payload["deadline_ms"]) if started else None
    return replace(state, classic=replace(group, barrier=replace(barrier, until_ms=until_ms)))


def _joining_again(group: ClassicGroup, barrier: Barrier) -> Barrier:
    """Another join phase begins: who has joined or synced in the generation that was to be has to join again."""
    joined = barrier.again if group.phase == COMPLETING_REBALANCE else barrier.joined
    return replace(barrier, joined=joined, synced=(), again=(), leader=None)


def request(state: State, entry: Entry) -> State:
    """JoinGroup and SyncGroup bring a member to the barrier, LeaveGroup takes it away."""
    api, who, body = entry.payload["api"], entry.actor, mapping(entry.payload.get("body"))
    if state.classic.barrier is None and entry.provenance is Provenance.SIMULATED and api == "JoinGroup":
        state = _with_barrier(state, OPEN)
    if api == "LeaveGroup":
        for member_id in leaving_members(state, body, who):
            state = _removed(state, member_id, LEFT)
        return state
    barrier = state.classic.barrier
    if barrier is None:
        return state
    if api == "JoinGroup":
        return _joins(state, entry, body, barrier)
    if api == "SyncGroup":
        if state.classic.phase is None:
            return state  # It is answered at once.
        return _with_barrier(state, replace(barrier, synced=_plus(barrier.synced, who)))
    return state


def leaving_members(state: State, body: Fields, sender: str) -> list[str]:
    """The members that a LeaveGroup names; an admin client names a static one by its instance id alone."""
    named = []
    for member in body.get("members") or ({"memberId": body.get("memberId")},):
        member_id, instance = text(member.get("memberId")), text(member.get("groupInstanceId"))
        of_instance = (one.member_id for one in _known(state) if instance and one.instance_id == instance)
        named.append(member_id or next(of_instance, sender))
    return named


def _known(state: State) -> Iterable[ClassicMember | ModernMember]:
    return (state.classic if state.protocol is Protocol.CLASSIC else state.modern).members.values()


def leave_refused(state: State, entry: Entry) -> State:
    """A refused LeaveGroup ended nothing."""
    group, body = state.classic, mapping(entry.payload.get("body"))
    refused = [
        text(mapping(member).get("memberId"))
        for member in body.get("members") or ()
        if mapping(member).get("errorCode")
    ]
    if body.get("errorCode"):
        refused.append(text(entry.payload.get("to")))
    still = {key: why for key, why in group.gone.items() if why != LEFT or key not in refused}
    return state if len(still) == len(group.gone) else replace(state, classic=replace(group, gone=still))


def session_expired(state: State, member_id: str) -> State:
    """A session ran out; a member that waits for an answer is alive without it."""
    group = state.classic
    if group.barrier is None:
        return _removed(state, member_id, EXPIRED) if member_id in group.members else state
    parked = group.barrier.joined if group.phase == PREPARING_REBALANCE else group.barrier.synced
    if group.phase is not None and member_id in parked and member_id in group.members:
        return state
    return _removed(state, member_id, EXPIRED)


def _removed(state: State, member_id: str, why: str) -> State:
    state = _gone(state, member_id)
    return replace(state, classic=replace(state.classic, gone={**state.classic.gone, member_id: why}))


def _joins(state: State, entry: Entry, body: Fields, barrier: Barrier) -> State:
    who = entry.actor
    asks_for_id = not body.get("memberId") and not body.get("groupInstanceId")
    if asks_for_id and integer(entry.payload.get("version", 0)) >= 4:
        # It will be given one, and is no member before it comes back with it. A process that lost its id goes by the new one.
        return _without_former(state, who, body)
    if state.classic.members.get(who) is None:
        state, member = joining_member(state, body, {"memberId": who})
        state = replace(state, classic=replace(state.classic, joining={**state.classic.joining, who: member}))
    if who in state.classic.gone:
        left = {key: why for key, why in state.classic.gone.items() if key != who}
        state = replace(state, classic=replace(state.classic, gone=left))
    state = _without_former(state, who, body)
    reason = text(body.get("reason"))
    return _with_barrier(
        state,
        replace(
            barrier,
            told=_minus(barrier.told, who),
            joined=_plus(barrier.joined, who),
            synced=_minus(barrier.synced, who),
            again=_plus(barrier.again, who) if state.classic.phase == COMPLETING_REBALANCE else (),
            reasons={**barrier.reasons, who: reason} if reason else barrier.reasons,
        ),
    )


def response(state: State, entry: Entry) -> State:
    """Answers send members to the join phase, let them pass, or turn them away."""
    api, who = entry.payload["api"], text(entry.payload.get("to")) or ""
    body, group = mapping(entry.payload.get("body")), state.classic
    barrier, code = group.barrier, body.get("errorCode")
    if barrier is None:
        return state
    if code == REBALANCE_IN_PROGRESS:
        if api == "Heartbeat":
            return _with_barrier(state, replace(barrier, told=_plus(barrier.told, who)))
        return _with_barrier(state, replace(barrier, synced=_minus(barrier.synced, who)))
    if isinstance(code, int) and code in FENCES and api in ("Heartbeat", "SyncGroup", "JoinGroup"):
        return _fenced(_gone(state, who), who, FENCES[code])
    if code and code != MEMBER_ID_REQUIRED and api == "JoinGroup":
        return _gone(state, who)
    if not code and api == "JoinGroup" and body.get("generationId", -1) > group.generation:
        absent = {
            member_id: TIMED_OUT
            for member_id, member in group.members.items()
            if member.instance_id is None and member_id not in barrier.joined
        }
        leader = text(body.get("leader")) or barrier.leader
        barrier = replace(barrier, leader=leader, again=_minus(barrier.again, who))
        gone = {**absent, **group.gone} if absent else group.gone
        return replace(state, classic=replace(group, phase=COMPLETING_REBALANCE, gone=gone, barrier=barrier))
    return state


def failed_over(state: State) -> State:
    """The members that wait at a coordinator wait no longer when it is gone."""
    if state.classic.barrier is None:
        return state
    return replace(state, classic=replace(state.classic, barrier=OPEN, joining={}, phase=None))


def note(state: State, entry: Entry) -> State:
    """A leader's assignor keeps back what others still hold."""
    withheld = {
        str(member_id): {str(topic): tuple(map(integer, numbers)) for topic, numbers in partitions.items()}
        for member_id, partitions in mapping(entry.payload.get("withheld")).items()
    }
    return replace(state, classic=replace(state.classic, withheld=withheld))


def _gone(state: State, who: str) -> State:
    group, barrier = state.classic, state.classic.barrier
    joining = {key: member for key, member in group.joining.items() if key != who}
    state = replace(state, classic=replace(group, joining=joining))
    if barrier is None:
        return state
    return _with_barrier(
        state,
        replace(
            barrier,
            told=_minus(barrier.told, who),
            joined=_minus(barrier.joined, who),
            synced=_minus(barrier.synced, who),
            again=_minus(barrier.again, who),
        ),
    )


def _fenced(state: State, who: str, error: str) -> State:
    client = (state.clients or {}).get(who) or Client()
    return replace(state, clients=put(state.clients or {}, who, replace(client, fenced=error)))


def _without_former(state: State, who: str, body: Fields) -> State:
    """A process joins under another id, and takes along what it has not given up.

    It was turned away, or its membership ended without a word: a static member whose poll was late sends no LeaveGroup, and where
    a join was under way it does not lose what its subscription still names.
    """
    stem = who.partition("~")[0]
    clients = state.clients or {}
    others = {
        other: client
        for other, client in clients.items()
        if other != who and other.partition("~")[0] == stem and (client.fenced or client.owned)
    }
    protocols = body.get("protocols")
    is_silent = body.get("groupInstanceId") and not body.get("memberId")
    keeps = claimed(protocols[0]["metadata"]) if others and protocols and is_silent else {}
    for other, client in others.items():
        if client.fenced or client.owned == keeps:
            clients = drop(clients, other)
            if client.owned:
                clients = put(clients, who, replace(clients.get(who) or Client(), owned=client.owned))
    return replace(state, clients=clients) if clients is not state.clients else state


def _with_barrier(state: State, barrier: Barrier) -> State:
    return replace(state, classic=replace(state.classic, barrier=barrier))


def _plus(members: tuple[str, ...], who: str) -> tuple[str, ...]:
    return members if who in members else (*members, who)


def _minus(members: tuple[str, ...], who: str) -> tuple[str, ...]:
    return tuple(member for member in members if member != who)


def is_classic(state: State) -> bool:
    """Whether classic requests are to a classic group: those of a consumer group have no barrier."""
    return state.protocol is not Protocol.CONSUMER
