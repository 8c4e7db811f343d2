"""Commits: sent, sent again, given up (``CommitRequestManager``). None of their errors changes the membership.

The proposal (OffsetCommit API, "Response Handling"): after STALE_MEMBER_EPOCH a commit is sent again with the next epoch, but for
``commitAsync``, which could undo a later one; the release does so before a revocation alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from simulations.protocol.client.consumer import leaving, lookup, reconciling
from simulations.protocol.client.consumer.effects import Effect, Operation, Returned, Send
from simulations.protocol.client.consumer.errors import (
    LOOKED_UP,
    RETRIABLE,
)
from simulations.protocol.client.consumer.state import FOREVER, ClientState, Commit, CommitKind
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import CommitAnswer, Named, OffsetCommit

BY_ID: Final = 10
BY_NAME: Final = 9
"""Versions of OffsetCommit; a client that does not know the id of some topic falls back to the older one."""

_WAITING: Final = (CommitKind.SYNC, CommitKind.ON_CLOSE, CommitKind.BEFORE_REVOCATION)
"""These are sent again until their deadline."""

_OPERATIONS: Final = {CommitKind.SYNC: Operation.COMMIT_SYNC, CommitKind.ASYNC: Operation.COMMIT_ASYNC}


def step(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    """Begins the automatic commit that is due, and sends what waits."""
    if not m.commits and not m.config.auto_commit:
        return False
    done = _automatic(m, now_ms)
    for commit in m.commits:
        if commit.request is not None:
            continue
        if now_ms >= commit.deadline_ms:
            _finish(m, commit, ErrorCode.REQUEST_TIMED_OUT, now_ms, effects)
            return True
        if commit.stale_epoch is not None and m.epoch <= 0:
            # No member any more: what it had consumed is of partitions that it has lost.
            _finish(m, commit, ErrorCode.STALE_MEMBER_EPOCH, now_ms, effects)
            return True
        if commit.stale_epoch not in (None, m.epoch) and commit.kind is CommitKind.INTERVAL:
            # What it had consumed by then may be given up by now, and is no longer all: the next one has the positions of now.
            _finish(m, commit, ErrorCode.STALE_MEMBER_EPOCH, now_ms, effects)
            m.auto_commit_ms = now_ms
            return True
        if m.lookup.known and now_ms >= commit.next_ms and commit.stale_epoch != m.epoch:
            request = request_for(m, commit)
            expires_ms = min(commit.deadline_ms, now_ms + m.config.request_timeout_ms)
            _replace(m, commit, replace(commit, request=request, expires_ms=expires_ms))
            effects.append(Send(request=request))
            done = True
    return done


def _automatic(m: ClientState, now_ms: int) -> bool:
    """``enable.auto.commit``: as the application polls, at most one at a time."""
    config = m.config
    if not config.auto_commit or now_ms < m.auto_commit_ms or not m.owned or not m.polls(now_ms):
        return False
    if _commits_by_itself(m):
        return False
    m.auto_commit_ms = now_ms + config.auto_commit_interval_ms
    offsets = config.positions(m.owned, now_ms) if config.positions is not None else ()
    if offsets:
        m.commits += (Commit(CommitKind.INTERVAL, offsets, deadline_ms=now_ms + config.request_timeout_ms),)
    return True


def _commits_by_itself(m: ClientState) -> bool:
    """Whether an automatic commit is under way: until it is over, none is due."""
    return any(commit.kind is CommitKind.INTERVAL for commit in m.commits)


def due_ms(m: ClientState, now_ms: int) -> int:
    """When there is something to do next."""
    due = FOREVER
    for commit in m.commits:
        if commit.request is not None:
            due = min(due, commit.expires_ms)
        else:
            sent_again = m.lookup.known and commit.stale_epoch is None
            due = min(due, commit.deadline_ms, commit.next_ms if sent_again else FOREVER)
    if m.config.auto_commit and m.owned and m.polls(now_ms) and not _commits_by_itself(m):
        due = min(due, m.auto_commit_ms)
    return due


def find(m: ClientState, request: OffsetCommit) -> Commit | None:
    return next((commit for commit in m.commits if commit.request is request), None)


def answered(
    m: ClientState, commit: Commit, answer: CommitAnswer, now_ms: int, effects: list[Effect]
) -> None:
    codes = (int(code) for _, _, code in answer.error_codes)
    code = next((code for code in codes if code), 0)
    if code in LOOKED_UP:
        lookup.lose(m, now_ms)
    if code == ErrorCode.STALE_MEMBER_EPOCH and _awaits_epoch(m, commit):
        assert commit.request is not None
        stale_epoch = commit.request.member_epoch
        _replace(m, commit, replace(commit, request=None, expires_ms=FOREVER, stale_epoch=stale_epoch))
    elif code and _again(m, commit, code):
        _later(m, commit, now_ms)
    else:
        _finish(m, commit, code, now_ms, effects)


def failed(m: ClientState, commit: Commit, now_ms: int, effects: list[Effect]) -> None:
    """No answer will come: the connection is gone."""
    lookup.lose(m, now_ms)
    if commit.kind in _WAITING and now_ms < commit.deadline_ms:
        _later(m, commit, now_ms)
    else:
        _finish(m, commit, ErrorCode.REQUEST_TIMED_OUT, now_ms, effects)


def _awaits_epoch(m: ClientState, commit: Commit) -> bool:
    """Whether a commit that was refused as stale waits for a response with another epoch.

    ``commitAsync`` never sends again: a later commit may have been taken. A member that closes sends no heartbeat before its last commit has ended; only one that is in flight can help it.
    """
    if not m.config.is_proposed or m.epoch <= 0 or commit.request is None:
        return False
    if commit.kind is CommitKind.ASYNC:
        return False
    is_behind = commit.request.member_epoch != m.epoch
    return commit.kind is not CommitKind.ON_CLOSE or is_behind or m.in_flight is not None


def _again(m: ClientState, commit: Commit, code: int) -> bool:
    if commit.kind is CommitKind.BEFORE_REVOCATION:
        if code == ErrorCode.STALE_MEMBER_EPOCH:
            return m.epoch > 0
        if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return False
    return commit.kind in _WAITING and code in RETRIABLE


def _later(m: ClientState, commit: Commit, now_ms: int) -> None:
    next_ms = now_ms + m.back_off_ms(commit.failures)
    waiting = replace(commit, request=None, expires_ms=FOREVER, next_ms=next_ms, failures=commit.failures + 1)
    _replace(m, commit, waiting)


def _finish(m: ClientState, commit: Commit, code: int, now_ms: int, effects: list[Effect]) -> None:
    m.commits = tuple(other for other in m.commits if other is not commit)
    operation = _OPERATIONS.get(commit.kind)
    if operation is not None:
        exception = _exception(commit.kind, code) if code else None
        effects.append(Returned(operation=operation, error_code=code, exception=exception))
    elif commit.kind is CommitKind.BEFORE_REVOCATION:
        reconciling.committed(m, commit.reconciliation)
    elif commit.kind is CommitKind.ON_CLOSE:
        leaving.committed(m)
    elif code in RETRIABLE:
        m.auto_commit_ms = now_ms + m.config.retry_back_off_ms


def _exception(kind: CommitKind, code: int) -> str:
    if kind is CommitKind.ASYNC and code in RETRIABLE:
        return "RetriableCommitFailedException"
    if code == ErrorCode.REQUEST_TIMED_OUT:
        return "TimeoutException"
    if code == ErrorCode.UNKNOWN_MEMBER_ID or (
        kind is CommitKind.SYNC and code == ErrorCode.STALE_MEMBER_EPOCH
    ):
        return "CommitFailedException"
    return "StaleMemberEpochException" if code == ErrorCode.STALE_MEMBER_EPOCH else "KafkaException"


def request_for(m: ClientState, commit: Commit) -> OffsetCommit:
    """KIP-848 names topics by id from version 9 on, which has both; a release from version 10 on."""
    by_id = not m.config.is_librdkafka and (
        m.metadata is None or all(offset.topic_id in m.metadata.values() for offset in commit.offsets)
    )
    offsets = commit.offsets
    if by_id and m.config.is_proposed:
        offsets = tuple(replace(offset, named=Named.ID) for offset in offsets)
    return OffsetCommit(
        group_id=m.config.group_id,
        member_id=m.config.member_id,
        member_epoch=m.epoch if m.epoch > 0 else -1,
        offsets=offsets,
        version=BY_ID if by_id and not m.config.is_proposed else BY_NAME,
    )


def _replace(m: ClientState, old: Commit, new: Commit) -> None:
    m.commits = tuple(new if commit is old else commit for commit in m.commits)
