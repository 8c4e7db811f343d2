"""Commits of a classic member, with its generation; unlike those of the new protocol their errors change the membership.

Kafka's classes: ``ConsumerCoordinator.maybeAutoCommitOffsetsAsync``, ``OffsetCommitResponseHandler``. While a rebalance is in
progress, and without a generation, a commit fails before it is sent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulations.protocol.client.classic.errors import (
    LOOKED_UP,
    NAMES,
    RETRIED,
    error_name,
    exception_of,
)
from simulations.protocol.client.classic.state import Commit, CommitKind, JoinState, Memory
from simulations.protocol.client.consumer.effects import Effect, Operation, Returned, Send
from simulations.protocol.client.consumer.state import FOREVER
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommitAnswer, CommittedOffset, OffsetCommit

COMMIT_REFUSED: Final = "offset commit failed since group is already rebalancing"

NOT_REACHED: Final = "RetriableCommitFailedException"
"""Of an application's commit that no coordinator has answered."""

_WAITING: Final = (CommitKind.BEFORE_JOIN, CommitKind.ON_CLOSE, CommitKind.IN_REVOCATION)
"""These are sent again until their deadline."""


def before_join(m: Memory, now_ms: int) -> bool:
    """Begins the commit of a member that commits automatically; whether there is one to wait for."""
    config = m.config
    if not config.auto_commit or config.positions is None or m.state is not JoinState.STABLE:
        return False
    offsets = automatic(m, now_ms)
    if not offsets:
        return False
    m.awaits_commit = True
    m.commits += (Commit(CommitKind.BEFORE_JOIN, offsets, now_ms + config.rebalance_timeout_ms),)
    return True


def automatic(m: Memory, now_ms: int) -> tuple[CommittedOffset, ...]:
    """What a client commits by itself: all that it has, librdkafka only what moved since it was committed."""
    assert m.config.positions is not None
    offsets = m.config.positions(m.owned, now_ms)
    if not m.config.release.librdkafka:
        return offsets
    return tuple(each for each in offsets if m.committed.get((each.topic, each.partition)) != each.offset)


def begin(
    m: Memory, kind: CommitKind, offsets: tuple[CommittedOffset, ...], now_ms: int, effects: list[Effect]
) -> None:
    """A commit of the application; it fails at once where there is nobody to commit as."""
    if not offsets:
        return
    if m.joining or not m.has_generation:
        exception = "RebalanceInProgressException" if m.joining else "CommitFailedException"
        if kind in (CommitKind.ASYNC, CommitKind.IN_REVOCATION):
            effects.append(Returned(operation=Operation.COMMIT_ASYNC, exception=exception))
        return
    m.commits += (Commit(kind, offsets, now_ms + m.config.request_timeout_ms),)


def step(m: Memory, now_ms: int, effects: list[Effect]) -> bool:
    """Begins the automatic commit that is due; sends what waits, or gives it up."""
    config = m.config
    done = False
    if (
        config.auto_commit
        and config.positions is not None
        and now_ms >= m.auto_commit_ms
        and m.owned
        and m.state is JoinState.STABLE
        and not m.preparing
        # The poll that takes an assignment revokes first, and commits what is left (``ConsumerCoordinator.poll``).
        and m.assignment is None
        and m.polls(now_ms)
    ):
        m.auto_commit_ms = now_ms + config.auto_commit_interval_ms
        begin(m, CommitKind.INTERVAL, automatic(m, now_ms), now_ms, effects)
        done = True
    for commit in m.commits:
        if commit.request is not None:
            continue
        if now_ms >= commit.deadline_ms or not m.has_generation:
            _give_back(m, commit, NOT_REACHED if m.has_generation else "CommitFailedException", effects)
            return True
        if m.known and now_ms >= commit.next_ms:
            request = OffsetCommit(
                group_id=config.group_id,
                member_id=m.member_id,
                member_epoch=m.generation,
                instance_id=config.instance_id if config.release.static else None,
                offsets=commit.offsets,
                version=config.release.commit_version,
            )
            m.commits = tuple(
                replace(commit, request=request) if each is commit else each for each in m.commits
            )
            effects.append(Send(request=request))
            done = True
    return done


def find(m: Memory, request: object) -> Commit | None:
    return next((commit for commit in m.commits if commit.request is request), None)


def answered(m: Memory, commit: Commit, answer: CommitAnswer, now_ms: int, effects: list[Effect]) -> None:
    assert commit.request is not None
    code = next((code for _, _, code in answer.error_codes if code), 0)
    current = (commit.request.member_epoch, commit.request.member_id) == (m.generation, m.member_id)
    if code in LOOKED_UP:
        m.lose_coordinator(now_ms)
    if code in RETRIED and commit.kind in _WAITING:
        again(m, commit, now_ms)
        return
    _forget(m, commit)
    if not code and m.config.release.librdkafka:
        m.committed = {
            **m.committed,
            **{(each.topic, each.partition): each.offset for each in commit.offsets},
        }
    if code == ErrorCode.UNKNOWN_MEMBER_ID and current:
        m.reset(f"encountered {error_name(code)} from OFFSET_COMMIT response")
    elif code == ErrorCode.ILLEGAL_GENERATION and current:
        m.reset(
            f"encountered {error_name(code)} from OFFSET_COMMIT response", keeps_id=m.config.release.keeps_id
        )
    elif code == ErrorCode.REBALANCE_IN_PROGRESS:
        m.ask_to_rejoin(COMMIT_REFUSED)
    if code and commit.kind is CommitKind.ASYNC:
        exception = exception_of(code) if code in NAMES else "KafkaException"
        if code in RETRIED:
            exception = NOT_REACHED
        elif code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION) or (
            code == ErrorCode.FENCED_INSTANCE_ID and not current
        ):
            exception = "CommitFailedException"
        effects.append(Returned(operation=Operation.COMMIT_ASYNC, error_code=code, exception=exception))


def failed(m: Memory, commit: Commit, now_ms: int, effects: list[Effect]) -> None:
    """No answer will come."""
    if commit.kind in _WAITING:
        again(m, commit, now_ms)
    else:
        _give_back(m, commit, NOT_REACHED, effects)


def again(m: Memory, commit: Commit, now_ms: int) -> None:
    """It is sent once more, a back-off later."""
    later = replace(commit, request=None, next_ms=now_ms + m.config.retry_back_off_ms)
    m.commits = tuple(later if each is commit else each for each in m.commits)


def _give_back(m: Memory, commit: Commit, exception: str, effects: list[Effect]) -> None:
    """It ends without an answer; the application's own gets an exception."""
    _forget(m, commit)
    if commit.kind is CommitKind.ASYNC:
        effects.append(Returned(operation=Operation.COMMIT_ASYNC, exception=exception))


def _forget(m: Memory, commit: Commit) -> None:
    m.commits = tuple(each for each in m.commits if each is not commit)


def before_join_over(m: Memory) -> bool:
    return not any(commit.kind is CommitKind.BEFORE_JOIN for commit in m.commits)


def due_ms(m: Memory, now_ms: int) -> int:
    due = FOREVER
    if (
        m.config.auto_commit
        and m.owned
        and m.state is JoinState.STABLE
        and not m.preparing
        # The poll that takes an assignment revokes first, and commits what is left (``ConsumerCoordinator.poll``).
        and m.assignment is None
        and m.polls(now_ms)
    ):
        due = m.auto_commit_ms
    for commit in m.commits:
        if commit.request is None:
            due = min(due, commit.deadline_ms, commit.next_ms if m.known else FOREVER)
    return due
