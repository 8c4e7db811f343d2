"""From one assignment to the next: commit, give up, take, acknowledge (``maybeReconcile``).

Each round tries; one in which the application polls may do everything, another one only what the application need
not be asked for: to take more, without an automatic commit.
"""

from __future__ import annotations

from simulations.protocol.client.consumer.config import ConsumerClient
from simulations.protocol.client.consumer.effects import AskMetadata, Callback, Effect, minus
from simulations.protocol.client.consumer.state import (
    NONE,
    Assignment,
    ClientState,
    Commit,
    CommitKind,
    Event,
    Purpose,
    Reconciliation,
)
from simulations.protocol.client.consumer.states import MemberState


def step(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    """Begins a reconciliation, if one is needed, none is in progress, and it may."""
    if m.state is not MemberState.RECONCILING or m.reconciliation is not None or m.current == m.target:
        return False
    resolved = _resolved(m, effects)
    if m.current is not NONE and m.current.partitions == resolved.partitions:
        if m.config.client is ConsumerClient.JAVA_4_4 and m.current.local_epoch == resolved.local_epoch:
            return False
        if resolved is not m.target:
            # It is not done, and comes back here after the heartbeat: a heartbeat for each round trip.
            m.not_before_ms = m.built_ms + 1
        m.current = resolved
        m.enter(MemberState.ACKNOWLEDGING)
        return True
    added, revoked = minus(resolved.partitions, m.owned), minus(m.owned, resolved.partitions)
    auto_commit = m.config.auto_commit
    if (auto_commit or revoked) and not m.polls(now_ms):
        return False
    m.reconciliation = Reconciliation(resolved, added, revoked)
    consumed = revoked if m.config.is_librdkafka else m.owned
    offsets = m.config.positions(consumed, now_ms) if auto_commit and m.config.positions else ()
    if offsets:
        deadline_ms = now_ms + m.config.rebalance_timeout_ms
        commit = Commit(
            CommitKind.BEFORE_REVOCATION, offsets, deadline_ms=deadline_ms, reconciliation=m.reconciliation
        )
        m.commits += (commit,)
    else:
        committed(m, m.reconciliation)
    return True


def committed(m: ClientState, reconciliation: Reconciliation | None) -> None:
    """What was consumed is committed, or could not be: now it may be given up, unless that was broken off."""
    if reconciliation is None or reconciliation is not m.reconciliation:
        return
    if reconciliation.revoked:
        m.events += (Event(Purpose.RECONCILE, Callback.REVOKED, reconciliation.revoked, reconciliation),)
    else:
        revoked(m)


def revoked(m: ClientState) -> None:
    """Nothing is left to give up: the application is handed the whole assignment."""
    reconciliation = m.reconciliation
    assert reconciliation is not None
    m.events += (Event(Purpose.RECONCILE, Callback.ASSIGNED, reconciliation.added, reconciliation),)


def assigned(m: ClientState, now_ms: int) -> None:
    """The application has what it is to have; the heartbeat that reports it is due at once."""
    assert m.reconciliation is not None
    m.current = m.reconciliation.target
    m.reconciliation = None
    m.auto_commit_ms = now_ms + m.config.auto_commit_interval_ms
    m.enter(MemberState.ACKNOWLEDGING)


def _resolved(m: ClientState, effects: list[Effect]) -> Assignment:
    """The target, without the topics whose names the consumer does not know; it asks for them, once."""
    if m.metadata is None:
        return m.target
    known = {*m.metadata.values(), *m.owned}
    unknown = tuple(sorted(topic_id for topic_id in m.target.partitions if topic_id not in known))
    if not unknown:
        return m.target
    if m.asked != unknown:
        m.asked = unknown
        effects.append(AskMetadata(topic_ids=unknown))
    partitions = {
        topic_id: numbers for topic_id, numbers in m.target.partitions.items() if topic_id not in unknown
    }
    return Assignment(m.target.local_epoch, partitions)
