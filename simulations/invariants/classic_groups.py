"""Checks the coordinator of a classic group by what it is asked, answers and writes: G.3, as far as it is its affair.

Like the other checkers it reads entries alone and keeps a picture of its own. What members do with their partitions is
the affair of their client; here only what the coordinator sends them is checked.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Final, Self

from groups.history.entries import Entry, Kind
from groups.history.payloads.classic_bodies import JoinAnswerBody, SyncAnswerBody
from groups.history.payloads.records import GroupMetadataValue
from simulations.invariants.violations import Violation, Violations

GENERATIONS: Final = "generations_grow"
ONE_LEADER: Final = "one_leader"
BARRIER: Final = "joined_together"
ASSIGNED: Final = "assigned_by_the_leader"
WRITTEN: Final = "assignment_is_written"
ANSWERED_ONCE: Final = "answered_once"
PRESENT: Final = "heartbeat_of_the_generation"

CLASSIC_GROUP_INVARIANTS: Final = frozenset(
    (GENERATIONS, ONE_LEADER, BARRIER, ASSIGNED, WRITTEN, ANSWERED_ONCE, PRESENT)
)

EMPTY_MOST: Final = 3
"""Generations of an empty group that may be behind an answer: their records wait for replicas, the answer does not."""


@dataclass(slots=True)
class _Generation:
    """What members of a generation were sent. ``joined`` have been answered, ``listed`` is the list that the leader got."""

    leader: str = ""
    protocol: tuple[str | None, str | None] = (None, None)
    joined: set[str] = field(default_factory=set)
    listed: dict[str, bool] = field(default_factory=dict)
    assigned: dict[str, str] | None = None


class ClassicGroupChecker:
    """``see`` each entry of a run of a classic group, in order, from its first on; it gives what the entry broke."""

    def __init__(self, *, settle_ms: int = 0) -> None:
        self._settle_ms = settle_ms
        """How long records wait for their replicas."""
        self._unsure = False
        """Whether the group may have been deleted and begun again while records of its last life were still to come."""
        self._violations = Violations()
        self._asked: dict[int, Entry] = {}
        self._joins: dict[str, list[int]] = {}
        self._answered: set[int] = set()
        self._number = 0
        self._emptied: set[int] = set()
        """Generations that no member was sent, so that a record has to show that the group was empty."""
        self._loaded_ms = self._joined_at = 0
        """When the coordinator has loaded; the entry that first contained the present generation."""
        self._current = _Generation()
        self._written: tuple[int, list[dict[str, str]]] = 0, []

    def see(self, entry: Entry) -> list[Violation]:
        payload = entry.payload
        match entry.kind:
            case Kind.REQUEST:
                self._asked[entry.sequence] = entry
                if payload["api"] == "JoinGroup" and payload["body"]["memberId"]:
                    self._joins.setdefault(payload["body"]["memberId"], []).append(entry.sequence)
            case Kind.RESPONSE if (asked := payload.get("request", entry.cause)) in self._asked:
                self._response(entry, self._asked[asked])
            case Kind.RECORD if payload["type"] == 2:
                self._record(entry, payload["value"])
            case Kind.FAULT if payload["fault"] == "fail_over":
                # What was not written is lost, and its generation number may be used again.
                self._emptied.clear()
                self._loaded_ms = entry.at_ms + entry.payload.get("loading_ms", 0)
                self._number, self._current = (
                    self._written[0],
                    _Generation(assigned=(self._written[1] or [{}])[-1]),
                )
            case Kind.NOTE if payload["note"] in ("delete_group", "expire_offsets") and self._settle_ms:
                self._unsure = True
        found = self._violations.take()
        return [each for each in found if each.invariant == ANSWERED_ONCE] if self._unsure else found

    def copy(self) -> Self:
        """A copy of the checker, to go on along another way, with its own report."""
        other = copy(self)
        other._violations = Violations()
        other._asked, other._answered = dict(self._asked), set(self._answered)
        other._joins = {who: list(joins) for who, joins in self._joins.items()}
        other._emptied, current = set(self._emptied), self._current
        other._current = replace(current, joined=set(current.joined), listed=dict(current.listed))
        return other

    def remembered(self) -> Hashable:
        """What is kept of the past, but for entries: two that remember the same judge what comes alike."""
        current, (written, assigned) = self._current, self._written
        return (
            self._number,
            frozenset(self._emptied),
            (
                current.leader,
                current.protocol,
                frozenset(current.joined),
                tuple(sorted(current.listed.items())),
            ),
            current.assigned is not None,
            written,
            tuple(tuple(sorted(each.items())) for each in assigned),
        )

    def _response(self, entry: Entry, request: Entry) -> None:
        body, api = entry.payload["body"], entry.payload["api"]
        if request.sequence in self._answered:
            self._add(ANSWERED_ONCE, f"{api} of {request.actor} is answered again", entry, request)
        self._answered.add(request.sequence)
        if body.get("errorCode"):
            # What was refused has not taken the place of an earlier one.
            joins = self._joins.get(request.payload["body"].get("memberId") or "", [])
            if request.sequence in joins:
                joins.remove(request.sequence)
            return
        if api == "JoinGroup":
            self._joined(entry, request, body)
        elif api == "SyncGroup":
            self._synced(entry, request, body)
        elif api == "Heartbeat":
            generation, who = request.payload["body"]["generationId"], request.payload["body"]["memberId"]
            if generation != self._number and entry.at_ms >= self._loaded_ms:
                text = f"A heartbeat of {who} in generation {generation} is accepted; the group is at {self._number}"
                self._add(PRESENT, text, entry, request)

    def _joined(self, entry: Entry, request: Entry, body: JoinAnswerBody) -> None:
        who, number = body["memberId"], body["generationId"]
        if any(other > request.sequence for other in self._joins.get(who, ())):
            self._add(ANSWERED_ONCE, f"{who} has sent another JoinGroup since this one", entry, request)
        if number != self._number:
            passed = range(self._number + 1, number)
            if number < self._number or len(passed) > EMPTY_MOST:
                text = f"{who} receives generation {number}, after generation {self._number}"
                self._add(GENERATIONS, text, entry, request)
            self._emptied |= set(passed)
            self._joined_at = entry.sequence
            self._number, self._current = number, _Generation()
        current = self._current
        protocol = body["protocolType"], body["protocolName"]
        if current.joined and protocol != current.protocol:
            self._add(ONE_LEADER, f"{who} receives {protocol}, others {current.protocol}", entry, request)
        returned = bool(request.payload["body"].get("groupInstanceId")) and current.assigned is not None
        if current.leader and not returned and not self._is_one(body["leader"], current.leader):
            text = f"{who} receives {body['leader']} as leader, others {current.leader}"
            self._add(ONE_LEADER, text, entry, request)
        current.leader, current.protocol = body["leader"], protocol
        current.joined.add(who)
        if not body["members"]:
            return
        if body["leader"] != who:
            self._add(BARRIER, f"{who} receives the members and does not lead", entry, request)
        listed = {each["memberId"]: each["groupInstanceId"] is not None for each in body["members"]}
        if not returned:
            # A returning static leader gets the previous member list, which a new coordinator does not have.
            current.listed = listed
        if body["leader"] not in listed:
            self._add(ONE_LEADER, f"{body['leader']} leads and is no member", entry, request)

    def _is_one(self, leader: str, other: str) -> bool:
        """Whether both ids are of one static member: one that came back with an old JoinGroup got its previous id."""
        if leader == other:
            return True
        instances = {who: self._instance(who) for who in (leader, other)}
        return instances[leader] is not None and instances[leader] == instances[other]

    def _instance(self, who: str) -> str | None:
        for asked in reversed(self._asked.values()):
            if asked.actor == who and asked.payload["api"] == "JoinGroup":
                instance: str | None = asked.payload["body"].get("groupInstanceId")
                return instance
        return None

    def _synced(self, entry: Entry, request: Entry, body: SyncAnswerBody) -> None:
        who, number = request.payload["body"]["memberId"], request.payload["body"]["generationId"]
        if number != self._number:
            text = f"{who} is given an assignment of generation {number}; the group is at {self._number}"
            self._add(ASSIGNED, text, entry, request)
        written, assigned = self._written
        if written != number:
            text = f"{who} is given an assignment of generation {number}, which no record has"
            self._add(WRITTEN, text, entry, request)
        elif all(each.get(who, "") != body["assignment"] for each in assigned):
            self._add(ASSIGNED, f"{who} is not given what was assigned to it", entry, request)
        strange = [each for each, static in self._current.listed.items() if each not in self._current.joined]
        strange = [each for each in strange if not self._current.listed[each]]
        if strange and self._current.assigned is not None:
            text = f"{strange[0]} is a member of generation {number} and has not joined it"
            self._add(BARRIER, text, entry, request)

    def _record(self, entry: Entry, value: GroupMetadataValue | None) -> None:
        if value is None:
            self._written = 0, []
            if (entry.cause or entry.sequence) < self._joined_at:
                return  # The tombstone waited for its replicas, and the group has begun again meanwhile.
            self._number, self._current = 0, _Generation()
            self._emptied.clear()
            return
        number, members = value["generation"], value["members"]
        assignments = {each["memberId"]: each["assignment"] for each in members}
        if members and not self._asked:
            # The group was there when the log began: who is in it took part in its generation.
            self._number = number
            self._current = _Generation(
                leader=value["leader"] or "",
                protocol=(value["protocolType"], value["protocol"]),
                joined=set(assignments),
            )
        cause = self._asked.get(entry.cause) if entry.cause is not None else None
        asked = cause if cause is not None and cause.payload["api"] == "SyncGroup" else None
        if not members:
            self._emptied.discard(number)
        if late := [each for each in sorted(self._emptied) if each < number]:
            text = f"A record has generation {number}, and none has generation {late[0]}"
            self._violations.add(GENERATIONS, text, (entry.sequence,))
            self._emptied.difference_update(late)
        # The last one in the log is what a new coordinator begins with, also where answers are further by now.
        before = self._written[1] if self._written[0] == number else []
        self._written = (number, [*before, assignments])
        if not members and number < self._number:
            # Of the group's beginning, or of an earlier end: it waited for its replicas longer than answers do.
            return
        if not members:
            if number not in (0, self._number + 1):
                text = f"The empty group is at generation {number}, after generation {self._number}"
                self._violations.add(GENERATIONS, text, (entry.sequence,))
            self._current = _Generation()
        elif number > self._number or (asked is not None and asked.payload["body"]["generationId"] != number):
            text = f"A record has generation {number}, members have {self._number}"
            self._violations.add(GENERATIONS, text, (entry.sequence,))
        elif value["leader"] not in assignments:
            text = f"{value['leader']} leads generation {number} and is none of its members"
            self._violations.add(ONE_LEADER, text, (entry.sequence,))
        if asked is not None:
            self._leader_assigned(entry, asked, assignments)
        if number >= self._number:
            # Else the group is further: the record waited for its replicas while members joined again.
            self._number, self._current.assigned = number, dict(assignments)

    def _leader_assigned(self, entry: Entry, cause: Entry, assignments: Mapping[str, str]) -> None:
        """What is written is what the leader brought, and nothing for whom it left out."""
        body = cause.payload["body"]
        given = {each["memberId"]: each["assignment"] for each in body["assignments"]}
        if body["memberId"] != self._current.leader and body["generationId"] == self._number:
            self._add(ASSIGNED, f"{body['memberId']} assigns and does not lead", entry, cause)
        for who, assignment in assignments.items():
            if given.get(who, "") != assignment:
                self._add(ASSIGNED, f"What the leader assigned to {who} is not what is written", entry, cause)

    def _add(self, invariant: str, text: str, entry: Entry, request: Entry) -> None:
        self._violations.add(invariant, text, (request.sequence, entry.sequence), (request.actor,))
