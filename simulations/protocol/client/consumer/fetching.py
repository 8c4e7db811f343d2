"""Positions of what was assigned, asked of the coordinator (``CommitRequestManager.fetchOffsets``).

Where the consumer goes on from there is no matter of its membership, and no error changes that.
"""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.client.consumer import lookup
from simulations.protocol.client.consumer.effects import Effect, Operation, Returned, Send
from simulations.protocol.client.consumer.errors import (
    LOOKED_UP,
)
from simulations.protocol.client.consumer.state import FOREVER, ClientState, Fetch
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import TOPIC_ID_VERSION, Named, Partitions
from simulations.protocol.messages.offsets import PROPOSED_VERSION, FetchAnswer, FetchedTopic, OffsetFetch


def begin(m: ClientState, partitions: Partitions, now_ms: int) -> None:
    """Asks for the positions of partitions that were just assigned."""
    if m.config.fetches_offsets and partitions:
        m.fetches += (Fetch(partitions, now_ms + m.config.api_timeout_ms),)


def step(m: ClientState, now_ms: int, effects: list[Effect]) -> bool:
    """Sends what waits."""
    done = False
    for fetch in m.fetches:
        if fetch.request is not None:
            continue
        if now_ms >= fetch.deadline_ms:
            _finish(m, fetch, ErrorCode.REQUEST_TIMED_OUT, effects)
            return True
        if m.lookup.known and now_ms >= fetch.next_ms and fetch.stale_epoch != m.epoch:
            request = _request(m, fetch)
            expires_ms = min(fetch.deadline_ms, now_ms + m.config.request_timeout_ms)
            _replace(m, fetch, replace(fetch, request=request, expires_ms=expires_ms))
            effects.append(Send(request=request))
            done = True
    return done


def due_ms(m: ClientState) -> int:
    """When there is something to do next."""
    due = FOREVER
    for fetch in m.fetches:
        if fetch.request is not None:
            due = min(due, fetch.expires_ms)
        else:
            sent_again = m.lookup.known and fetch.stale_epoch != m.epoch
            due = min(due, fetch.deadline_ms, fetch.next_ms if sent_again else FOREVER)
    return due


def find(m: ClientState, request: OffsetFetch) -> Fetch | None:
    return next((fetch for fetch in m.fetches if fetch.request is request), None)


def answered(m: ClientState, fetch: Fetch, answer: FetchAnswer, now_ms: int, effects: list[Effect]) -> None:
    code = int(answer.error_code) or next((int(o.error_code) for o in answer.offsets if o.error_code), 0)
    if code in LOOKED_UP:
        lookup.lose(m, now_ms)
    passing = code in LOOKED_UP or code in (
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )
    stale = code == ErrorCode.STALE_MEMBER_EPOCH and m.epoch > 0
    if stale and m.config.is_proposed:
        assert fetch.request is not None
        stale_epoch = fetch.request.member_epoch
        _replace(m, fetch, replace(fetch, request=None, expires_ms=FOREVER, stale_epoch=stale_epoch))
    elif passing or stale:
        _later(m, fetch, now_ms)
    else:
        _finish(m, fetch, code, effects)


def failed(m: ClientState, fetch: Fetch, now_ms: int) -> None:
    """No answer will come: the connection is gone."""
    lookup.lose(m, now_ms)
    _later(m, fetch, now_ms)


def _later(m: ClientState, fetch: Fetch, now_ms: int) -> None:
    next_ms = now_ms + m.back_off_ms(fetch.failures)
    waiting = replace(fetch, request=None, expires_ms=FOREVER, next_ms=next_ms, failures=fetch.failures + 1)
    _replace(m, fetch, waiting)


def _finish(m: ClientState, fetch: Fetch, code: int, effects: list[Effect]) -> None:
    m.fetches = tuple(other for other in m.fetches if other is not fetch)
    if code:
        exception = "TimeoutException" if code == ErrorCode.REQUEST_TIMED_OUT else "KafkaException"
        effects.append(Returned(operation=Operation.POLL, error_code=code, exception=exception))


def _request(m: ClientState, fetch: Fetch) -> OffsetFetch:
    """By id, as version 10 does, and KIP-848's version 9 may."""
    names = {topic_id: name for name, topic_id in (m.metadata or {}).items()}
    return OffsetFetch(
        group_id=m.config.group_id,
        member_id=m.config.member_id,
        member_epoch=m.epoch if m.epoch > 0 else -1,
        topics=tuple(
            FetchedTopic(topic=names.get(topic_id, ""), topic_id=topic_id, partitions=numbers, given=Named.ID)
            for topic_id, numbers in fetch.partitions.items()
        ),
        require_stable=True,
        version=PROPOSED_VERSION if m.config.is_proposed else TOPIC_ID_VERSION,
        proposed=m.config.is_proposed,
    )


def _replace(m: ClientState, old: Fetch, new: Fetch) -> None:
    m.fetches = tuple(new if fetch is old else fetch for fetch in m.fetches)
