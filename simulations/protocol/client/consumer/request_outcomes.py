"""What comes of a client's requests: an answer, a failure, or nothing in time."""

from __future__ import annotations

from simulations.protocol.client.consumer import committing, fetching, heartbeats, lookup
from simulations.protocol.client.consumer.effects import Effect
from simulations.protocol.client.consumer.requests import Answer, FindCoordinatorAnswer, Request
from simulations.protocol.client.consumer.state import ClientState
from simulations.protocol.messages.groups import CommitAnswer, HeartbeatAnswer, OffsetCommit
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch


def answered(m: ClientState, request: Request, answer: Answer, now_ms: int, effects: list[Effect]) -> bool:
    """The answer to a request; ``False``, and nothing was done, where nobody waits for it any more."""
    if request is m.in_flight:
        assert isinstance(answer, HeartbeatAnswer)
        heartbeats.answered(m, answer, now_ms, effects)
        return True
    if isinstance(answer, CommitAnswer):
        assert isinstance(request, OffsetCommit)
        commit = committing.find(m, request)
        if commit is not None:
            committing.answered(m, commit, answer, now_ms, effects)
        return commit is not None
    if isinstance(answer, FetchAnswer):
        assert isinstance(request, OffsetFetch)
        fetch = fetching.find(m, request)
        if fetch is not None:
            fetching.answered(m, fetch, answer, now_ms, effects)
        return fetch is not None
    if request is m.lookup.request and isinstance(answer, FindCoordinatorAnswer):
        lookup.answered(m, answer, now_ms)
        return True
    return False


def failed(m: ClientState, request: Request, now_ms: int, effects: list[Effect]) -> bool:
    """There will be no answer; ``False`` where nobody waits for it any more."""
    if request is m.in_flight:
        heartbeats.failed(m, now_ms)
    elif request is m.lookup.request:
        lookup.failed(m, now_ms)
    elif isinstance(request, OffsetCommit) and (commit := committing.find(m, request)) is not None:
        committing.failed(m, commit, now_ms, effects)
    elif isinstance(request, OffsetFetch) and (fetch := fetching.find(m, request)) is not None:
        fetching.failed(m, fetch, now_ms)
    else:
        return False
    return True


def overdue(m: ClientState, now_ms: int, effects: list[Effect]) -> None:
    """What has not come in time has failed."""
    if m.in_flight is not None and now_ms >= m.expires_ms:
        heartbeats.failed(m, now_ms)
    if m.lookup.request is not None and now_ms >= m.lookup.expires_ms:
        lookup.failed(m, now_ms)
    for commit in m.commits:
        if commit.request is not None and now_ms >= commit.expires_ms:
            committing.failed(m, commit, now_ms, effects)
    for fetch in m.fetches:
        if fetch.request is not None and now_ms >= fetch.expires_ms:
            fetching.failed(m, fetch, now_ms)
