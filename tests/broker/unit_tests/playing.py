"""What a recorded unit test of Kafka's did to its coordinator, done to the simulated one: every answer and record compared.

A test sets up a group by replaying records, or by methods of the group itself; of a group that was set up by methods nothing
can be played until a record of it is replayed whole, and the test is said to be played in part.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from unittest.mock import patch

from groups.history.state.group import Semantics
from groups.releases import Release
from groups.wire.records import decode_record
from simulations.proof.conformance import settings_of
from simulations.proof.conformance.classic_requests import ask_classic
from simulations.proof.conformance.comparing import aligned, differing, removed_in_order, same_record
from simulations.proof.conformance.configs import BROKER_SETTINGS, group_settings
from simulations.proof.conformance.recording import RecordedRequest
from simulations.proof.conformance.requests import (
    CLASSIC,
    COMMIT,
    DEAD,
    DELETE_OFFSETS,
    TRANSACTIONAL_COMMIT,
    ask,
)
from simulations.protocol.assignors import SERVER_ASSIGNORS, AssignorError, GroupAssignment, GroupSpec
from simulations.protocol.assignors.interface import Assignment
from simulations.protocol.coordinator.classic.group import Group, GroupState, Member, Parked
from simulations.protocol.coordinator.classic.parking import FollowUp, ParkedAnswer
from simulations.protocol.coordinator.consumer import targets
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record, Refresh, Resolution
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import MAX_INT, Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import JOIN, REBALANCE, SESSION, SYNC, TimerCommand, TimerStart
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.from_bodies import NO_ID
from simulations.protocol.messages.offsets import OffsetDelete

Event = Mapping[str, Any]
"""A line of the recording; ``Any``: each kind of event has its own fields."""

APIS: Final = {
    "consumerGroupHeartbeat": "CONSUMER_GROUP_HEARTBEAT",
    "classicGroupJoin": "JOIN_GROUP",
    "classicGroupSync": "SYNC_GROUP",
    "classicGroupHeartbeat": "HEARTBEAT",
    "classicGroupLeave": "LEAVE_GROUP",
    "commitOffset": "OFFSET_COMMIT",
    "commitTransactionalOffset": "TXN_OFFSET_COMMIT",
    "deleteOffsets": "OFFSET_DELETE",
}

COMMITS: Final = frozenset({COMMIT, TRANSACTIONAL_COMMIT})

TIMERS: Final = {
    "session-timeout": SESSION,
    "rebalance-timeout": REBALANCE,
    "heartbeat": SESSION,
    "join": JOIN,
    "sync": SYNC,
}
"""How the key of a timer begins (``GroupMetadataManager.groupSessionTimeoutKey`` and its like)."""

GROUP_TYPES: Final = range(9)
"""Records of offsets, classic and consumer groups, and 16; others are of share and streams groups."""

MANY: Final = 1000
"""Partitions of a topic of which a test says no more than its name."""

OFFSET_METADATA: Final = "offset.metadata.max.bytes"

BY_ID_VERSION: Final = 10
"""Of OffsetCommit: topics by id in place of their names."""

MEMBER: Final = 5
"""The record type of a member of a consumer group."""

PARKED_VERSION: Final = 9
"""Of requests that a test parks by itself."""

APPEND_ERRORS: Final = {
    3: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    6: ErrorCode.NOT_COORDINATOR,
    7: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    19: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    20: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    56: ErrorCode.NOT_COORDINATOR,
}
"""What clients are answered when records could not be written, by the error of the write (``appendGroupMetadataErrorToResponseError``)."""

UNPLAYED: Final = frozenset(
    {
        "streamsGroupHeartbeat",
        "shareGroupHeartbeat",
        "getOrMaybeCreatePersistedStreamsGroup",
        "getOrMaybeCreatePersistedShareGroup",
        "createGroupTombstoneRecordsAndCancelTimers",
    }
)


class NotPlayed(Exception):
    """The rest of a test is nothing that can be played; the message says why."""


@dataclass(slots=True)
class Played:
    """One test: how many events were compared, what differed, and why the rest was not played."""

    name: str
    compared: int = 0
    differences: list[str] = field(default_factory=list)
    unplayed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByRecording:
    """The assignor that a test prepares: it answers as it did there, in turn."""

    name: str
    player: _Player

    def assign(self, spec: GroupSpec, explain: object = None) -> GroupAssignment:
        if not self.player.assigned:
            raise AssignorError("it does not answer in the recording")
        answer = self.player.assigned.pop(0)
        if "thrown" in answer:
            raise AssignorError(answer["thrown"])
        return GroupAssignment(members={member: dict(owned) for member, owned in answer["members"].items()})


def each_test(lines: Iterable[str]) -> Iterator[tuple[str, list[Event]]]:
    """Each test that passed, with its events."""
    events: list[Event] = []
    for line in lines:
        event = json.loads(line)
        if event["what"] == "test":
            events = []
        elif event["what"] == "end":
            if event["status"] == "SUCCESSFUL":
                yield event["test"], events
        else:
            events.append(event)


def play(name: str, events: Sequence[Event], release: Release) -> Played:
    player = _Player(Played(name), events, release)
    try:
        for event in events:
            player.take(event)
            if player.played.differences:
                break
    except NotPlayed as reason:
        player.played.unplayed = str(reason)
    except AssertionError as error:
        player.played.unplayed = f"the test has its group in a state that no coordinator comes to: {error}"
    return player.played


def _image(fields: Event) -> Image:
    topics = {
        topic["name"]: ImageTopic(
            name=topic["name"],
            topic_id=topic["id"],
            partitions=len(topic["racks"]),
            racks=tuple(map(tuple, topic["racks"])),
        )
        for topic in fields["topics"]
    }
    return Image(topics=topics, version=fields["version"])


def _record(fields: Event) -> Record:
    value = fields["value"]
    record: Any = decode_record(b64decode(fields["key"]), None if value is None else b64decode(value))
    if (
        record["type"] == MEMBER
        and record["value"] is not None
        and "classicMemberMetadata" not in record["value"]
    ):
        # Bytes without the field mean an empty struct and not null, which only a test's classic member has.
        record["value"]["classicMemberMetadata"] = {"sessionTimeoutMs": 0, "supportedProtocols": []}
    known: Record = record
    return known


def _is_known(record: Record) -> bool:
    return record["type"] in GROUP_TYPES or record["type"] == 16


class _Player:
    """The shards of one test, by group."""

    def __init__(self, played: Played, events: Sequence[Event], release: Release) -> None:
        self.played = played
        self._release = release
        self._settings = Settings(release=release)
        self._image = Image(topics={})
        self._shards: dict[str, Shard] = {}
        self._committed: dict[str, Shard] = {}
        self._configs: dict[str, Mapping[str, str]] = {}
        self._running: dict[tuple[str, str, str | None], TimerStart] = {}
        self._follow_ups: dict[int, tuple[str, FollowUp]] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._own: dict[int, list[Record]] = {}
        self.assigned: list[Event] = []
        self._unnamed: set[str] = set()
        self._assignors: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[Event], None]] = {
            "manager": self._made,
            "offsets": self._made_for_offsets,
            "replay": self._replayed,
            "state": self._set_up,
            "getOrMaybeCreateClassicGroup": self._classic_group_made,
            "getOrMaybeCreatePersistedConsumerGroup": self._consumer_group_made,
            "getOrMaybeCreateConsumerGroup": self._consumer_group_made,
            "commit": self._committed_by_test,
            "rollback": self._rolled_back,
            "updateGroupConfig": self._group_configured,
            "onLoaded": self._loaded,
            "onUnloaded": self._unloaded,
            "onMetadataUpdate": self._image_changed,
            "handleRegularExpressionsResult": self._regexes_resolved,
            "fired": self._fired,
            "maybeDeleteGroup": self._group_deleted,
            "cleanupExpiredOffsets": self._offsets_expired,
            "consumerGroupDescribe": self._described,
            "appended": self._appended,
            "answered": self._answered,
        }
        self._tickets = {
            answered["ticket"]: answered
            for event in events
            for answered in (*event.get("answered", ()), *((event,) if event["what"] == "answered" else ()))
        }

    def take(self, event: Event) -> None:
        what = event["what"]
        if what in UNPLAYED:
            raise NotPlayed(f"{what} is not played")
        handler: Callable[[Event], None] | None = self._request if what in APIS else self._handlers.get(what)
        if handler is None:
            raise NotPlayed(f"{what} is not played")
        self.assigned = list(event.get("assigned", ()))
        with (
            patch.object(targets, "SERVER_ASSIGNORS", self._assignors),
            patch.object(targets, "_ordered", self._ordered),
        ):
            handler(event)

    def _ordered(
        self,
        assignor: str,
        spec: GroupSpec,
        member: str,
        answer: Assignment,
        known: int,
        *,
        homogeneous: bool,
    ) -> Mapping[str, Sequence[int]]:
        """A prepared target as it is: its order is the test's own, and it may have what the member did not subscribe to."""
        if isinstance(self._assignors.get(assignor), _ByRecording):
            return {topic: tuple(sorted(owned)) for topic, owned in answer.get(member, {}).items()}
        return _ORDERED(assignor, spec, member, answer, known, homogeneous=homogeneous)

    def _made(self, event: Event) -> None:
        known = {name: value for name, value in event["settings"].items() if name in BROKER_SETTINGS}
        known.pop("group.consumer.assignors", None)
        self._settings = replace(
            settings_of(known),
            assignors=tuple(each["name"] for each in event["assignors"]),
            release=self._release,
            # The broker refuses other session timeouts before its coordinator is asked.
            classic_min_session_timeout_ms=0,
            classic_max_session_timeout_ms=MAX_INT,
        )
        self._image = _image(event["image"])
        for each in event["assignors"]:
            name = each["name"]
            self._assignors[name] = _REAL.get(each["by"]) or _ByRecording(name=name, player=self)
        self._shards, self._committed, self._running = {}, {}, {}

    def _made_for_offsets(self, event: Event) -> None:
        """The manager of offsets has settings and an image of its own, which are a broker's all the same."""
        largest = event["settings"].get(OFFSET_METADATA)
        if largest is not None:
            self._settings = replace(self._settings, offset_metadata_max_bytes=int(largest))
        if event["image"]["topics"]:
            self._image = _image(event["image"])

    def _shard(self, group: str) -> Shard:
        if not self._assignors:
            raise NotPlayed("the test has no real manager of groups")
        if group not in self._shards:
            shard = Shard(group, Semantics.KAFKA, self._settings, self._image)
            shard.memory = replace(shard.memory, new_topics_version=self._image.version)
            self._shards[group] = shard
            self._configured(group)
        return self._shards[group]

    def _configured(self, group: str) -> None:
        if group in self._shards and group in self._configs:
            group_settings(self._shards[group], self._configs[group])

    def _replayed(self, event: Event) -> None:
        if "record" not in event:
            raise NotPlayed("the record is of a version that cannot be written")
        record = _record(event["record"])
        own = self._own.get(event["of"], [])
        if own:
            own.pop(0)
            return
        if not _is_known(record):
            raise NotPlayed(f"a record of type {record['type']} is not played")
        group = _group_of(record)
        if "producer" in event and event["producer"] >= 0:
            record = {**record, "producer": event["producer"]}
        try:
            self._shard(group).load([record])
        except IllegalState as error:
            if "error" not in event:
                self._differ(event, "replays", None, str(error))

    def _set_up(self, event: Event) -> None:
        """A group as a test made it by the group's own methods."""
        group = event["group"]
        running = {key: started for key, started in self._running.items() if key[0] == group}
        if "classic" in event:
            shard = self._shard(group)
            shard.adopt(_classic_group(event["classic"]))
        elif "records" in event:
            self._shards.pop(group, None)
            shard = self._shard(group)
            # In the order of Kafka's table, which has the last one of a slot first.
            members = [record for record in map(_record, event["records"]) if record["type"] == MEMBER]
            others = [record for record in map(_record, event["records"]) if record["type"] != MEMBER]
            shard.load((*reversed(members), *others))
            deadline, epoch = event["refresh"]
            shard.memory = replace(shard.memory, refresh=Refresh(deadline_ms=deadline, epoch=epoch))
        self._running |= running

    def _classic_group_made(self, event: Event) -> None:
        if event["flag"] and "error" not in event:
            shard = self._shard(event["group"])
            if shard.memory.classic is None and shard.describe_classic()["groupState"] == DEAD:
                shard.load([_empty_group(event["group"], event["now"])])

    def _consumer_group_made(self, event: Event) -> None:
        """A consumer group without a record, which the state that follows has."""

    def _committed_by_test(self, event: Event) -> None:
        self._committed = {group: shard.copy() for group, shard in self._shards.items()}

    def _rolled_back(self, event: Event) -> None:
        kept = {group: shard.copy() for group, shard in self._committed.items()}
        # Memory is not in Kafka's snapshots.
        for group, shard in kept.items():
            shard.memory = replace(self._shards[group].memory, classic=shard.memory.classic)
        self._shards = kept

    def _group_configured(self, event: Event) -> None:
        self._configs[event["group"]] = event["settings"]
        self._configured(event["group"])

    def _loaded(self, event: Event) -> None:
        for group in self._shards:
            self._follow(event, group, self._shard(group).loaded(event["now"]))

    def _unloaded(self, event: Event) -> None:
        for shard in self._shards.values():
            self._park(shard.unloaded())
        self._answered_in(event)

    def _image_changed(self, event: Event) -> None:
        self._image = _image(event["image"])
        for group in self._shards:
            self._shard(group).image_changed(self._image, tuple(event["names"]), event["now"])

    def _regexes_resolved(self, event: Event) -> None:
        shard = self._shard(event["group"])
        if event.get("failed"):
            shard.memory = replace(shard.memory, resolving=False)
            return
        resolution = Resolution(
            topics={regex: tuple(topics) for regex, topics in event["topics"].items()},
            version=event["version"],
            timestamp_ms=event["timestamp"],
        )
        self._follow(event, event["group"], shard.regexes_resolved(resolution, event["now"]))

    def _fired(self, event: Event) -> None:
        group, timer, member = self._timer(event["group"])
        shard = self._shard(group)
        started = self._running.pop((group, timer, member), None)
        if started is None:
            if event.get("records") or event.get("answered"):
                raise NotPlayed("the test itself runs a timer that was cancelled")
            self.played.compared += 1
            return
        outcome = shard.expired(timer, member, started.bound_epoch, event["now"])
        self._follow(event, group, outcome)

    def _timer(self, key: str) -> tuple[str, str, str | None]:
        for begin, timer in TIMERS.items():
            rest = key.removeprefix(f"{begin}-")
            for group in sorted(self._shards, key=len, reverse=True):
                if rest != key and (rest == group or rest.startswith(f"{group}-")):
                    return group, timer, rest[len(group) + 1 :] or None
        raise NotPlayed(f"the timer {key} is not played")

    def _group_deleted(self, event: Event) -> None:
        outcome = self._shard(event["group"]).delete_group(event["now"])
        if outcome.answer.error_code and not event.get("records"):
            return
        self._follow(event, event["group"], outcome)

    def _offsets_expired(self, event: Event) -> None:
        outcome = self._shard(event["group"]).expire_offsets(event["now"])
        # The group itself goes in an operation of its own in the recording.
        offsets = tuple(record for record in outcome.records if record["type"] == 1)
        self._follow(event, event["group"], replace(outcome, records=offsets))

    def _described(self, event: Event) -> None:
        for recorded in event.get("answers_now", ()):
            shard = self._committed.get(recorded["groupId"])
            if shard is None:
                shard = Shard(recorded["groupId"], Semantics.KAFKA, self._settings, self._image)
            self._same(event, "description", recorded, shard.describe())
            self.played.compared += 1

    def _request(self, event: Event) -> None:
        api, fields = APIS[event["what"]], event["request"]
        group = fields["groupId"]
        shard = self._shard(group)
        version = event.get("version", 9)
        if api == "SYNC_GROUP" and None in (fields.get("protocolType"), fields.get("protocolName")):
            # From the next version on the broker demands both before its coordinator is asked.
            version = min(version, 4)
        if api in CLASSIC:
            answer, outcome = ask_classic(
                shard,
                CLASSIC[api],
                fields,
                event["now"],
                version=version,
                ticket=event["event"],
                client=event["client"],
                host=event["host"],
                recorded=self._drawn(event),
            )
            self._follow(event, group, outcome)
            if answer is None and "error" in event:
                answer = self._answers.pop(event["event"], None)
        elif api == DELETE_OFFSETS:
            answer = self._delete_offsets(event, shard)
        else:
            recorded = event.get("answer") or {"memberId": self._drawn(event)["memberId"]}
            asked = RecordedRequest(
                group=group,
                api=api,
                version=version,
                client=event.get("client", ""),
                host=event.get("host", ""),
                request=fields,
                response=recorded,
                arrived_ms=event["now"],
                done_ms=event["now"],
                line=event["event"],
            )
            if api in COMMITS:
                asked = self._with_topics(shard, asked)
            answered = ask(shard, asked, event["now"])
            shard.image = self._image
            answer = dict(answered.answer or {})
            outcome = Outcome(
                answer=None,
                records=answered.records,
                timers=answered.timers,
                parked_answers=answered.parked_answers,
            )
            self._follow(event, group, outcome)
        self._compare_answer(event, answer)

    def _with_topics(self, shard: Shard, asked: RecordedRequest) -> RecordedRequest:
        """The commit by names, and a shard whose broker knows them: a coordinator is asked when its broker has found the topics."""
        by_id = asked.api == COMMIT and asked.version >= BY_ID_VERSION
        named = []
        for topic in asked.request["topics"]:
            topic_id = topic.get("topicId", NO_ID)
            if topic_id == NO_ID:
                self._unnamed.add(topic["name"])
                by_id = False
            if topic["name"] not in shard.image.topics:
                found = ImageTopic(name=topic["name"], topic_id=topic_id, partitions=MANY)
                shard.image = shard.image.with_topic(found)
            named.append(topic)
        left_out = "name" if by_id else "topicId"
        topics = [{name: value for name, value in topic.items() if name != left_out} for topic in named]
        version = asked.version if by_id else min(asked.version, BY_ID_VERSION - 1)
        return replace(asked, request={**asked.request, "topics": topics}, version=version)

    def _delete_offsets(self, event: Event, shard: Shard) -> dict[str, Any]:
        topics = {
            topic["name"]: tuple(each["partitionIndex"] for each in topic["partitions"])
            for topic in event["request"]["topics"]
        }
        outcome = shard.delete_offsets(OffsetDelete(group_id=shard.state.group, topics=topics), event["now"])
        self._follow(event, shard.state.group, outcome)
        answered: dict[str, list[dict[str, int]]] = {}
        for name, number, code in outcome.answer.error_codes:
            answered.setdefault(name, []).append({"partitionIndex": number, "errorCode": int(code)})
        return {
            "errorCode": int(outcome.answer.error_code),
            "topics": [{"name": name, "partitions": each} for name, each in answered.items()],
        }

    def _drawn(self, event: Event) -> dict[str, Any]:
        """The answer that has the id that the coordinator drew, wherever the recording has it."""
        if (drawn := event.get("drawn")) is not None:
            return {"memberId": drawn}
        answered = self._tickets.get(event["event"], {}).get("answer") or event.get("answer") or {}
        if answered.get("memberId"):
            return {"memberId": answered["memberId"]}
        records = map(_record, event.get("records", ()))
        made = [
            each["key"]["memberId"]
            for each in records
            if each["type"] == MEMBER and each["value"] is not None
        ]
        return {"memberId": made[-1] if made else ""}

    def _compare_answer(self, event: Event, answer: Mapping[str, Any] | None) -> None:
        if "error" in event:
            code = event["error"]["code"]
            # Who is unknown is written to each member of a LeaveGroup, of which there may be none.
            nobody = event["what"] == "classicGroupLeave" and not event["request"]["members"]
            if answer is None or (code not in _codes(answer) and not nobody):
                self._differ(event, "answer", event["error"], answer)
        elif "answer" in event and answer is not None:
            if APIS[event["what"]] in COMMITS:
                event, answer = {**event, "answer": _unnamed(event["answer"])}, _unnamed(answer)
            self._same(event, "answer", event["answer"], answer)
        elif "answer" in event:
            self._differ(event, "answer", event["answer"], None)

    def _appended(self, event: Event) -> None:
        group, follow_up = self._follow_ups.pop(event["of"], (None, None))
        if group is None or follow_up is None:
            return
        error = APPEND_ERRORS.get(event["code"], ErrorCode.UNKNOWN_SERVER_ERROR) if "code" in event else None
        outcome = self._shard(group).appended(follow_up, event["now"], error=error)
        self._follow(event, group, outcome)

    def _answered(self, event: Event) -> None:
        self._answer(event, event)

    def _answered_in(self, event: Event) -> None:
        for answered in event.get("answered", ()):
            self._answer(event, answered)

    def _answer(self, event: Event, answered: Event) -> None:
        simulated = self._answers.pop(answered["ticket"], None)
        if simulated is None:
            self._differ(
                event, f"answer to {answered['ticket']}", answered.get("answer", answered.get("code")), None
            )
        elif "answer" in answered:
            self._same(event, f"answer to {answered['ticket']}", answered["answer"], simulated)
        elif simulated["errorCode"] != answered["code"]:
            self._differ(event, f"answer to {answered['ticket']}", answered["code"], simulated)

    def _follow(self, event: Event, group: str, outcome: Outcome[Any]) -> None:
        """Compares the records, keeps timers and what follows, and compares the answers that came with it."""
        recorded = [_record(each) for each in event.get("records", ())]
        if (producer := event.get("request", {}).get("producerId")) is not None:
            recorded = [{**record, "producer": producer} for record in recorded]
        simulated = [self._as_named(each) for each in removed_in_order(outcome.records, recorded)]
        if len(recorded) != len(simulated) or not all(map(_same, recorded, simulated)):
            for one, other in aligned(recorded, simulated):
                if one is None or other is None or not _same(one, other):
                    self._differ(event, "record", one, other)
            return
        self._own[event["event"]] = list(simulated)
        self._timed(group, outcome.timers)
        if outcome.follow_up is not None:
            self._follow_ups[event["event"]] = group, outcome.follow_up
        self._park(outcome.parked_answers)
        self._answered_in(event)
        self.played.compared += 1

    def _as_named(self, record: Record) -> Record:
        """A commit's record without the topic's id where the test commits without one, which no broker does."""
        value = record.get("value")
        if record["type"] == 1 and value is not None and record["key"]["topic"] in self._unnamed:
            without: Any = {name: each for name, each in value.items() if name != "topicId"}
            return {**record, "value": without}
        return record

    def _park(self, parked: Iterable[ParkedAnswer]) -> None:
        for each in parked:
            self._answers[each.ticket] = dict(each.answer.body())

    def _timed(self, group: str, commands: Iterable[TimerCommand]) -> None:
        for command in commands:
            key = group, command.timer, command.member_id
            if isinstance(command, TimerStart):
                self._running[key] = command
            else:
                self._running.pop(key, None)

    def _same(
        self, event: Event, what: str, recorded: Mapping[str, Any], simulated: Mapping[str, Any]
    ) -> None:
        known = {name: value for name, value in recorded.items() if name in simulated}
        # Which of the two it is depends on the version, and is chosen as the answer is written.
        simulated = {
            name: value or known[name] if name == "protocolName" else value
            for name, value in simulated.items()
        }
        found = list(differing(_sorted_answer(known), _sorted_answer(simulated)))
        if found:
            self._differ(event, what, found, "")

    def _differ(self, event: Event, what: str, recorded: object, simulated: object) -> None:
        text = f"event {event['event']} ({event['what']}): {what}: {recorded} | {simulated}"
        self.played.differences.append(text)


