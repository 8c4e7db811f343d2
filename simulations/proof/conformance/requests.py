"""Puts a recorded request to a simulated shard, with what the broker does before its coordinator hears of it.

A broker itself names the topics of a commit by id, and answers for partitions whose offsets are to be deleted and
that it does not have (``KafkaApis``). An id that the coordinator drew for a member is taken from its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from groups.wire.codecs.values import Value
from simulations.proof.conformance.classic_requests import PARKED_APIS, ask_classic
from simulations.proof.conformance.recording import Fields, RecordedRequest
from simulations.proof.conformance.versions import of_version
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.classic_requests import (
    CLASSIC_HEARTBEAT_API,
    JOIN_API,
    LEAVE_API,
    SYNC_API,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.from_bodies import (
    Sender,
    commit_of,
    fetch_of,
    heartbeat_of,
    transactional_commit_of,
)
from simulations.protocol.messages.groups import JOIN_EPOCH
from simulations.protocol.messages.offsets import OffsetDelete

HEARTBEAT: Final = "CONSUMER_GROUP_HEARTBEAT"
COMMIT: Final = "OFFSET_COMMIT"
TRANSACTIONAL_COMMIT: Final = "TXN_OFFSET_COMMIT"
FETCH: Final = "OFFSET_FETCH"
DELETE_OFFSETS: Final = "OFFSET_DELETE"
DELETE_GROUPS: Final = "DELETE_GROUPS"
DESCRIBE: Final = "CONSUMER_GROUP_DESCRIBE"
DESCRIBE_CLASSIC: Final = "DESCRIBE_GROUPS"

CLASSIC: Final[Mapping[str, str]] = {
    "JOIN_GROUP": JOIN_API,
    "SYNC_GROUP": SYNC_API,
    "HEARTBEAT": CLASSIC_HEARTBEAT_API,
    "LEAVE_GROUP": LEAVE_API,
}
"""The classic protocol's APIs: a request log has Kafka's constants, a message the names of its schemas."""

WAITING: Final = frozenset(constant for constant, name in CLASSIC.items() if name in PARKED_APIS)
"""Their answers may wait for other members."""

READS: Final = frozenset({FETCH, DESCRIBE, DESCRIBE_CLASSIC})
"""Change nothing, and see what is committed: a moment behind what is written."""

DEAD: Final = "Dead"

GROUP_ERROR_VERSION: Final = 2
"""From this version of OffsetFetch on, its answer has an error of the group."""

GROUP_NOT_FOUND_VERSION: Final = 6
"""From this version of DescribeGroups on, a group that is not there is an error."""

DELETE_MESSAGE_VERSION: Final = 3
"""From this version of DeleteGroups on, each of its answers may have a message."""

A = TypeVar("A")


Answered = Outcome[Fields | None]
"""What a shard made of a request, its answer in the form of the recorded one: ``None`` where it waits for other members.

