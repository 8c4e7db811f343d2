"""Cuts a request log into groups, and lists the groups that cannot be judged, and why.

A group of either protocol is judged, also one that changes from the one to the other.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypedDict

from groups.history.replay.record_types import CONSUMER_TYPES, SHARE_TYPES, STREAMS_TYPES
from groups.texts.request_log import LoggedRequest
from simulations.proof.conformance.classic_requests import can_read
from simulations.proof.conformance.recording import Fields, ImageChange, RecordedRequest, Recording, Written
from simulations.proof.conformance.requests import (
    CLASSIC,
    COMMIT,
    DELETE_GROUPS,
    DELETE_OFFSETS,
    DESCRIBE,
    DESCRIBE_CLASSIC,
    FETCH,
    HEARTBEAT,
    TRANSACTIONAL_COMMIT,
    WAITING,
    can_ask,
)

OTHER_APIS: Final = {
    "SHARE_GROUP_HEARTBEAT": "share group",
    "SHARE_GROUP_DESCRIBE": "share group",
    "STREAMS_GROUP_HEARTBEAT": "streams group",
    "STREAMS_GROUP_DESCRIBE": "streams group",
}
GROUP_APIS: Final = frozenset(
    {
        HEARTBEAT,
        COMMIT,
        TRANSACTIONAL_COMMIT,
        FETCH,
        DELETE_OFFSETS,
        DELETE_GROUPS,
        DESCRIBE,
        DESCRIBE_CLASSIC,
        *CLASSIC,
        *OTHER_APIS,
    }
)
"""What is read of a request log."""

NOT_COORDINATOR: Final = 16

NOT_READY: Final = frozenset({14, 15, NOT_COORDINATOR})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: about the broker, not about the group."""

NOT_IN_TRANSACTION: Final = frozenset({47, 48, 49, 51, 53, 67, 90, 120})
"""What the coordinator of transactions answers of the producer, before the group's is asked: INVALID_PRODUCER_EPOCH,
INVALID_TXN_STATE, INVALID_PRODUCER_ID_MAPPING, CONCURRENT_TRANSACTIONS, TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
PRODUCER_FENCED (67 of old brokers), TRANSACTION_ABORTABLE."""

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    HEARTBEAT: ("groupId", "memberId", "memberEpoch", "rebalanceTimeoutMs"),
    COMMIT: ("groupId", "memberId", "generationIdOrMemberEpoch", "topics"),
    TRANSACTIONAL_COMMIT: ("groupId", "memberId", "transactionalId", "producerId", "producerEpoch", "topics"),
    DELETE_OFFSETS: ("topics",),
}
"""What requests of the other APIs always have."""

HANDLED_MS: Final = 250
"""How long after it was read a request is handled at the latest that may wait for its answer, on a machine on which
nothing else shows that it is slower."""


class NotJudgedLine(TypedDict):
    """One reason in the report, and how much of the recording it leaves out."""

    reason: str
    requests: int
    records: int


@dataclass(slots=True)
class NotJudged:
    """Requests and records that the simulated coordinator was not asked about, by reason."""

    requests: Counter[str] = field(default_factory=Counter)
    records: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> list[NotJudgedLine]:
        reasons = sorted({*self.requests, *self.records})
        return [
            {"reason": reason, "requests": self.requests[reason], "records": self.records[reason]}
            for reason in reasons
        ]


def recordings(
    logged: Iterable[LoggedRequest],
    written: Mapping[str, Iterable[Written]],
    images: tuple[ImageChange, ...],
    not_judged: NotJudged,
    *,
    only: str | None = None,
) -> Iterator[Recording]:
    """A recording for each group that can be judged, by name; the rest is counted in ``not_judged``."""
    asked: dict[str, list[RecordedRequest]] = {}
    for request in logged:
        for part in parts_of(request):
            asked.setdefault(part.group, []).append(part)
    slowest_ms = max(map(_took_ms, chain.from_iterable(asked.values())), default=0)
    unready_ms = sorted(part.arrived_ms for own in asked.values() for part in own if _not_ready(part))
    for group in sorted({*asked, *written}):
        if only is not None and group != only:
            continue
        own, records = asked.get(group, []), tuple(written.get(group, ()))
        reason = why_not(own, records)
        if reason is not None:
            not_judged.requests[reason] += len(own)
            not_judged.records[reason] += len(records)
            continue
        kept = []
        loading = Loading(own, unready_ms)
        for part in own:
            if _not_ready(part):
                not_judged.requests["coordinator not ready"] += 1
                if is_turned_away(part):
                    # It may have waited for other members until its coordinator was another one.
                    kept.append(bounded(part, slowest_ms, loading.until_ms(part)))
            elif part.api == TRANSACTIONAL_COMMIT and _codes(part) & NOT_IN_TRANSACTION:
                not_judged.requests["a transaction that its coordinator refused"] += 1
            elif not has_fields(part):
                not_judged.requests["requests that lack fields of their API"] += 1
            elif not can_ask(part.api):
                not_judged.requests[OTHER_APIS.get(part.api, part.api)] += 1
            else:
                kept.append(bounded(part, slowest_ms, loading.until_ms(part)))
        kept.sort(key=lambda part: (part.arrived_ms, part.done_ms))
        if not kept:
            not_judged.records["coordinator not ready"] += len(records)
            continue
        yield Recording(group=group, asked=tuple(kept), written=records, images=images, slowest_ms=slowest_ms)


