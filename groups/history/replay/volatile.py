"""Replay of everything that is not a record: requests, responses, callbacks, timers, faults and notes.

These change what Kafka keeps in no record: what each client owns, deadlines, a classic group's joining phase, and
what topics are called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.replay import consumer, consumption, joining
from groups.history.replay.clients import put_all, with_client
from groups.history.replay.faults import replay_fault
from groups.history.replay.fields import Fields, integer, mapping, text
from groups.history.state.classic_group import (
    BETWEEN,
    COMPLETING_REBALANCE,
    NOT_DESCRIBED,
    PREPARING_REBALANCE,
    UNKNOWN_GENERATION,
    ClassicGroup,
    ClassicMember,
)
from groups.history.state.consumption import READS
from groups.history.state.copying import replace
from groups.history.state.epochs import LEAVE_GROUP_MEMBER_EPOCH, LEAVE_GROUP_STATIC_MEMBER_EPOCH
from groups.history.state.group import (
    ANYBODY,
    Client,
    Protocol,
    State,
    Timers,
    with_topic,
    without_topic,
)
from groups.history.state.versions import drop, put
from groups.releases import release_of


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


Partitions = Mapping[str, tuple[int, ...]]

FENCES: Final[Mapping[int, str]] = {
    25: "UNKNOWN_MEMBER_ID",
    82: "FENCED_INSTANCE_ID",
    110: "FENCED_MEMBER_EPOCH",
}
"""Answers to a heartbeat after which a consumer gives everything up."""

REJOINS: Final = frozenset({"JoinGroup", "SyncGroup"})
"""What a member of the classic protocol sends in each of its rebalances."""

JOIN_EPOCH: Final = 0
"""The member epoch of a member that joins, or joins again."""


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
            return replace(state, clients=drop(clients, member_id))
        client = _seen(clients.get(member_id), entry.at_ms)
        if body.get("memberEpoch") == JOIN_EPOCH:
            client = replace(client, fenced=None)
        if body.get("topicPartitions") is not None:
            client = replace(client, owned=by_name(state, body["topicPartitions"]))
        state = replace(state, clients=put(clients, member_id, client))
        return _session_restarted(state, member_id, entry.at_ms) if entry.payload.get("steady") else state
    if joining.is_classic(state):
        state = joining.request(state, entry)
        clients = state.clients or {}
    if api == "LeaveGroup":
        leaving = clients.get(member_id)
        if state.classic.barrier is not None and leaving is not None and leaving.owned:
            # Its thread reports this while the application works on, which has its partitions until it is back.
            return state
        return replace(state, clients=drop(clients, member_id))
    if api == "JoinGroup" and state.protocol is not Protocol.CONSUMER and state.classic.barrier is None:
        state = replace(state, classic=replace(state.classic, phase=PREPARING_REBALANCE))
    client = _seen(clients.get(member_id), entry.at_ms)
    if api == "ConsumerGroupInstallAssignment":
        client = replace(client, computing=False)
    if api == "JoinGroup" and client.fenced:
        client = replace(client, fenced=None)
    if api == "JoinGroup" and state.protocol is Protocol.CONSUMER:
        # In it a classic member of a converted group names what it owns: what it gave up is no longer its to revoke.
        revoking = client.revoking if client.calling else {}
        client = replace(client, revoking=revoking, rejoined=api)
    state = replace(state, clients=put(clients, member_id, client))
    return _session_restarted(state, member_id, entry.at_ms) if entry.payload.get("steady") else state


def replay_response(state: State, entry: Entry) -> State:
    """A response contains what a client has to give up, or an error by which it loses all; in the classic protocol it ends a phase."""
    body = mapping(entry.payload.get("body"))
    api, member_id = entry.payload["api"], text(entry.payload.get("to"))
    if api in REJOINS and member_id is not None and member_id in (state.clients or {}):
        state = with_client(state, member_id, {"rejoined": None if body.get("errorCode") else api})
    if joining.is_classic(state) and api in ("JoinGroup", "SyncGroup", "Heartbeat"):
        state = joining.response(state, entry)
    if api == "LeaveGroup" and state.classic.gone:
        state = joining.leave_refused(state, entry)
    if state.classic.barrier is not None and api in ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup"):
        return state
    if code := body.get("errorCode"):
        fence = FENCES.get(code) if isinstance(code, int) and api == "ConsumerGroupHeartbeat" else None
        return (
            with_client(state, member_id, {"fenced": fence, "computing": False})
            if fence and member_id
            else state
        )
    if api == "JoinGroup" and state.classic.phase == PREPARING_REBALANCE:
        return replace(state, classic=replace(state.classic, phase=COMPLETING_REBALANCE))
    if api == "SyncGroup" and state.classic.phase is not None:
        return replace(state, classic=replace(state.classic, phase=None))
    if body.get("shouldComputeAssignment") and member_id is not None:
        state = _asked_to_compute(state, member_id)
    client = (state.clients or {}).get(member_id or "")
    assigned = sent_assignment(state, body)
    if client is None or assigned is None or member_id is None:
        return state
    revoking = minus(client.owned, assigned)
    if revoking == client.revoking:
        return state
    return replace(state, clients=put(state.clients or {}, member_id, replace(client, revoking=revoking)))


def replay_callback(state: State, entry: Entry) -> State:
    """A callback changes what its client owns: gained at the start, given up at the end."""
    payload, clients = entry.payload, state.clients or {}
    client = clients.get(entry.actor) or Client()
    partitions = {
        _as_owned(state, client, str(topic)): tuple(sorted(map(integer, numbers)))
        for topic, numbers in payload["partitions"].items()
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
    if not starts and (name == "on_partitions_lost" or state.classic.barrier is not None):
        # In the classic protocol nobody has to take note of it.
        client = replace(client, revoking={})
    return replace(state, clients=put(clients, entry.actor, client))


def replay_timer(state: State, entry: Entry) -> State:
    """Deadlines of members; the assignment interval has no member and no deadline on the board."""
    payload, timers = entry.payload, state.timers or {}
    member_id, name = text(payload.get("member")), payload["timer"]
    if member_id is None and name in (joining.JOIN_TIMER, joining.SYNC_TIMER):
        return joining.timer(state, entry)
    if member_id is None or name not in ("session", "rebalance"):
        return state
    if name == "session" and payload["event"] == "fired":
        state = joining.session_expired(state, member_id)
    old = timers.get(member_id) or Timers()
    deadline = integer(payload["deadline_ms"]) if payload["event"] == "started" else None
    if name == "session":
        length = deadline - entry.at_ms if deadline is not None else old.session_timeout_ms
        new = replace(old, session=deadline, session_timeout_ms=length)
    else:
        new = replace(old, rebalance=deadline)
    if new.session is None and new.rebalance is None:
        return replace(state, timers=drop(timers, member_id))
    return replace(state, timers=put(timers, member_id, new))


def _seen(client: Client | None, now_ms: int) -> Client:
    """A client whose request has arrived: it cannot be cut off from everybody."""
    if client is None:
        return Client(heartbeat_ms=now_ms)
    cut = tuple(peer for peer in client.cut if peer != ANYBODY) if client.cut else ()
    return replace(client, heartbeat_ms=now_ms, cut=cut, killed=False)


def _asked_to_compute(state: State, member_id: str) -> State:
    """One member at a time computes: the one that was asked before is not asked any more."""
    clients = state.clients or {}
    others = {
        key: replace(client, computing=False)
        for key, client in clients.items()
        if client.computing and key != member_id
    }
    return with_client(replace(state, clients=put_all(clients, others)), member_id, {"computing": True})


def _as_owned(state: State, client: Client, name: str) -> str:
    """The name in a callback as its client's partitions have it: the id, where the topic is not there any more."""
    if name in client.owned:
        return name
    return next((topic for topic in client.owned if state.former.get(topic) == name), name)


