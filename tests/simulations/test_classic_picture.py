"""The picture of a classic group and the coordinator, driven at random side by side: they agree, and every tampering is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from simulations.invariants.classic_operations import OperationChecks
from simulations.invariants.classic_parts import ClassicLimits
from simulations.invariants.violations import Violation, Violations
from simulations.protocol.coordinator.classic.join_requests import GivenId
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.timers import TimerCancel
from simulations.protocol.messages.classic_requests import JoinGroup, SyncGroup
from tests.simulations.classic_drive import OFFERS, Drive
from tests.simulations.invariants_reference import OPERATIONS

SEEDS = range(60)


class Timed(Drive):
    """A drive with the timers that start, of clients of several releases; every record is committed at once."""

    @property
    def limits(self) -> ClassicLimits:
        return ClassicLimits(
            initial_delay_ms=self._settings.initial_rebalance_delay_ms,
            least_session_ms=self._settings.classic_min_session_timeout_ms,
            most_session_ms=self._settings.classic_max_session_timeout_ms,
            most_members=self._settings.classic_max_size,
        )

    def join(self, name: str) -> None:
        version = self._drawn.choice((1, 4, 7, 9, 9, 9))
        request = JoinGroup(
            group_id="g",
            session_timeout_ms=self._drawn.choice((5_999, 6_000, 45_000, 1_800_000, 1_800_001)),
            rebalance_timeout_ms=self._drawn.choice((5_000, 20_000)),
            member_id=self.ids.get(name, ""),
            instance_id=self._instances.get(name) if version >= 5 else None,
            protocol_type=self._drawn.choice(("consumer", "consumer", "consumer", "connect", "")),
            protocols=tuple((offer, b"") for offer in self._drawn.choice((*OFFERS, *OFFERS, ()))),
            client_id=name,
            version=version,
        )
        cause = self._asks(name, "JoinGroup", request.body(), version)
        drawn = GivenId(self.entries[cause - 1].actor)
        self._take(self.shard.join(request, self.now_ms, ticket=cause, drawn_id=drawn), cause)

    def sync(self, name: str) -> None:
        group = self.shard.memory.classic
        member_id = self.ids.get(name, "")
        leads = group is not None and group.leader == member_id
        given = () if not leads or group is None else list(group.members)[self._drawn.choice((0, 0, 1)) :]
        version = self._drawn.choice((3, 5))
        request = SyncGroup(
            group_id="g",
            generation=self.generations.get(name, 0),
            member_id=member_id,
            instance_id=self._instances.get(name),
            protocol_type=self._drawn.choice(("consumer", "consumer", "connect", None)),
            protocol_name=self._drawn.choice((group.protocol_name if group is not None else None, "range")),
            assignments=tuple((each, f"{each} {self.now_ms}".encode()) for each in given),
            version=version,
        )
        cause = self._asks(name, "SyncGroup", request.body(), version)
        self._take(self.shard.sync(request, self.now_ms, ticket=cause), cause)

    def fail_over(self) -> None:
        cause = self._write(Kind.FAULT, "coordinator", {"fault": "fail_over", "member": None})
        self.shard, self._timers, self._waiting = self._new_shard(), {}, []
        self.shard.load(self._committed)
        self._take(self.shard.loaded(self.now_ms), cause)

    def _asks(self, name: str, api: str, body: Any, version: int = 9) -> int:
        """Who has no id yet goes by the one that it will be given."""
        cause = super()._asks(name, api, body)
        asked = self.entries[cause - 1]
        actor = body.get("memberId") or f"{name}~{cause}"
        self.entries[cause - 1] = replace(asked, actor=actor, payload={**asked.payload, "version": version})
        return cause

    def _take(self, outcome: Outcome[Any], cause: int | None) -> None:
        for command in outcome.timers:
            if not isinstance(command, TimerCancel):
                told = {"timer": command.timer, "member": command.member_id, "event": "started"}
                told |= {"deadline_ms": self.now_ms + command.length_ms}
                self._write(Kind.TIMER, "coordinator", told, cause=cause)
        super()._take(outcome, cause)
        self._append()


def told(limits: ClassicLimits, entries: Iterable[Entry]) -> list[Violation]:
    violations = Violations()
    checks = OperationChecks(violations, limits, settles_at_once=True)
    for entry in entries:
        checks.see(entry)
    checks.end()
    return violations.take()


def test_the_picture_and_the_coordinator_agree_however_both_are_driven() -> None:
    codes: Counter[tuple[str, int]] = Counter()
    for seed in SEEDS:
        drive = Timed(seed)
        entries = drive.play()
        assert told(drive.limits, entries) == [], seed
        codes.update(
            (entry.payload["api"], entry.payload["body"]["errorCode"])
            for entry in entries
            if entry.kind is Kind.RESPONSE and "errorCode" in entry.payload["body"]
        )
    joins = {code for api, code in codes if api == "JoinGroup"}
    assert joins == {-1, 0, 23, 25, 26, 79, 81, 82}, "every refusal was met"
    assert {code for api, code in codes if api == "SyncGroup"} == {0, 22, 23, 25, 27, 82}
    assert {code for api, code in codes if api == "Heartbeat"} >= {0, 22, 25, 27}


def tampered(entry: Entry, random: Random) -> Iterator[Entry | None]:
    """The entry otherwise, as no coordinator would have it; ``None``: it is not there."""
    payload = entry.payload
    if entry.kind is Kind.RESPONSE and payload["api"] in ("JoinGroup", "SyncGroup"):
        yield None
        body = payload["body"]
        code = random.choice([code for code in (0, 22, 23, 25, 27, 82) if code != body["errorCode"]])
        if code or payload["api"] == "JoinGroup":
            yield replace(entry, payload={**payload, "body": {**body, "errorCode": code}})
        if not body["errorCode"] and payload["api"] == "JoinGroup":
            for changed in ({"generationId": body["generationId"] + 1}, {"leader": "nobody"}):
                yield replace(entry, payload={**payload, "body": {**body, **changed}})
        elif not body["errorCode"]:
            yield replace(entry, payload={**payload, "body": {**body, "assignment": "AAAA"}})
    elif entry.kind is Kind.RESPONSE and payload["api"] == "Heartbeat":
        code = 25 if payload["body"]["errorCode"] != 25 else 0
        yield replace(entry, payload={**payload, "body": {**payload["body"], "errorCode": code}})
    elif entry.kind is Kind.TIMER and payload["event"] == "started":
        yield None
        yield replace(entry, payload={**payload, "deadline_ms": payload["deadline_ms"] + 1})
    elif entry.kind is Kind.RECORD and payload["value"] is not None:
        yield None
        value = payload["value"]
        yield replace(entry, payload={**payload, "value": {**value, "generation": value["generation"] + 1}})
        yield replace(entry, payload={**payload, "value": {**value, "leader": "nobody"}})


@pytest.mark.parametrize("seed", range(3))
def test_each_entry_that_is_another_or_is_missing_is_told(seed: int) -> None:
    drive, random = Timed(seed), Random(seed)
    entries = drive.play()
    silent = []
    for at in random.sample(range(len(entries)), 120):
        for other in tampered(entries[at], random):
            log = [*entries[:at], *([] if other is None else [other]), *entries[at + 1 :]]
            found = {violation.invariant for violation in told(drive.limits, log)}
            assert found <= OPERATIONS
            if not found:
                silent.append((entries[at].kind, entries[at].payload, other and other.payload))
    assert silent == []


def test_a_coordinator_that_has_loaded_a_group_starts_the_session_of_each_member() -> None:
    """It is asked where the next operation ends; some drives end, or fail over again, before there is one."""
    missed = set()
    for seed in SEEDS:
        drive = Timed(seed)
        entries = drive.play()
        for at, entry in enumerate(entries):
            if entry.kind is Kind.TIMER and entry.cause and entries[entry.cause - 1].kind is Kind.FAULT:
                violations = told(drive.limits, [*entries[:at], *entries[at + 1 :]])
                missed |= {each.sentence.partition(" of ")[0] for each in violations}
                break
    assert missed == {"The timer session"}
