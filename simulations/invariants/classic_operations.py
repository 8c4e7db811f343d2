"""Holds each operation of a classic group's coordinator to what the rules say it brings about (``classic_picture``).

An operation is a request, a timer that ran out, or a load, with the answers, records and timers behind it. It is looked
at when the next one begins. Where records wait for replicas the entries stand in another order than that in which
requests were handled, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.payloads.classic_bodies import LeaveGroupBody, LeavingMemberBody
from groups.history.payloads.records import GroupMetadataValue
from simulations.invariants.classic_parts import SERVER_ERROR, ClassicLimits, Effects, ExpectedAnswer
from simulations.invariants.classic_picture import ClassicPicture
from simulations.invariants.payloads import AnyAnswer
from simulations.invariants.violations import Violations

ANSWERED: Final = "answered_by_the_rules"
WAITS_END: Final = "waits_end"
TIMERS: Final = "classic_timers"
WRITTEN: Final = "written_when_due"


TURNED_AWAY: Final = (14, 15, 16, 30)
"""Answers of a broker that is not the coordinator, or not yet."""

OF_THE_BROKER: Final = (3, 29, 100)
"""Errors of a partition that a commit is answered before anybody asks the group."""

OF_THE_PARTITION: Final = (12, *OF_THE_BROKER)
"""Errors of a commit that are about a partition, whichever member commits."""

DELETES: Final = ("delete_group", "expire_offsets")
"""Notes of what nobody asks for and ends a group. Other notes may stand within an operation: a step of a narration does."""

GROUP_RECORD: Final = 2
OFFSET_RECORDS: Final = (0, 1)


@dataclass(slots=True)
class _Operation:
    """What followed the entry that began it: answers with the request of each, records of the group, timers that started."""

    entry: Entry
    answers: list[tuple[int, Entry]] = field(default_factory=list)
    records: list[Entry] = field(default_factory=list)
    timers: list[Entry] = field(default_factory=list)

    @property
    def codes(self) -> set[int]:
        """Those that its request is answered."""
        asked = self.entry.sequence
        return {
            code
            for request, answer in self.answers
            if request == asked
            for code in _codes(answer.payload["body"])
        }

    @property
    def asks_the_group(self) -> bool:
        """A broker refuses by itself a commit of nothing but what it does not know or what the client may not read."""
        is_commit = self.entry.kind is Kind.REQUEST and self.entry.payload["api"] == "OffsetCommit"
        return not is_commit or not self.codes <= set(OF_THE_BROKER)


class OperationChecks:
    """``see`` every entry of a run, in order; ``steady`` those heartbeats that change nothing."""

    def __init__(self, violations: Violations, limits: ClassicLimits, *, settles_at_once: bool) -> None:
        self._violations = violations
        self._picture = ClassicPicture(limits)
        self._settles_at_once = settles_at_once
        self._knows = settles_at_once
        """Whether the picture is the group's: not of one that was there before the log, nor while nothing is committed."""
        self._operation: _Operation | None = None
        self._asked: dict[int, Entry] = {}
        self._last: GroupMetadataValue | None = None
        self._offsets: set[tuple[str, int]] = set()
        self._loading: tuple[int, int, Effects] | None = None
        """The fail-over's entry, when the log is read, and what that has to start."""
        self._has_begun = False

    def see(self, entry: Entry) -> None:
        """One entry more."""
        if not self._settles_at_once:
            return
        match entry.kind:
            case Kind.REQUEST:
                self._has_begun = True
                self._ended()
                self._asked[entry.sequence] = entry
                self._operation = _Operation(entry)
            case Kind.TIMER if entry.payload["event"] == "fired":
                self._ended()
                self._operation = _Operation(entry)
            case Kind.TIMER if entry.payload["event"] == "started":
                self._started(entry)
            case Kind.RESPONSE if self._operation is not None:
                request = int(entry.payload.get("request", entry.cause) or 0)
                self._operation.answers.append((request, entry))
            case Kind.RECORD:
                self._recorded(entry)
            case Kind.FAULT if entry.payload["fault"] == "fail_over" or stalls(entry):
                self._ended()
                self._disturbed(entry)
            case Kind.NOTE if entry.payload["note"] in DELETES:
                self._ended()

    def steady(self, entry: Entry) -> None:
        """A heartbeat that is accepted and changes nothing."""
        if self._settles_at_once:
            self._ended()
            self._operation = _Operation(entry)
            self._ended()

    def end(self) -> None:
        """Nothing follows any more."""
        self._ended()

    def _started(self, entry: Entry) -> None:
        if self._loading is not None and entry.cause == self._loading[0]:
            effects = self._loading[2]
            self._is_timed(entry, effects.timers.pop(_key(entry), None))
        elif self._operation is not None:
            self._operation.timers.append(entry)

    def _recorded(self, entry: Entry) -> None:
        kind, value = entry.payload["type"], entry.payload["value"]
        if kind in OFFSET_RECORDS:
            key = entry.payload["key"]["topic"], entry.payload["key"]["partition"]
            (self._offsets.discard if value is None else self._offsets.add)(key)
        if kind != GROUP_RECORD:
            return
        self._last = value
        if not self._has_begun:
            # A coordinator from before the log began knows more of its members than their records contain.
            self._knows = False
        if self._operation is not None:
            self._operation.records.append(entry)
        elif value is None:
            self._picture.gone()

    def _disturbed(self, entry: Entry) -> None:
        if entry.payload["fault"] == "fail_over":
            self._knows = True
            effects = self._picture.loads(self._last)
            self._loading = entry.sequence, entry.at_ms + entry.payload.get("loading_ms", 0), effects
        else:
            self._knows = False

    def _ended(self) -> None:
        operation, self._operation = self._operation, None
        if operation is None:
            return
        if self._is_turned_away(operation):
            return
        if not self._knows:
            return
        if operation.asks_the_group:
            self._is_loaded(operation.entry)
        effects = self._expected(operation)
        if effects is None:
            return
        self._answers(operation, effects)
        self._records(operation, effects)
        # One that starts twice runs as it was started last.
        for entry in {_key(entry): entry for entry in operation.timers}.values():
            self._is_timed(entry, effects.timers.pop(_key(entry), None))
        self._are_timed(operation.entry, effects)

    def _is_turned_away(self, operation: _Operation) -> bool:
        """Whether the coordinator has not looked at the request; a heartbeat is answered without an error meanwhile."""
        entry = operation.entry
        if entry.kind is not Kind.REQUEST:
            return False
        if not operation.codes.isdisjoint(TURNED_AWAY):
            return True
        is_loading = self._loading is not None and entry.at_ms <= self._loading[1]
        return is_loading and entry.payload["api"] == "Heartbeat" and not entry.payload.get("steady")

    def _is_loaded(self, entry: Entry) -> None:
        if self._loading is not None:
            effects, self._loading = self._loading[2], None
            self._are_timed(entry, effects)

    def _expected(self, operation: _Operation) -> Effects | None:
        picture, entry = self._picture, operation.entry
        payload = entry.payload
        if entry.kind is Kind.TIMER:
            return picture.expires(payload["timer"], payload["member"])
        body, version = payload["body"], payload["version"]
        match payload["api"]:
            case "JoinGroup":
                writes = bool(operation.records)
                return picture.joins(entry.sequence, entry.actor, version, body, writes=writes)
            case "SyncGroup":
                fails = self._picture.may_fail and any(
                    request == entry.sequence and answer.payload["body"]["errorCode"] == SERVER_ERROR
                    for request, answer in operation.answers
                )
                return picture.syncs(entry.sequence, version, body, fails=fails)
            case "Heartbeat":
                return self._without_session(picture.beats(body), steady=bool(payload.get("steady")))
            case "LeaveGroup":
                return picture.leave(_leaving(body))
            case "OffsetCommit":
                return picture.commits(body, any_known=operation.asks_the_group)
        return None

    @staticmethod
    def _without_session(effects: Effects, *, steady: bool) -> Effects:
        """The entry of a steady heartbeat alone means that the session restarts."""
        if steady:
            effects.timers.clear()
        return effects

    def _answers(self, operation: _Operation, effects: Effects) -> None:
        for request, answer in operation.answers:
            if request == operation.entry.sequence and request not in effects.answers:
                self._own(operation.entry, answer, effects)
                continue
            expected = effects.answers.pop(request, None)
            asked = self._asked.get(request)
            if asked is None:
                continue
            what = f"{answer.payload['api']} of {asked.actor}"
            if expected is None:
                self._add(WAITS_END, f"A {what} is answered while it has to wait", operation.entry, answer)
            elif wrong := _difference(expected, answer.payload["body"]):
                self._add(ANSWERED, f"A {what} is answered {wrong}", asked, answer)
        for request in effects.answers:
            asked = self._asked.get(request)
            if asked is not None:
                text = f"A {asked.payload['api']} of {asked.actor} waits on, and has to be answered by now"
                self._add(WAITS_END, text, asked, operation.entry)

    def _own(self, entry: Entry, answer: Entry, effects: Effects) -> None:
        """Of a request that never waits for others."""
        api, body = entry.payload["api"], answer.payload["body"]
        if api in ("JoinGroup", "SyncGroup"):
            text = f"A {api} of {entry.actor} is answered while it has to wait"
            self._add(WAITS_END, text, entry, answer)
        elif api == "LeaveGroup":
            codes = tuple(each["errorCode"] for each in body.get("members") or (body,))
            if codes != effects.refusals:
                self._add(ANSWERED, _refused(entry, codes, effects.refusals), entry, answer)
        elif effects.refusal is not None:
            codes = tuple({code for code in _codes(body) if code not in OF_THE_PARTITION})
            if self._picture.may_fail and codes == (SERVER_ERROR,):
                # No batch holds it.
                return
            if codes and codes != (effects.refusal,):
                self._add(ANSWERED, _refused(entry, codes, (effects.refusal,)), entry, answer)

    def _records(self, operation: _Operation, effects: Effects) -> None:
        wrote = [record for record in operation.records if record.payload["value"] is not None]
        for record, due in zip(wrote, effects.written, strict=False):
            value = record.payload["value"]
            expected = (
                value["generation"],
                value["leader"],
                tuple(member["memberId"] for member in value["members"]),
            )
            if expected != due:
                text = f"A record has generation {expected[0]}, leader {expected[1]} and members {list(expected[2])}, not "
                text += f"{due[0]}, {due[1]} and {list(due[2])}"
                self._add(WRITTEN, text, operation.entry, record)
        for record in wrote[len(effects.written) :]:
            self._add(WRITTEN, "A record of the group is written for no reason", operation.entry, record)
        if len(wrote) < len(effects.written):
            generation = effects.written[len(wrote)][0]
            text = f"No record has generation {generation}, which needs one"
            self._add(WRITTEN, text, operation.entry, operation.entry)

    def _is_timed(self, entry: Entry, length_ms: int | None) -> None:
        timer, who = _key(entry)
        name = timer if who is None else f"{timer} of {who}"
        lasts_ms = entry.payload["deadline_ms"] - entry.at_ms
        if length_ms is None:
            self._add(TIMERS, f"The timer {name} starts, and has no reason to", entry, entry)
        elif lasts_ms != length_ms:
            self._add(TIMERS, f"The timer {name} runs for {lasts_ms} ms, not {length_ms} ms", entry, entry)

    def _are_timed(self, entry: Entry, effects: Effects) -> None:
        for timer, who in effects.timers:
            name = timer if who is None else f"{timer} of {who}"
            self._add(TIMERS, f"The timer {name} does not start", entry, entry)

    def _add(self, invariant: str, text: str, first: Entry, last: Entry) -> None:
        who = () if first.kind is not Kind.REQUEST else (first.actor,)
        self._violations.add(invariant, text, (first.sequence, last.sequence), who)


