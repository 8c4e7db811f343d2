"""Checks a run from outside: reads its entries alone, keeps a model of its own, and knows none of the simulator's.

The rules are those that every group of the consumer protocol has to keep after each settled unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from groups.history.entries import Entry, Kind
from simulations.checking import INVARIANT_FAULT

Partition = tuple[str, int]
STABLE, UNREVOKED, UNRELEASED = 0, 1, 2
UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH = 25, 110
FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID = 82, 111
COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR = 14, 16
UNKNOWN_SERVER_ERROR = -1
LEFT_FOR_NOW = -2


@dataclass
class Member:
    epoch: int = 0
    previous: int = -1
    state: int = STABLE
    instance: str | None = None
    names: frozenset[str] = frozenset()
    regex: str = ""
    assigned: dict[Partition, int | None] = field(default_factory=dict)
    pending: dict[Partition, int | None] = field(default_factory=dict)


def listed(topics: Iterable[Mapping[str, Any]]) -> dict[Partition, int | None]:
    result: dict[Partition, int | None] = {}
    for topic in topics:
        numbers = topic["partitions"]
        epochs = topic.get("assignmentEpochs") or [None] * len(numbers)
        for number, epoch in zip(numbers, epochs, strict=True):
            assert (topic["topicId"], number) not in result, "a partition stands twice in one record"
            result[topic["topicId"], number] = epoch
    return result


def _told(assignment: Mapping[str, Any]) -> set[Partition]:
    return {
        (topic["topicId"], number)
        for part in ("topicPartitions", "assignedTopicPartitions")
        for topic in assignment.get(part) or ()
        for number in topic["partitions"]
    }


class Checker:
    """``see`` each entry in order; it raises ``AssertionError`` on the first broken rule."""

    def __init__(self) -> None:
        self.group_epoch = self.target_epoch = 0
        self.members: dict[str, Member] = {}
        self.target: dict[str, set[Partition]] = {}
        self.topics: dict[str, dict[str, Any]] = {}
        self.names: dict[str, str] = {}
        self.matched: dict[str, frozenset[str]] = {}
        self.known: set[str] = set()
        """Expressions that were resolved when the target was computed."""
        self.sessions: set[str] = set()
        self.rebalances: set[str] = set()
        self.revoked: dict[str, set[Partition]] = {}
        self.owned: dict[str, set[Partition]] = {}
        self.told: dict[int, Mapping[str, Any]] = {}
        self.told_less: set[str] = set()
        self.metadata_is_current = True
        self.failed: set[str] = set()
        """Whose target tells an error of a client-side assignor, which may leave partitions to nobody."""
        self.static_gone: set[str] = set()
        self.last = 0
        self.offset = 0
        self._before: dict[str, Member] = {}

    def see(self, entry: Entry) -> None:
        assert entry.sequence == self.last + 1, "sequences are dense"
        assert entry.cause is None or entry.cause < entry.sequence, "a cause comes before what it causes"
        assert entry.payload.get("fault") != INVARIANT_FAULT, entry.payload["says"]
        self.last = entry.sequence
        match entry.kind:
            case Kind.RECORD:
                self._record(entry)
            case Kind.TIMER:
                self._timer(entry.payload)
            case Kind.CALLBACK:
                self._callback(entry)
            case Kind.NOTE if entry.payload["note"] == "topics":
                told = entry.payload["topics"]
                self.topics = {
                    name: topic for name, topic in {**self.topics, **told}.items() if topic is not None
                }
                self.names |= {topic["id"]: name for name, topic in self.topics.items()}
                self.metadata_is_current = not self.members
            case Kind.NOTE if entry.payload["note"] == "regexes":
                self.matched = {
                    regex: frozenset(topics)
                    for regex, topics in {**self.matched, **entry.payload["regexes"]}.items()
                    if topics is not None
                }
            case Kind.REQUEST:
                body = self.told[entry.sequence] = entry.payload["body"]
                # A member of the start has had its callbacks before the log begins; it says what it owns.
                self.owned.setdefault(entry.actor, set(listed(body.get("topicPartitions") or ())))
            case Kind.RESPONSE if entry.payload["body"].get("errorCode"):
                code = entry.payload["body"]["errorCode"]
                assert code in (
                    UNKNOWN_MEMBER_ID,
                    FENCED_MEMBER_EPOCH,
                    FENCED_INSTANCE_ID,
                    UNRELEASED_INSTANCE_ID,
                    COORDINATOR_LOAD_IN_PROGRESS,
                    NOT_COORDINATOR,
                    UNKNOWN_SERVER_ERROR,  # An assignor threw.
                ), "a sound client makes no other mistake"
            case Kind.RESPONSE if (answer := entry.payload["body"].get("assignment")) is not None:
                member, name = self.members.get(entry.payload["to"], Member()), entry.payload["to"]
                # The proposal keeps no record of it: only the answer tells a member to give something up.
                (self.told_less.add if member.assigned.keys() - _told(answer) else self.told_less.discard)(
                    name
                )
            case Kind.FAULT if entry.payload["fault"] == "kill":
                self.owned.pop(entry.actor, None)
            case Kind.FAULT if entry.payload["fault"] == "fail_over":
                self.sessions.clear()
                self.rebalances.clear()
                self.told_less.clear()
        loads = entry.payload.get("body", {}).get("errorCode") in (
            COORDINATOR_LOAD_IN_PROGRESS,
            NOT_COORDINATOR,
        )
        if (entry.kind is Kind.RESPONSE or entry.payload.get("steady")) and not loads:
            self._timers_run()

    def _record(self, entry: Entry) -> None:
        assert entry.offset == self.offset, "offsets are dense"
        self.offset += 1
        if entry.unit == entry.sequence:
            self._before = {name: Member(**vars(member)) for name, member in self.members.items()}
        key, value = entry.payload["key"], entry.payload["value"]
        name = key.get("memberId", "")
        match entry.payload["type"]:
            case 3:
                assert value["epoch"] == self.group_epoch + 1 or not self.group_epoch
                self.group_epoch = value["epoch"]
            case 5 if value is None:
                if self.members.pop(name).instance is not None:
                    # Its timers may go on, and find nobody, if another took its place.
                    self.static_gone.add(name)
                self.told_less.discard(name)
            case 5:
                member = self.members.setdefault(name, Member())
                member.names, member.instance = frozenset(value["subscribedTopicNames"]), value["instanceId"]
                member.regex = value.get("subscribedTopicRegex") or ""
            case 6:
                assert value["assignmentEpoch"] > self.target_epoch, "each target has a new epoch"
                self.target_epoch = value["assignmentEpoch"]
                self.metadata_is_current = True
                self.known = set(self.matched)
            case 7 if value is None:
                self.target.pop(name, None)
                self.failed.discard(name)
            case 7:
                (self.failed.add if value.get("error") else self.failed.discard)(name)
                self.target[name] = set(listed(value["topicPartitions"]))
            case 16 if value is None:
                self.matched.pop(key["regularExpression"], None)
            case 16:
                self.matched[key["regularExpression"]] = frozenset(value["topics"])
            case 8:
                member = self.members.setdefault(name, Member())
                if value is None:
                    member.assigned, member.pending = {}, {}
                else:
                    member.epoch, member.previous = value["memberEpoch"], value["previousMemberEpoch"]
                    member.state = value["state"]
                    member.assigned = listed(value["assignedPartitions"])
                    member.pending = listed(value["partitionsPendingRevocation"])
                    if member.epoch == LEFT_FOR_NOW:
                        self.told_less.discard(name)
        if entry.settled:
            self._rules(self.told.get(entry.cause or 0))

    def _rules(self, request: Mapping[str, Any] | None) -> None:
        assert self.group_epoch >= self.target_epoch
        holders: dict[Partition, str] = {}
        for name, member in self.members.items():
            for partition in (*member.assigned, *member.pending):
                assert holders.setdefault(partition, name) == name, f"two hold {partition}"
            assert not member.assigned.keys() & member.pending.keys()
            assert member.epoch <= self.target_epoch or not self.target
            left = member.epoch == LEFT_FOR_NOW
            assert left or member.previous <= member.epoch
            if left:
                assert member.instance is not None
                assert not member.pending
            elif member.state == UNREVOKED:
                assert member.pending
            else:
                assert not member.pending
            if member.state == UNRELEASED:
                assert member.epoch <= self.target_epoch
            old = self._before.get(name, Member())
            assert left or member.epoch >= old.epoch, "a member's epoch never goes back"
            gained = member.assigned.keys() - old.assigned.keys() - old.pending.keys()
            assert gained <= self.target.get(name, set()), "what is gained is of the target"
            given_up = (
                (old.assigned.keys() | old.pending.keys()) - member.pending.keys() - member.assigned.keys()
            )
            if given_up:
                assert request is not None
                owned = set(listed(request["topicPartitions"]))
                assert not given_up & owned, "given up is only what was acknowledged"
            for partition, epoch in member.assigned.items():
                if member.instance is not None and epoch == 0:
                    continue  # Kept over a leave for now.
                if partition in old.assigned:
                    assert epoch == old.assigned[partition], "a kept partition keeps its epoch"
                elif epoch is not None:
                    assert epoch == self.target_epoch
        if self.group_epoch == self.target_epoch:
            self._target_is_whole()

    def _target_is_whole(self) -> None:
        if any(member.regex not in ("", *self.known) for member in self.members.values()):
            return  # What an expression matches was not known when the target was computed.
        subscribed = {
            name: member.names | self.matched.get(member.regex, frozenset())
            for name, member in self.members.items()
        }
        names = {name for topics in subscribed.values() for name in topics if name in self.topics}
        ids = {self.topics[name]["id"]: name for name in names}
        given = [partition for owned in self.target.values() for partition in owned]
        assert len(given) == len(set(given)), "the target gives a partition once"
        for name, owned in self.target.items():
            assert {self.names[topic_id] for topic_id, _ in owned} <= subscribed[name]
        if self.metadata_is_current and not self.failed:
            assert set(given) == {
                (topic_id, number)
                for topic_id, name in ids.items()
                for number in range(self.topics[name]["partitions"])
            }
        for name, member in self.members.items():
            if member.state == STABLE and member.epoch == self.target_epoch:
                assert set(member.assigned) == self.target.get(name, set()), "stable is what is meant"

    def _timer(self, payload: Mapping[str, Any]) -> None:
        running = {"session": self.sessions, "rebalance": self.rebalances}.get(payload["timer"])
        if running is None:
            return
        if payload["event"] == "started":
            running.add(payload["member"])
        else:
            assert payload["member"] in running
            running.discard(payload["member"])

    def _timers_run(self) -> None:
        sessions, rebalances = (
            {each for each in running if each in self.members or each not in self.static_gone}
            for running in (self.sessions, self.rebalances)
        )
        assert sessions == set(self.members), "a session for each member and for nobody else"
        # Of who left for now it may run on, and do nothing.
        rebalances -= {n for n, m in self.members.items() if m.epoch == LEFT_FOR_NOW}
        recorded = {n for n, m in self.members.items() if m.state == UNREVOKED and m.epoch != LEFT_FOR_NOW}
        assert rebalances == recorded | (self.told_less & self.members.keys())

    def _callback(self, entry: Entry) -> None:
        named, ids = entry.payload["partitions"], {name: topic_id for topic_id, name in self.names.items()}
        partitions = {(ids[name], number) for name in named for number in named[name]}
        owned = self.owned.setdefault(entry.actor, set())
        revoked = self.revoked.setdefault(entry.actor, set())
        match entry.payload["callback"], entry.payload["phase"]:
            case "on_partitions_assigned", "start":
                assert not partitions & owned, "assigned is what was not owned"
                owned |= partitions
                revoked.clear()
            case "on_partitions_revoked", phase:
                assert partitions <= owned, "given up is what was owned"
                if phase == "end":
                    owned -= partitions
                    revoked |= partitions
            case "on_partitions_lost", phase:
                assert partitions <= owned | revoked, "lost is what was owned until the last assignment"
                if phase == "end":
                    owned.clear()

    def converged(self) -> None:
        """After the faults: everybody is at the group's epoch and has all that is meant for it."""
        if not self.members:
            return
        assert self.group_epoch == self.target_epoch
        for name, member in self.members.items():
            assert (member.state, member.epoch) == (STABLE, self.group_epoch)
            assert set(member.assigned) == self.target[name] == self.owned.get(name, set())


def check(entries: Iterable[Entry]) -> Checker:
    checker = Checker()
    for entry in entries:
        checker.see(entry)
    return checker