class _NoOp:
    """Kafka's ``NoOpPartitionAssignor``: everybody keeps what was assigned."""

    name = "no-op"

    def assign(self, spec: GroupSpec, explain: object = None) -> GroupAssignment:
        return GroupAssignment(members={member: dict(known.owned) for member, known in spec.members.items()})


_ORDERED: Final = targets._ordered

_REAL: Final = {
    "UniformAssignor": SERVER_ASSIGNORS["uniform"],
    "RangeAssignor": SERVER_ASSIGNORS["range"],
    "NoOpPartitionAssignor": _NoOp(),
}


def _group_of(record: Record) -> str:
    key = record["key"]
    return str(key["group"] if "group" in key else key["groupId"])


def _codes(answer: object) -> set[int]:
    """All error codes of an answer: some have one for each member or partition."""
    if isinstance(answer, Mapping):
        own = {answer["errorCode"]} if "errorCode" in answer else set()
        return own.union(*map(_codes, answer.values()))
    if isinstance(answer, list):
        return set().union(*map(_codes, answer))
    return set()


def _empty_group(group: str, now_ms: int) -> Record:
    value: Any = {
        "protocolType": "",
        "generation": 0,
        "protocol": None,
        "leader": None,
        "currentStateTimestamp": now_ms,
        "members": [],
    }
    return {"type": 2, "key": {"group": group}, "version": 3, "value": value}