def stalls(entry: Entry) -> bool:
    """Whether a fault cuts the coordinator off its replicas: nothing is committed, and takes effect in another order."""
    payload = entry.payload
    return payload["fault"] == "cut" and payload.get("member") is None and "peer" not in payload


def _key(entry: Entry) -> tuple[str, str | None]:
    return entry.payload["timer"], entry.payload["member"]


def _leaving(body: LeaveGroupBody) -> list[LeavingMemberBody]:
    """Members that leave: below version 3 the member is in the request itself."""
    return body.get("members") or [
        {"memberId": body.get("memberId", ""), "groupInstanceId": None, "reason": None}
    ]


def _codes(body: AnyAnswer) -> list[int]:
    if "errorCode" in body:
        return [body["errorCode"]]
    return [each["errorCode"] for topic in body.get("topics") or () for each in topic["partitions"]]


def _difference(expected: ExpectedAnswer, body: Mapping[str, object]) -> str:
    """What is answered instead of what, in words; empty where all is as it is to be."""
    for key, due in expected.items():
        got = body.get(key)
        if key == "members":
            got = [each["memberId"] for each in got] if isinstance(got, list) else []
        if got != due:
            return f"{key} {got!r}, not {due!r}"
    return ""


def _refused(entry: Entry, codes: tuple[int, ...], due: tuple[int, ...]) -> str:
    return f"A {entry.payload['api']} of {entry.actor} is answered {list(codes)}, not {list(due)}"