def _took_ms(part: RecordedRequest) -> int:
    """How long the broker had a request that it answers at once; other answers do not show how slow it was."""
    return part.done_ms - part.arrived_ms if can_ask(part.api) and part.api not in WAITING else 0


class Loading:
    """Until when the coordinator of one group may have been loading as a request arrived.

    A coordinator that loads refuses most requests, and lets those wait that arrive as it ends. It has certainly loaded
    when it has answered a request of the group other than with such a refusal.
    """

    def __init__(self, own: Iterable[RecordedRequest], unready_ms: list[int]) -> None:
        """``unready_ms``: when requests of any group arrived that were refused so, ascending."""
        self._unready_ms = unready_ms
        parts = list(own)
        self._refused_ms = sorted(part.arrived_ms for part in parts if _not_ready(part))
        self._ready = sorted((part.arrived_ms, part.done_ms) for part in parts if not _not_ready(part))

    def until_ms(self, part: RecordedRequest) -> int | None:
        """When the first request was answered behind the last refusal before this one; None if that is before it arrived."""
        refused = bisect_right(self._refused_ms, part.arrived_ms)
        first = self._ready[0][0] if self._ready else part.arrived_ms
        if refused:
            since_ms = self._refused_ms[refused - 1]
        elif self._unready_ms and self._unready_ms[0] <= first:
            # Refusals of other groups: this one was not seen before.
            since_ms = first
        else:
            return None
        behind = self._ready[bisect_left(self._ready, (since_ms, -1)) :]
        ready_ms = min((done_ms for _, done_ms in behind), default=part.done_ms)
        return ready_ms if ready_ms > part.arrived_ms else None


def bounded(part: RecordedRequest, slowest_ms: int, loaded_ms: int | None = None) -> RecordedRequest:
    """With the time at which it was handled at the latest, if the answer may have waited: as slow as the machine was.

    ``loaded_ms``: until when its coordinator may have been loading.
    """
    if part.api not in WAITING:
        return part
    begun_ms = part.arrived_ms if loaded_ms is None else max(part.arrived_ms, loaded_ms)
    return replace(part, handled_ms=min(part.done_ms, begun_ms + max(HANDLED_MS, slowest_ms)))


def has_fields(part: RecordedRequest) -> bool:
    """Whether it has what its API always has; a log that somebody wrote may not."""
    if part.api in CLASSIC:
        return can_read(CLASSIC[part.api], part.request, part.version)
    return all(name in part.request for name in FIELDS.get(part.api, ()))


def is_turned_away(part: RecordedRequest) -> bool:
    """Whether it was answered that the coordinator is another one: at once, or after it had waited."""
    return part.api in WAITING and part.response.get("errorCode") == NOT_COORDINATOR


def why_not(asked: Iterable[RecordedRequest], written: Iterable[Written]) -> str | None:
    """Why nothing of a group can be judged; ``None`` for one of the consumer or the classic protocol."""
    apis = {part.api for part in asked}
    types = {each.payload["type"] for each in written}
    if any("key_bytes" in each.payload for each in written):
        return "records that cannot be read"
    consumer = HEARTBEAT in apis or bool(types & CONSUMER_TYPES)
    if types & SHARE_TYPES:
        return "share group"
    if types & STREAMS_TYPES:
        return "streams group"
    others = apis & {*OTHER_APIS}
    if others and not consumer:
        return OTHER_APIS[min(others)]
    if not apis:
        return "no request of the group is in the log"
    return None


def parts_of(request: LoggedRequest) -> Iterator[RecordedRequest]:
    """The request as each of its groups sees it."""
    body, answer = request.request, request.response
    if request.api == DESCRIBE:
        # A broker answers in the order of its partitions, not in that of the request.
        for known in answer["groups"]:
            yield _part(request, known["groupId"], {**body, "groupIds": [known["groupId"]]}, known)
    elif request.api == DESCRIBE_CLASSIC:
        for known in answer["groups"]:
            yield _part(request, known["groupId"], {**body, "groups": [known["groupId"]]}, known)
    elif request.api == DELETE_GROUPS:
        results = {known["groupId"]: known for known in answer["results"]}
        for group_id in body["groupsNames"]:
            yield _part(request, group_id, {}, results[group_id])
    elif request.api == FETCH and "groups" in body:
        results = {known["groupId"]: known for known in answer["groups"]}
        for group in body["groups"]:
            stable = {"requireStable": body.get("requireStable", False)}
            yield _part(request, group["groupId"], {**group, **stable}, results[group["groupId"]])
    elif request.api in GROUP_APIS and isinstance(body.get("groupId"), str):
        yield _part(request, body["groupId"], body, answer)


def _part(request: LoggedRequest, group: str, body: Fields, answer: Fields) -> RecordedRequest:
    return RecordedRequest(
        group=group,
        api=request.api,
        version=request.version,
        client=request.client,
        host=f"/{request.host or '127.0.0.1'}",
        request=body,
        response=answer,
        arrived_ms=int(request.arrived_ms),
        done_ms=request.done_ms,
        line=request.line,
    )


def _not_ready(part: RecordedRequest) -> bool:
    if part.response.get("errorCode") in NOT_READY:
        return True
    return part.api in (COMMIT, TRANSACTIONAL_COMMIT) and not _codes(part).isdisjoint(NOT_READY)


def _codes(part: RecordedRequest) -> set[int]:
    """The error codes of a commit's partitions."""
    topics = part.response.get("topics") or ()
    return {int(partition["errorCode"]) for topic in topics for partition in topic["partitions"]}