def _classic_group(fields: Event) -> Group:
    group = Group()
    for each in fields["members"]:
        waits = {
            name: Parked(ticket=each[name], version=PARKED_VERSION)
            for name in ("parked_join", "parked_sync")
            if name in each
        }
        protocols = tuple((name, b64decode(metadata)) for name, metadata in each["protocols"])
        given = {name: value for name, value in each.items() if name not in waits}
        given |= {"assignment": b64decode(each["assignment"]), "protocols": protocols, **waits}
        group = group.added(Member(**given))
    names = (
        "state_timestamp_ms",
        "generation",
        "protocol_type",
        "protocol_name",
        "leader",
        "new_member_added",
    )
    return replace(
        group,
        **{name: fields[name] for name in names},
        state=GroupState(fields["state"]),
        previous_state=GroupState(fields["previous_state"]),
        pending=frozenset(fields.get("pending", ())),
        pending_sync=frozenset(fields.get("pending_sync", ())),
        subscribed=frozenset(fields["subscribed"]) if "subscribed" in fields else None,
    )


def _same(recorded: Record, simulated: Record) -> bool:
    return same_record(_sorted(recorded), _sorted(simulated))


def _unnamed(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """A commit's answer without its topics' names and ids, of which a version has one."""
    return {**answer, "topics": [{"partitions": topic["partitions"]} for topic in answer["topics"]]}


def _sorted_answer(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    assignment = answer.get("assignment")
    if not isinstance(assignment, Mapping):
        return answer
    topics = sorted(assignment["topicPartitions"], key=lambda each: str(each["topicId"]))
    return {**answer, "assignment": {"topicPartitions": topics}}


def _sorted(record: Record) -> Record:
    """A target or an assignment with its topics in order: a prepared one has that of the test's own map."""
    value = record.get("value")
    if record["type"] not in (7, 8) or value is None:
        return record
    lists = ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation")
    ordered: Any = {
        name: sorted(value[name], key=lambda each: each["topicId"]) for name in lists if name in value
    }
    return {**record, "value": {**value, **ordered}}
