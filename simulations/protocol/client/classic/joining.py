"""The join loop: prepare, JoinGroup, SyncGroup, complete (``AbstractCoordinator.joinGroupIfNeeded``).

::

    ┌─ rejoin needed ◀──────────── a failure that passes ───────────────┐
    ▼                                                                   │
    onJoinPrepare ──▶ JoinGroup ──▶ (leader: assign) ──▶ SyncGroup ─────┴──▶ onJoinComplete ──▶ consume
    commit; revoked   PREPARING      COMPLETING           heartbeats go on    revoked; assigned
    or lost

A poll does each of these when it is its turn; answers that need the application wait for its next poll. Who fails
does not prepare again, so that nothing is revoked twice, unless it lost its generation meanwhile.

Kafka's classes: ``AbstractCoordinator``, ``ConsumerCoordinator.onJoinPrepare`` and ``onJoinComplete``.
"""

from __future__ import annotations

from typing import Final

from groups.history.words import counted
from simulations.protocol.assignors.interface import Assignor
from simulations.protocol.client.classic import committing, embedding, leading
from simulations.protocol.client.classic.config import AFTER_ERROR_MS
from simulations.protocol.client.classic.errors import (
    LOOKED_UP,
    error_name,
    exception_of,
)
from simulations.protocol.client.classic.state import Event, JoinState, Memory, Purpose
from simulations.protocol.client.consumer.effects import (
    Callback,
    Effect,
    Operation,
    Planned,
    Returned,
    Send,
    in_words,
    minus,
)
from simulations.protocol.client.expressions import matched
from simulations.protocol.messages.classic_requests import (
    CONSUMER_PROTOCOL_TYPE,
    SYNC_PROTOCOL_VERSION,
    JoinAnswer,
    JoinGroup,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Partitions

JOIN_MARGIN_MS: Final = 5_000
"""How much longer than a rebalance may last its JoinGroup is waited for (``JOIN_GROUP_TIMEOUT_LAPSE``)."""

REASON_MAX: Final = 255
"""Characters of a reason that are sent (``JoinGroupRequest.maybeTruncateReason``)."""

REASON_VERSION: Final = 8
INSTANCE_VERSION: Final = 5
"""From which version of JoinGroup on it contains each of these."""

JOIN_GROUP: Final = "JOIN_GROUP"
SYNC_GROUP: Final = "SYNC_GROUP"
"""``ApiKeys``, as reasons name them."""

UNEXPECTED: Final = "KafkaException"
"""What is thrown for an error that a handler does not expect."""

CACHED_METADATA: Final = "cached metadata has changed"
SUBSCRIPTION_CHANGED: Final = "subscription has changed"
NEED_TO_REVOKE: Final = "need to revoke partitions and re-join"
DOES_NOT_MATCH: Final = "received assignment does not match the current subscription"


def needed(m: Memory) -> bool:
    """``rejoinNeededOrPending``, which also finds out what has changed meanwhile."""
    if m.leads and m.snapshot is not None and m.snapshot != leading.snapshot(m):
        _ask_unless_asked(m, CACHED_METADATA)
    elif m.state is JoinState.STABLE and m.joined_names != frozenset(m.names):
        _ask_unless_asked(m, SUBSCRIPTION_CHANGED)
    return m.rejoin_needed


def _ask_unless_asked(m: Memory, reason: str) -> None:
    if not m.rejoin_needed:
        m.ask_to_rejoin(reason)


def refresh(m: Memory, now_ms: int) -> None:
    """Metadata are fetched."""
    m.metadata = m.config.metadata()
    m.unauthorized = any(m.config.is_denied(name) for name in m.names)
    m.metadata_ms = now_ms + m.config.metadata_max_age_ms
    match_names(m)
    m.covered = frozenset(m.names) | (m.group_names if m.leads else frozenset())


def match_names(m: Memory) -> None:
    """A client's own expression means the topics of its metadata that it matches."""
    if m.regex is not None:
        m.names = matched(m.regex, m.metadata)


def step(m: Memory, now_ms: int, effects: list[Effect], assignors: dict[str, Assignor]) -> bool:
    """What the next poll does for the membership; the application polls."""
    if m.assignment is not None:
        data, m.assignment = m.assignment, None
        _complete(m, data, now_ms)
        return True
    if m.answer is not None:
        answer, m.answer = m.answer, None
        _joined(m, answer, now_ms, effects, assignors)
        return True
    if now_ms >= m.metadata_ms:
        refresh(m, now_ms)
        return True
    if m.unauthorized:
        # Once for each answer that holds the error (``Metadata.maybeThrowAnyException``).
        m.unauthorized = False
        throw(
            m,
            exception_of(ErrorCode.TOPIC_AUTHORIZATION_FAILED),
            now_ms,
            effects,
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        )
        return True
    if m.in_flight is not None or m.preparing or not m.known or now_ms < m.retry_ms or not needed(m):
        return False
    if m.needs_prepare:
        m.needs_prepare, m.preparing = False, True
        if not committing.before_join(m, now_ms):
            prepare(m)
        return True
    _send_join(m, effects)
    return True


# onJoinPrepare


def prepare(m: Memory) -> None:
    """What is to be given up before the JoinGroup; a commit that comes first is over."""
    if not m.has_generation:
        callback, partitions, calls = Callback.LOST, m.owned, bool(m.owned)
    elif not m.cooperative:
        callback, partitions, calls = Callback.REVOKED, m.owned, True
    else:
        partitions = {topic: ps for topic, ps in m.owned.items() if topic not in m.names}
        callback, calls = Callback.REVOKED, bool(partitions)
    if calls:
        m.events += (Event(Purpose.PREPARE, callback, partitions),)
    else:
        prepared(m)


def prepared(m: Memory) -> None:
    m.preparing = False
    m.leads = False


# JoinGroup


def _send_join(m: Memory, effects: list[Effect]) -> None:
    config, version = m.config, m.config.release.join_version
    m.state = JoinState.PREPARING_REBALANCE
    m.beats = False
    m.joined_names = frozenset(m.names)
    if config.notes_call is not None:
        method = "subscriptionUserData" if config.release.cooperative else "subscription"
        for name in config.assignors:
            config.notes_call(name, method, counted(len(embedding.user_data(m, name) or b""), "byte"))
    m.in_flight = JoinGroup(
        group_id=config.group_id,
        session_timeout_ms=config.session_timeout_ms,
        rebalance_timeout_ms=config.rebalance_timeout_ms,
        member_id=m.member_id,
        instance_id=config.instance_id if version >= INSTANCE_VERSION else None,
        protocols=tuple((name, embedding.subscription(m, name)) for name in config.assignors),
        reason=m.reason[:REASON_MAX] if version >= REASON_VERSION else None,
        client_id=config.client_id,
        client_host=config.client_host,
        version=version,
    )
    effects.append(Send(request=m.in_flight))


def join_timeout_ms(m: Memory) -> int:
    """How long the answer to a JoinGroup is waited for."""
    return max(m.config.request_timeout_ms, m.config.rebalance_timeout_ms + JOIN_MARGIN_MS)


def _joined(
    m: Memory, answer: JoinAnswer, now_ms: int, effects: list[Effect], assignors: dict[str, Assignor]
) -> None:
    m.in_flight = None
    code = answer.error_code
    if code == ErrorCode.MEMBER_ID_REQUIRED:
        m.member_id = answer.member_id
        m.ask_to_rejoin(f"need to re-join with the given member-id: {answer.member_id}")
    elif code:
        _failed(m, code, JOIN_GROUP, now_ms, effects)
    elif m.state is not JoinState.PREPARING_REBALANCE:
        _again(m, ErrorCode.ILLEGAL_GENERATION)
    else:
        m.state = JoinState.COMPLETING_REBALANCE
        m.generation, m.member_id, m.protocol_name = (
            answer.generation,
            answer.member_id,
            answer.protocol_name,
        )
        # The coordinator counts from its answer; so does the thread that heartbeats.
        m.beats, m.failures, m.heartbeat = True, 0, None
        m.next_beat_ms = now_ms + m.config.heartbeat_interval_ms
        m.session_ms = now_ms + m.config.session_timeout_ms
        _send_sync(m, answer, now_ms, effects, assignors)


def _send_sync(
    m: Memory, answer: JoinAnswer, now_ms: int, effects: list[Effect], assignors: dict[str, Assignor]
) -> None:
    config, release = m.config, m.config.release
    assignments: tuple[tuple[str, bytes], ...] = ()
    if answer.leader == m.member_id:
        try:
            assignments, withheld = leading.assign(m, answer, assignors)
            if config.notes_call is not None and not answer.skip_assignment:
                given = in_words(embedding.assigned(data) for _, data in assignments)
                outcome = f"{given} for {counted(len(assignments), 'member')}"
                config.notes_call(answer.protocol_name or "", "assign", outcome)
        except leading.AssignmentFailed as failed:
            m.ask_to_rejoin(f"rebalance failed due to {failed.exception}")
            throw(m, failed.exception, now_ms, effects)
            return
        m.leads = True
        if withheld:
            effects.append(Planned(withheld=withheld))
    names_protocol = release.sync_version >= SYNC_PROTOCOL_VERSION
    m.in_flight = SyncGroup(
        group_id=config.group_id,
        generation=m.generation,
        member_id=m.member_id,
        instance_id=config.instance_id if release.static else None,
        protocol_type=CONSUMER_PROTOCOL_TYPE if names_protocol else None,
        protocol_name=answer.protocol_name if names_protocol else None,
        assignments=assignments,
        version=release.sync_version,
    )
    effects.append(Send(request=m.in_flight))


def answered_join(m: Memory, answer: JoinAnswer) -> None:
    """Only a poll takes it; the heartbeat thread is off."""
    m.answer = answer


def answered_sync(m: Memory, answer: SyncAnswer, now_ms: int, effects: list[Effect]) -> None:
    """Whichever thread reads from the network takes it."""
    request, m.in_flight = m.in_flight, None
    assert isinstance(request, SyncGroup)
    if answer.error_code:
        current = m.generation == request.generation and m.member_id == request.member_id
        _failed(m, answer.error_code, SYNC_GROUP, now_ms, effects, current=current)
    elif not m.has_generation or m.state is not JoinState.COMPLETING_REBALANCE:
        _again(m, ErrorCode.ILLEGAL_GENERATION)
    else:
        m.state = JoinState.STABLE
        m.reason, m.rejoin_needed = "", False
        m.failures = 0
        m.assignment = answer.assignment


def lost_answer(m: Memory, now_ms: int) -> None:
    """No answer came: the coordinator is looked up, and the group joined again."""
    m.in_flight = None
    m.lose_coordinator(now_ms)
    m.ask_to_rejoin("rebalance failed due to DisconnectException")
    m.retry_ms = now_ms + m.config.retry_back_off_ms


def _failed(
    m: Memory, code: int, api: str, now_ms: int, effects: list[Effect], *, current: bool = True
) -> None:
    match code:
        case _ if code == ErrorCode.UNKNOWN_MEMBER_ID:
            if current:
                m.reset(f"encountered {error_name(code)} from {api} response")
        case _ if code == ErrorCode.ILLEGAL_GENERATION:
            if current:
                m.reset(
                    f"encountered {error_name(code)} from {api} response", keeps_id=m.config.release.keeps_id
                )
        case _ if code == ErrorCode.REBALANCE_IN_PROGRESS:
            pass
        case _ if code in LOOKED_UP:
            m.lose_coordinator(now_ms)
            m.retry_ms = now_ms + m.config.retry_back_off_ms
        case _ if code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and api == JOIN_GROUP:
            m.retry_ms = now_ms + m.config.retry_back_off_ms
        case _ if code == ErrorCode.FENCED_INSTANCE_ID:
            die(m, exception_of(code), effects)
            return
        case _ if api == SYNC_GROUP and code != ErrorCode.GROUP_AUTHORIZATION_FAILED:
            # Its handler expects no other error, be it one that may pass.
            throw(m, UNEXPECTED, now_ms, effects, code)
            m.ask_to_rejoin(f"rebalance failed due to {UNEXPECTED}")
            return
        case _:
            throw(m, exception_of(code), now_ms, effects, code)
    _again(m, code)


def _again(m: Memory, code: int) -> None:
    m.ask_to_rejoin(f"rebalance failed due to {exception_of(code)}")


def throw(m: Memory, exception: str, now_ms: int, effects: list[Effect], code: int = 0) -> None:
    """``poll()`` throws; the application catches it and polls again, a while later."""
    effects.append(Returned(operation=Operation.POLL, error_code=code, exception=exception))
    m.polled_ms = now_ms
    m.busy_until_ms = max(m.busy_until_ms, now_ms + AFTER_ERROR_MS)


def die(m: Memory, exception: str, effects: list[Effect]) -> None:
    """An error after which an application closes: another process has the member's instance id."""
    effects.append(Returned(operation=Operation.POLL, exception=exception))
    m.reset("")
    m.fatal, m.in_flight, m.answer, m.commits = True, None, None, ()
    m.events = (Event(Purpose.DIE, Callback.LOST, m.owned),) if m.owned else ()


# onJoinComplete


def _complete(m: Memory, data: bytes, now_ms: int) -> None:
    m.needs_prepare = True
    if not m.leads:
        m.snapshot = None
    given = embedding.assigned(data) if data else {}
    if any(topic not in m.names for topic in given):
        m.ask_to_rejoin(DOES_NOT_MATCH)
        return
    m.to_take = given
    revoked = minus(m.owned, given) if m.cooperative else {}
    if revoked:
        m.rejoins = True
        m.events += (Event(Purpose.GIVE_UP, Callback.REVOKED, revoked),)
    else:
        take(m, now_ms)


def take(m: Memory, now_ms: int) -> None:
    """What was to be given up is: the assignor gets the assignment, and the application gets what is new, even if that is nothing."""
    if m.rejoins:
        m.rejoins = False
        m.ask_to_rejoin(NEED_TO_REVOKE)
    m.remembered, m.remembered_generation = m.to_take, m.generation
    if m.config.notes_call is not None:
        given = f"{in_words([m.to_take])}, generation {m.generation}"
        m.config.notes_call(m.protocol_name or "", "onAssignment", given)
    m.auto_commit_ms = now_ms + m.config.auto_commit_interval_ms
    if not _knows(m, m.to_take):
        # A consumer that is to fetch from a partition whose leader it does not know asks for metadata (``AbstractFetch``).
        m.metadata_ms = min(m.metadata_ms, now_ms)
    m.events += (Event(Purpose.TAKE, Callback.ASSIGNED, minus(m.to_take, m.owned)),)


def _knows(m: Memory, partitions: Partitions) -> bool:
    """Whether metadata contain all of them: a leader may have known of more."""
    return all(
        topic in m.metadata and max(numbers, default=0) < m.metadata[topic].partitions
        for topic, numbers in partitions.items()
    )
