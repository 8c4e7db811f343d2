"""Classic groups driven at random without a network: requests, timers, commits of records and fail-overs, as entries.

What comes out is what a run of a simulated world would log of its coordinator, so that a checker can be shown it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from groups.history.entries import Entry, Kind, Provenance
from groups.history.state.group import Semantics
from simulations.protocol.coordinator.classic.parking import FollowUp
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import TimerCancel
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    SyncGroup,
)

NAMES: Final = "ABCDE"
OFFERS: Final = (("range",), ("range", "sticky"), ("sticky", "range"))
APPENDS_WAIT: Final = 0.3
"""How often records are not committed before the next request is handled."""


class Drive:
    """One group; ``entries`` is its log so far."""

    def __init__(self, seed: int) -> None:
        self._drawn = random.Random(f"classic {seed}")
        self._settings = Settings(
            initial_rebalance_delay_ms=self._drawn.choice((0, 1_000, 3_000)),
            classic_max_size=self._drawn.choice((3, 100)),
        )
        self.shard = self._new_shard()
        self.now_ms = 1_000
        self.entries: list[Entry] = []
        self._timers: dict[tuple[str, str | None], tuple[int, int | None]] = {}
        self._committed: list[Record] = []
        self._waiting: list[tuple[FollowUp, int]] = []
        self.ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self._instances = {name: f"i-{name}" for name in NAMES if self._drawn.random() < 0.4}

    def play(self, steps: int = 120) -> list[Entry]:
        acts = (self.join, self.join, self.sync, self.sync, self.beat, self.leave, self.forget, self.wait)
        for _ in range(steps):
            self._drawn.choice(acts)(self._drawn.choice(NAMES))
            if self._waiting and self._drawn.random() > APPENDS_WAIT:
                self._append()
            if self._drawn.random() < 0.01:
                self.fail_over()
        return self.entries

    def join(self, name: str) -> None:
        request = JoinGroup(
            group_id="g",
            session_timeout_ms=self._drawn.choice((6_000, 45_000)),
            rebalance_timeout_ms=self._drawn.choice((5_000, 20_000)),
            member_id=self.ids.get(name, ""),
            instance_id=self._instances.get(name),
            protocols=tuple((offer, b"") for offer in self._drawn.choice(OFFERS)),
            client_id=name,
        )
        cause = self._asks(name, "JoinGroup", request.body())
        drawn = f"{len(self.entries)}"
        self._take(self.shard.join(request, self.now_ms, ticket=cause, drawn_id=drawn), cause)

    def sync(self, name: str) -> None:
        group = self.shard.memory.classic
        member_id = self.ids.get(name, "")
        leads = group is not None and group.leader == member_id
        given = () if not leads or group is None else group.members
        request = SyncGroup(
            group_id="g",
            generation=self.generations.get(name, 0),
            member_id=member_id,
            instance_id=self._instances.get(name),
            protocol_type="consumer",
            protocol_name=(group.protocol_name if group is not None else None) or "range",
            assignments=tuple((each, f"{each} {self.now_ms}".encode()) for each in given),
        )
        cause = self._asks(name, "SyncGroup", request.body())
        self._take(self.shard.sync(request, self.now_ms, ticket=cause), cause)

    def beat(self, name: str) -> None:
        request = ClassicHeartbeat(
            group_id="g",
            generation=self.generations.get(name, 0) - (self._drawn.random() < 0.1),
            member_id=self.ids.get(name, ""),
            instance_id=self._instances.get(name),
        )
        cause = self._asks(name, "Heartbeat", request.body())
        outcome = self.shard.classic_heartbeat(request, self.now_ms)
        self._take(outcome, cause)
        self._answers("Heartbeat", name, outcome.answer.body(), cause)

    def leave(self, name: str) -> None:
        if self._drawn.random() < 0.6 or name not in self.ids:
            return
        request = LeaveGroup(group_id="g", members=(LeavingMember(member_id=self.ids[name]),))
        cause = self._asks(name, "LeaveGroup", request.body())
        outcome = self.shard.leave_group(request, self.now_ms)
        self._take(outcome, cause)
        self._answers("LeaveGroup", name, outcome.answer.body(), cause)

    def forget(self, name: str) -> None:
        if self._drawn.random() < 0.3:
            self.ids.pop(name, None)

    def wait(self, _name: str) -> None:
        until_ms = self.now_ms + self._drawn.choice((10, 500, 3_000, 8_000))
        while due := min(
            ((deadline, key) for key, (deadline, _) in self._timers.items() if deadline <= until_ms),
            key=lambda each: (each[0], each[1][0], each[1][1] or ""),
            default=None,
        ):
            self.now_ms = max(self.now_ms, due[0])
            _, bound = self._timers.pop(due[1])
            told = {"timer": due[1][0], "member": due[1][1], "event": "fired", "deadline_ms": due[0]}
            cause = self._write(Kind.TIMER, "coordinator", told)
            self._take(self.shard.expired(*due[1], bound, self.now_ms), cause)
        self.now_ms = until_ms

    def fail_over(self) -> None:
        self._write(Kind.FAULT, "coordinator", {"fault": "fail_over", "member": None})
        self.shard, self._timers, self._waiting = self._new_shard(), {}, []
        self.shard.load(self._committed)
        self._take(self.shard.loaded(self.now_ms), None)

    def _new_shard(self) -> Shard:
        return Shard("g", Semantics.KAFKA, self._settings, Image(topics={}))

    def _take(self, outcome: Outcome[Any], cause: int | None) -> None:
        for command in outcome.timers:
            key = command.timer, command.member_id
            self._timers.pop(key, None)
            if not isinstance(command, TimerCancel):
                self._timers[key] = self.now_ms + command.length_ms, command.bound_epoch
        for parked in outcome.parked_answers:
            body = parked.answer.body()
            sent = self.entries[parked.ticket - 1]
            name = sent.actor.partition("~")[0]
            if sent.payload["api"] == "JoinGroup" and body["errorCode"] in (0, 79) and body["memberId"]:
                self.ids[name] = body["memberId"]
                self.generations[name] = max(body["generationId"], 0)
            self._answers(sent.payload["api"], name, body, parked.ticket)
        for record in outcome.records:
            self._committed.append(record)
            self._write(Kind.RECORD, "coordinator", record, cause=cause)
        if outcome.follow_up is not None:
            self._waiting.append((outcome.follow_up, cause or 0))

    def _append(self) -> None:
        waiting, self._waiting = self._waiting, []
        for follow_up, cause in waiting:
            self._take(self.shard.appended(follow_up, self.now_ms), cause)

    def _asks(self, name: str, api: str, body: Mapping[str, Any]) -> int:
        self.now_ms += self._drawn.choice((1, 5, 50))
        return self._write(Kind.REQUEST, name, {"api": api, "version": 9, "body": dict(body)})

    def _answers(self, api: str, name: str, body: Mapping[str, Any], cause: int) -> None:
        told = {"api": api, "version": 9, "to": name, "body": dict(body)}
        self._write(Kind.RESPONSE, "coordinator", told, cause=cause)

    def _write(self, kind: Kind, actor: str, payload: Mapping[str, Any], cause: int | None = None) -> int:
        sequence = len(self.entries) + 1
        self.entries.append(
            Entry(
                sequence=sequence,
                at_ms=self.now_ms,
                kind=kind,
                actor=actor,
                provenance=Provenance.SIMULATED,
                payload=payload,
                cause=cause,
            )
        )
        return sequence
