"""The broker's request log as events of groups: who joined, synced, confirmed and left, and what a leader assigned.

Heartbeats that change nothing add nothing. A session that expires is no request: a member that was removed is missing from then on.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from groups.texts.found import PASSED_OVER, Found, LineProblem, LogEvent, TextFormat
from groups.texts.line_time import MOST_MS
from groups.texts.request_log import MARK, LoggedRequest, read_request
from groups.wire.codecs.values import Value
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from groups.wire.errors import WireError

MEMBER_ID_REQUIRED: Final = 79
"""The response to the first join of a member: it has the id with which the member joins again."""

LEAVES, LEAVES_FOR_NOW = -1, -2
"""Epochs of a heartbeat by which a member leaves, and by which a static one does until it is back."""

_JSON_LINE: Final = re.compile(r'^\s*\{"done_ms":')

Fields = Mapping[str, Value]


@dataclass(slots=True)
class RequestReader:
    """Requests of any number of brokers."""

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        if MARK not in line and not _JSON_LINE.match(line):
            return None
        logged = read_request(number, line)
        if logged is None or isinstance(logged, LineProblem):
            return PASSED_OVER if logged is None else [logged]
        if logged.api not in _EVENTS:
            return PASSED_OVER
        group = logged.request.get("groupId")
        if not 0 < logged.done_ms < MOST_MS:
            return [LineProblem(number, None, f"done_ms is {logged.done_ms!s:.30}, no time")]
        error = logged.response.get("errorCode")
        if not isinstance(group, str) or (
            error and (logged.api, error) != ("JOIN_GROUP", MEMBER_ID_REQUIRED)
        ):
            return PASSED_OVER
        try:
            return [
                LogEvent(group, logged.done_ms, logged.client or "a client", what, fields)
                for what, fields in _events(logged)
            ]
        except (WireError, LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"a field of the request is not as Kafka writes it: {error!s:.80}"
            return [LineProblem(number, None, reason)]

    def end(self) -> Iterable[Found]:
        return ()


Event = tuple[str, dict[str, str]]

MEMBER_FIELDS: Final = ("groupInstanceId", "instanceId", "rackId", "sessionTimeoutMs", "rebalanceTimeoutMs")
"""What requests contain of a member, next to what it subscribes to; null or -1 where a heartbeat repeats nothing."""


def _events(logged: LoggedRequest) -> Iterator[Event]:
    stated = {name: logged.request.get(name) for name in MEMBER_FIELDS}
    facts = {name: str(value) for name, value in stated.items() if value not in (None, -1)}
    if logged.host:
        facts["clientHost"] = f"/{logged.host}"
    for what, fields in _EVENTS[logged.api](logged.request, logged.response):
        yield what, (facts | fields if what in ("joined_generation", "joined_modern") else fields)


def _join(request: Fields, response: Fields) -> Iterator[Event]:
    if not request["memberId"]:
        yield "given_id", {"member": str(response["memberId"])}
    if response.get("errorCode"):
        return
    protocols = {each["name"]: each["metadata"] for each in request["protocols"]}
    if (metadata := protocols.get(response["protocolName"])) is not None and request.get(
        "protocolType"
    ) == "consumer":
        yield "subscribed", {"topics": ", ".join(decode_subscription(base64.b64decode(metadata))["topics"])}
    if request.get("reason"):
        yield "reason", {"reason": str(request["reason"])}
    yield (
        "joined_generation",
        {
            "generation": str(response["generationId"]),
            "member": str(response["memberId"]),
            "protocol": str(response["protocolName"] or ""),
            "leader": str(response["leader"]),
        },
    )


def _sync(request: Fields, _response: Fields) -> Iterator[Event]:
    generation, member = str(request["generationId"]), str(request["memberId"])
    protocol = str(request.get("protocolName") or "")
    if request["assignments"] and request.get("protocolType", "consumer") == "consumer":
        given = ", ".join(
            f"{each['memberId']}=Assignment(partitions=[{_partitions(each['assignment'])}])"
            for each in request["assignments"]
        )
        yield (
            "finished",
            {"generation": generation, "assignments": given, "protocol": protocol, "leader": member},
        )
    yield "synced", {"generation": generation, "member": member, "protocol": protocol}


def _leave(request: Fields, _response: Fields) -> Iterator[Event]:
    for member in request.get("members") or [{"memberId": request.get("memberId")}]:
        if member["memberId"]:
            yield "left", {"member": str(member["memberId"])}


def _heartbeat(request: Fields, response: Fields) -> Iterator[Event]:
    member, epoch = str(request["memberId"] or response["memberId"]), int(request["memberEpoch"])
    if epoch == LEAVES:
        yield "left_modern", {"member": member}
    if epoch == LEAVES_FOR_NOW:
        yield "reason", {"reason": "leaves for now (static member)"}
    if epoch < 0:
        return
    if request.get("subscribedTopicNames"):
        yield "subscribed", {"topics": ", ".join(request["subscribedTopicNames"])}
    reached = str(response["memberEpoch"])
    if epoch == 0:
        yield "joined_modern", {"member": member}
        yield "bumped", {"epoch": reached}
    if request.get("topicPartitions") is not None:
        yield "state", {"member": member, "epoch": reached}
        names = [
            f"{topic['topicId']}(id)[{index}]"
            for topic in request["topicPartitions"]
            for index in topic["partitions"]
        ]
        yield "acknowledged", {"assignment": ", ".join(names)}


def _partitions(assignment: str) -> str:
    topics = decode_assignment(base64.b64decode(assignment))["assignedPartitions"] if assignment else []
    return ", ".join(f"{topic['topic']}-{index}" for topic in topics for index in topic["partitions"])


_EVENTS: Final[Mapping[str, Callable[[Fields, Fields], Iterator[Event]]]] = {
    "JOIN_GROUP": _join,
    "SYNC_GROUP": _sync,
    "LEAVE_GROUP": _leave,
    "CONSUMER_GROUP_HEARTBEAT": _heartbeat,
}

REQUEST_LOG: Final = TextFormat(
    name="request logs",
    recognised=re.compile(r'Completed request:\s?\{|(?m:^[ \t]*\{"done_ms":)'),
    reader=lambda _written_ms: RequestReader(),
    carries="who joined, synced, confirmed and left, and what leaders assigned",
    lacks="sessions that expired, commits, targets, whether a member waits for partitions that another one has, and the names of topics that heartbeats have by id",
)
