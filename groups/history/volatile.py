"""Replay of everything that is not a record: requests, responses, callbacks, timers, faults and notes.

These change what Kafka keeps in no record: what each client owns, deadlines, a classic group's joining phase, and
what topics are called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from groups.history.classic_state import COMPLETING_REBALANCE, PREPARING_REBALANCE
from groups.history.entries import Entry, Kind
from groups.history.fields import integer, mapping, text
from groups.history.modern_state import LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH
from groups.history.state import Client, Protocol, State, Timers, with_topic, without_topic

Fields = Mapping[str, Any]
Partitions = Mapping[str, tuple[int, ...]]
T = TypeVar("T")

LOST_PROCESSES: Final = frozenset({"kill"})
"""Faults after which a client owns nothing, since there is no process any more."""


def replay_request(state: State, entry: Entry) -> State:
    """A request shows what its client owns; a steady heartbeat also restarts its session."""
    body = mapping(entry.payload.get("body"))
    member_id, api = entry.actor, entry.payload["api"]
    clients = state.clients or {}
    if api == "ConsumerGroupHeartbeat":
        if body.get("memberEpoch") in (LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH):
            leaving = clients.get(member_id)
            if leaving is not None and leaving.owned:
                # It stalls in a callback and leaves the group, but the application has its partitions until it is back.
                return state
            return replace(state, clients=_without(clients, member_id))
        client = replace(clients.get(member_id) or Client(), heartbeat_ms=entry.at_ms)
        if body.get("topicPartitions") is not None:
            client = replace(client, owned=by_name(state, body["topicPartitions"]))
        state = replace(state, clients={**clients, member_id: client})
        return _session_restarted(state, member_id, entry.at_ms) if entry.payload.get("steady") else state
    if api == "LeaveGroup":
        return replace(state, clients=_without(clients, member_id))
    if api == "JoinGroup" and state.protocol is not Protocol.CONSUMER:
        state = replace(state, classic=replace(state.classic, phase=PREPARING_REBALANCE))
    client = replace(clients.get(member_id) or Client(), heartbeat_ms=entry.at_ms)
    return replace(state, clients={**clients, member_id: client})


def replay_response(state: State, entry: Entry) -> State:
    """A response tells a client what to give up; in the classic protocol it ends a phase."""
    body = mapping(entry.payload.get("body"))
    api, member_id = entry.payload["api"], text(entry.payload.get("to"))
    if body.get("errorCode"):
        return state
    if api == "JoinGroup" and state.classic.phase == PREPARING_REBALANCE:
        return replace(state, classic=replace(state.classic, phase=COMPLETING_REBALANCE))
    if api == "SyncGroup" and state.classic.phase is not None:
        return replace(state, classic=replace(state.classic, phase=None))
    client = (state.clients or {}).get(member_id or "")
    assigned = told_assignment(state, body)
    if client is None or assigned is None or member_id is None:
        return state
    revoking = minus(client.owned, assigned)
    if revoking == client.revoking:
        return state
    return replace(state, clients={**(state.clients or {}), member_id: replace(client, revoking=revoking)})


def replay_callback(state: State, entry: Entry) -> State:
    """A callback changes what its client owns: gained at the start, given up at the end."""
    payload, clients = entry.payload, state.clients or {}
    client = clients.get(entry.actor) or Client()
    partitions = {
        str(topic): tuple(sorted(map(integer, numbers))) for topic, numbers in payload["partitions"].items()
    }
    name, starts = str(payload["callback"]), payload.get("phase") == "start"
    owned = client.owned
    if name == "on_partitions_assigned":
        owned = plus(owned, partitions)
    elif not starts:
        owned = minus(owned, partitions)
    client = replace(client, owned=owned, calling=name if starts else None)
    if name == "on_partitions_revoked" and starts and not client.revoking:
        client = replace(client, revoking=partitions)
    if name == "on_partitions_lost" and not starts:
        client = replace(client, revoking={})
    return replace(state, clients={**clients, entry.actor: client})


def replay_timer(state: State, entry: Entry) -> State:
    """Deadlines of members; the assignment interval has no member and no deadline on the board."""
    payload, timers = entry.payload, state.timers or {}
    member_id, name = text(payload.get("member")), payload["timer"]
    if member_id is None or name not in ("session", "rebalance"):
        return state
    old = timers.get(member_id) or Timers()
    deadline = integer(payload["deadline_ms"]) if payload["event"] == "started" else None
    if name == "session":
        length = deadline - entry.at_ms if deadline is not None else old.session_timeout_ms
        new = replace(old, session=deadline, session_timeout_ms=length)
    else:
        new = replace(old, rebalance=deadline)
    if new.session is None and new.rebalance is None:
        return replace(state, timers=_without(timers, member_id))
    return replace(state, timers={**timers, member_id: new})


def replay_fault(state: State, entry: Entry) -> State:
    """A killed process owns nothing; a coordinator that fails over forgets its timers and its parked requests."""
    fault, member_id = entry.payload["fault"], text(entry.payload.get("member"))
    if fault in LOST_PROCESSES and member_id is not None and state.clients is not None:
        return replace(state, clients=_without(state.clients, member_id))
    if fault == "fail_over":
        phase = replace(state.classic, phase=None) if state.classic.phase is not None else state.classic
        return replace(state, timers={} if state.timers is not None else None, classic=phase)
    return state


def replay_note(state: State, entry: Entry) -> State:
    """Notes of topics change what they are called; a topic told as ``null`` was deleted. The rest is for findings."""
    if entry.payload["note"] != "topics":
        return state
    for name, topic in entry.payload["topics"].items():
        if topic is None:
            state = without_topic(state, str(name))
        else:
            partitions = topic.get("partitions")
            state = with_topic(
                state,
                str(name),
                topic_id=text(topic.get("id")),
                partitions=None if partitions is None else integer(partitions),
            )
    return state


def after_current_assignment(state: State, member_id: str) -> State:
    """What the coordinator has taken note of is no longer being given up by the client."""
    client = (state.clients or {}).get(member_id)
    if client is None or not client.revoking:
        return state
    member = state.consumer.members.get(member_id)
    still: dict[str, tuple[int, ...]] = {}
    for name, partitions in client.revoking.items():
        topic_id = state.topic_id(name) or name
        kept = tuple(p for p in partitions if member is not None and member.holds(topic_id, p))
        if kept:
            still[name] = kept
    if still == client.revoking:
        return state
    return replace(state, clients={**(state.clients or {}), member_id: replace(client, revoking=still)})


def told_assignment(state: State, body: Fields) -> Partitions | None:
    """The whole assignment that a heartbeat's answer holds, or ``None`` if it holds none.

    Released answers have ``topicPartitions``; the proposal's have assigned and pending partitions apart.
    """
    assignment = body.get("assignment")
    if assignment is None:
        return None
    topics = assignment.get("topicPartitions")
    if topics is None:
        topics = assignment.get("assignedTopicPartitions")
    return by_name(state, topics) if topics is not None else None


def by_name(state: State, topics: Iterable[Fields]) -> Partitions:
    """``[{"topicId", "partitions"}]`` as topic name → partitions, ascending, without empty topics."""
    named: dict[str, tuple[int, ...]] = {}
    for topic in topics:
        name = topic.get("topicName") or state.topic_name(str(topic["topicId"]))
        if topic["partitions"]:
            named[name] = tuple(sorted(map(integer, topic["partitions"])))
    return named


def minus(left: Partitions, right: Partitions) -> Partitions:
    """Set difference by topic; empty topics fall out."""
    rest = {
        topic: tuple(p for p in partitions if p not in right.get(topic, ()))
        for topic, partitions in left.items()
    }
    return {topic: partitions for topic, partitions in rest.items() if partitions}


def plus(left: Partitions, right: Partitions) -> Partitions:
    """Union by topic."""
    added = {
        topic: tuple(sorted({*left.get(topic, ()), *partitions}))
        for topic, partitions in right.items()
        if partitions
    }
    return {**left, **added}


def _session_restarted(state: State, member_id: str, now_ms: int) -> State:
    timer = (state.timers or {}).get(member_id)
    if timer is None or timer.session is None or timer.session_timeout_ms is None:
        return state
    restarted = replace(timer, session=now_ms + timer.session_timeout_ms)
    return replace(state, timers={**(state.timers or {}), member_id: restarted})


def _without(mapping: Mapping[str, T], key: str) -> Mapping[str, T]:
    return {other: value for other, value in mapping.items() if other != key}


VOLATILE: Final[Mapping[Kind, Callable[[State, Entry], State]]] = {
    Kind.REQUEST: replay_request,
    Kind.RESPONSE: replay_response,
    Kind.CALLBACK: replay_callback,
    Kind.TIMER: replay_timer,
    Kind.FAULT: replay_fault,
    Kind.NOTE: replay_note,
}