``parked_answers`` are those to requests that waited until now.
"""


def ask(shard: Shard, asked: RecordedRequest, now_ms: int, *, committed_ms: int | None = None) -> Answered:
    """Has the shard, which this changes, handle the request, and what follows when its records are committed.

    ``committed_ms`` is when that is, if not at once.
    """
    if asked.api in CLASSIC:
        return _classic(shard, asked, now_ms, now_ms if committed_ms is None else committed_ms)
    return _APIS[asked.api](shard, asked, now_ms)


def committed(shard: Shard, outcome: Outcome[A], now_ms: int) -> Outcome[A]:
    """The outcome with what follows its records once they are in the log, which changes the shard."""
    while outcome.follow_up is not None:
        following = shard.appended(outcome.follow_up, now_ms)
        outcome = replace(
            outcome,
            records=(*outcome.records, *following.records),
            timers=(*outcome.timers, *following.timers),
            parked_answers=(*outcome.parked_answers, *following.parked_answers),
            follow_up=following.follow_up,
        )
    return outcome


def can_ask(api: str) -> bool:
    return api in _APIS or api in CLASSIC


def _classic(shard: Shard, asked: RecordedRequest, now_ms: int, committed_ms: int) -> Answered:
    answer, outcome = ask_classic(
        shard,
        CLASSIC[asked.api],
        asked.request,
        now_ms,
        version=asked.version,
        ticket=asked.line,
        client=asked.client,
        host=asked.host,
        recorded=asked.response,
    )
    outcome = committed(shard, outcome, committed_ms)
    own = [parked for parked in outcome.parked_answers if parked.ticket == asked.line]
    if own:
        answer = own[-1].answer.body()
    return replace(
        outcome,
        answer=None if answer is None else of_version(asked.api, asked.version, answer),
        parked_answers=tuple(parked for parked in outcome.parked_answers if parked not in own),
    )


def _heartbeat(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    request = heartbeat_of(asked.request, asked.version, Sender(asked.client, asked.host))
    if not request.member_id and asked.version == 0 and request.member_epoch == JOIN_EPOCH:
        request = replace(request, member_id=asked.response.get("memberId") or "")
    return _of(shard.heartbeat(request, now_ms), lambda answer: answer.body())


def _commit(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    read = transactional_commit_of if asked.api == TRANSACTIONAL_COMMIT else commit_of
    request = read(asked.request, asked.version, Sender(asked.client, asked.host), shard.image)
    outcome = shard.commit(request, now_ms)
    return _of(outcome, lambda answer: answer.body())


def _fetch(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    request = fetch_of({**asked.request, "groupId": asked.group}, asked.version)
    outcome = shard.fetch(request, now_ms)
    (group,) = outcome.answer.body()["groups"]
    answer = of_version(FETCH, asked.version, group)
    if asked.version < GROUP_ERROR_VERSION:
        answer = {name: value for name, value in answer.items() if name != "errorCode"}
    return _of(outcome, lambda _: answer)


def _delete_offsets(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    given, image = asked.request, shard.image
    answer = _Partitions("name")
    known: dict[str, tuple[int, ...]] = {}
    for topic in given["topics"]:
        numbers = [partition["partitionIndex"] for partition in topic["partitions"]]
        found = image.topics.get(topic["name"])
        for number in numbers:
            if found is None or not 0 <= number < found.partitions:
                code = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                answer.add(topic["name"], {"partitionIndex": number, "errorCode": code})
        if found is not None and (valid := tuple(n for n in numbers if 0 <= n < found.partitions)):
            known[topic["name"]] = valid
    if not known and given["topics"]:
        return Outcome(answer={"errorCode": 0, **answer.body()})
    outcome = shard.delete_offsets(OffsetDelete(group_id=asked.group, topics=known), now_ms)
    refused = int(outcome.answer.error_code)
    if refused:
        return _of(outcome, lambda _: {"errorCode": refused, "topics": []})
    for name, number, each in outcome.answer.error_codes:
        answer.add(name, {"partitionIndex": number, "errorCode": int(each)})
    return _of(outcome, lambda _: {"errorCode": 0, **answer.body()})


def _delete_group(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    outcome = shard.delete_group(now_ms)
    # Kafka gives a reason only where a plug-in refused to let a streams group go.
    message = {"errorMessage": None} if asked.version >= DELETE_MESSAGE_VERSION else {}
    return _of(
        outcome, lambda answer: {"groupId": asked.group, "errorCode": int(answer.error_code), **message}
    )


def _describe(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    described = shard.describe()
    if asked.version == 0:
        for member in described["members"]:
            del member["memberType"]
    return Outcome(answer={**described, **_authorized(asked)})


def _describe_classic(shard: Shard, asked: RecordedRequest, now_ms: int) -> Answered:
    described = {**shard.describe_classic(), **_authorized(asked)}
    if asked.version < GROUP_NOT_FOUND_VERSION and described["groupState"] == DEAD:
        described["errorCode"] = 0
    return Outcome(answer=of_version(DESCRIBE_CLASSIC, asked.version, described))


def _authorized(asked: RecordedRequest) -> dict[str, int]:
    """Who may do what is not the coordinator's affair."""
    operations = asked.response.get("authorizedOperations")
    if asked.request.get("includeAuthorizedOperations") and isinstance(operations, int):
        return {"authorizedOperations": operations}
    return {}


class _Partitions:
    """An answer's topics with their partitions, in the order in which they first appear."""

    def __init__(self, named: str) -> None:
        self._named = named
        self._topics: dict[str, list[Mapping[str, int]]] = {}

    def add(self, topic: str, partition: Mapping[str, int]) -> None:
        self._topics.setdefault(topic, []).append(partition)

    def body(self) -> Fields:
        return {
            "topics": [{self._named: topic, "partitions": known} for topic, known in self._topics.items()]
        }


def _of(outcome: Outcome[Value], body: Callable[[Value], Fields]) -> Answered:
    return replace(outcome, answer=body(outcome.answer))


_APIS: Final[dict[str, Callable[[Shard, RecordedRequest, int], Answered]]] = {
    HEARTBEAT: _heartbeat,
    COMMIT: _commit,
    TRANSACTIONAL_COMMIT: _commit,
    FETCH: _fetch,
    DELETE_OFFSETS: _delete_offsets,
    DELETE_GROUPS: _delete_group,
    DESCRIBE: _describe,
    DESCRIBE_CLASSIC: _describe_classic,
}