def replay_note(state: State, entry: Entry) -> State:
    """Notes of topics change their names; a topic whose value is ``null`` was deleted. The rest is for findings.

    A gap takes from the group some of its past. Notes of expressions show what they match where no record does, as in the proposal; ``null``: nobody has it.
    """
    if entry.payload["note"] == "gap":
        return state if state.partial else replace(state, partial=True)
    if entry.payload["note"] == "regexes":
        return consumer.noted_regexes(state, entry.payload["regexes"])
    if entry.payload["note"] == "withheld":
        return joining.note(state, entry)
    if entry.payload["note"] == READS:
        return consumption.reads(state, entry)
    if entry.payload["note"] != "topics":
        return state
    if (release := text(entry.payload.get("release"))) is not None:
        state = consumer.served_by(state, release_of(release))
    for name, topic in entry.payload["topics"].items():
        before = state.topic_id(str(name))
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
        if before is not None and before in state.former:
            state = _owned_of_old(state, str(name), before)
        if state.consumption is not None or (topic is not None and "rate" in topic):
            state = consumption.noted_topic(state, str(name), topic, before, entry.at_ms)
    return state


def _owned_of_old(state: State, name: str, topic_id: str) -> State:
    """What clients own of a topic that is not there any more is under its id, as everywhere in a frame."""
    clients = {
        member_id: replace(
            client,
            owned=_renamed(client.owned, name, topic_id),
            revoking=_renamed(client.revoking, name, topic_id),
        )
        for member_id, client in (state.clients or {}).items()
        if name in client.owned or name in client.revoking
    }
    return replace(state, clients=put_all(state.clients or {}, clients)) if clients else state


def _renamed(partitions: Partitions, name: str, topic_id: str) -> Partitions:
    return {topic_id if topic == name else topic: numbers for topic, numbers in partitions.items()}


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
    return replace(state, clients=put(state.clients or {}, member_id, replace(client, revoking=still)))


def after_member_removed(state: State, member_id: str) -> State:
    """A process that is gone is forgotten once the coordinator knows, too."""
    client = (state.clients or {}).get(member_id)
    if client is None or not client.killed:
        return state
    return replace(state, clients=drop(state.clients or {}, member_id))


def sent_assignment(state: State, body: Fields) -> Partitions | None:
    """The whole assignment that a heartbeat's answer holds, or ``None`` if it holds none.

    Released answers have ``topicPartitions``; the proposal's have assigned and pending partitions apart.
    """
    assignment = body.get("assignment")
    if not isinstance(assignment, Mapping):
        # SyncGroup's is bytes, also of a classic member in a consumer group.
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
    return replace(state, timers=put(state.timers or {}, member_id, restarted))


VOLATILE: Final[Mapping[Kind, Callable[[State, Entry], State]]] = {
    Kind.REQUEST: replay_request,
    Kind.RESPONSE: replay_response,
    Kind.CALLBACK: replay_callback,
    Kind.TIMER: replay_timer,
    Kind.FAULT: replay_fault,
    Kind.NOTE: replay_note,
    Kind.OBSERVATION: replay_observation,
}
