"""A run: the script happens, requests travel, the coordinator answers, and everything stands in one log.

The same scenario, semantics and seed give the same entries, byte for byte: time is the queue's, chance is the
seed's, and nothing is walked in an order that the interpreter draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.state import Semantics, initial_state
from simulations.assignors.java_orders import offsets_partition
from simulations.coordinator.image import Image
from simulations.coordinator.messages import (
    COMMIT_API,
    HEARTBEAT_API,
    JOIN_EPOCH,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)
from simulations.coordinator.outcome import (
    ASSIGNMENT,
    REBALANCE,
    SESSION,
    Outcome,
    TimerStart,
)
from simulations.coordinator.shard import Shard
from simulations.engine.acting import Acting
from simulations.engine.beginning import by_id, first_image, start_records, topics_note
from simulations.engine.log import COORDINATOR, Log
from simulations.engine.narration import Narration, Seen
from simulations.engine.process import Process
from simulations.engine.queue import EventQueue, Priority
from simulations.engine.timers import Timers
from simulations.scenario import ENTRIES_MAX, Event, Scenario

OFFSETS_PARTITIONS: Final = 50
"""``offsets.topic.num.partitions`` at its default: where the group's records would lie."""


class RunTooLong(Exception):
    """The run made more entries than a timeline may have."""


class Simulation:
    """One run; ``entries`` may be walked once."""

    def __init__(self, scenario: Scenario, semantics: Semantics, seed: int) -> None:
        self.scenario = scenario
        self.semantics = semantics
        self.queue = EventQueue(scenario.start_ms)
        self.log = Log(
            initial_state(scenario.group, semantics), offsets_partition(scenario.group, OFFSETS_PARTITIONS)
        )
        self.timers = Timers(self.queue, self.log, self._expired)
        image = first_image(scenario.topics, seed)
        self.shard = Shard(scenario.group, semantics, scenario.settings, image)
        self.narration = Narration(scenario.steps, self.log)
        self.acting = Acting(self)
        self._delays = Random(f"network of {seed}")
        self._arrivals: dict[tuple[str, bool], int] = {}

    def entries(self) -> Iterator[Entry]:
        self._begin()
        yield from self._taken()
        until_ms = self.scenario.start_ms + self.scenario.until_ms
        while (happen := self.queue.next_until(until_ms)) is not None:
            happen()
            yield from self._taken()
            if self.log.last >= ENTRIES_MAX:
                raise RunTooLong(
                    f"the run stopped at {ENTRIES_MAX} entries, {self.queue.now_ms} ms in; "
                    "shorten until, or let fewer members heartbeat less often"
                )

    def _taken(self) -> list[Entry]:
        fresh, self.log.fresh = self.log.fresh, []
        return fresh

    # The script.

    def _begin(self) -> None:
        scenario, now_ms = self.scenario, self.queue.now_ms
        note = topics_note(self.shard.image, tuple(scenario.topics))
        self.log.write(Kind.NOTE, COORDINATOR, now_ms, note)
        for action in scenario.script:
            self.queue.plan(
                scenario.start_ms + action.at_ms, Priority.SCRIPT, partial(self.acting.act, action)
            )
        if scenario.start is None:
            return
        records = start_records(scenario, scenario.start, self.shard.image, self.semantics)
        self.shard.load(records)
        last = self.log.write_unit(records, now_ms)
        interval_ms, session_ms = (
            scenario.settings.heartbeat_interval_ms,
            scenario.settings.session_timeout_ms,
        )
        for number, member in enumerate(scenario.start.members, start=1):
            start = TimerStart(timer=SESSION, member_id=member.name, length_ms=session_ms)
            self.timers.apply(start, last)
            first_ms = member.heartbeat_ms
            if first_ms is None:
                first_ms = interval_ms * number // (len(scenario.start.members) + 1)
            process = self.acting.new_process(member.name)
            adopted = process.consumer.adopt(
                epoch=member.epoch,
                owned=by_id(self.shard.image, member.owned),
                names=scenario.members[member.name].subscribe,
                interval_ms=interval_ms,
                first_beat_ms=now_ms + first_ms,
            )
            process.act(adopted, None)
        self.narration.begin()

    # The network.

    def send(self, process: Process, request: Heartbeat | OffsetCommit, cause: int | None) -> None:
        def arrive() -> None:
            if isinstance(request, Heartbeat):
                self._heartbeat(process, request, cause)
            else:
                self._commit(process, request, cause)

        self.queue.plan(self._travelled(process, to_coordinator=True), Priority.ARRIVAL, arrive)

    def _travelled(self, process: Process, *, to_coordinator: bool) -> int:
        """When a message arrives that is sent now; messages of one connection do not overtake each other."""
        key = (process.member_id, to_coordinator)
        arrival_ms = self.queue.now_ms + self._delays.randint(*self.scenario.network.delay_ms)
        self._arrivals[key] = max(arrival_ms, self._arrivals.get(key, 0))
        return self._arrivals[key]

    # The coordinator.

    def _heartbeat(self, process: Process, request: Heartbeat, cause: int | None) -> None:
        outcome = self.shard.heartbeat(request, self.queue.now_ms)
        steady = _is_steady(request, outcome)
        payload = {"api": HEARTBEAT_API, "version": request.version, "body": request.body()}
        if steady:
            payload["steady"] = True
        now_ms, member_id = self.queue.now_ms, request.member_id
        entry = self.log.write(Kind.REQUEST, member_id, now_ms, payload, cause=cause)
        if steady:
            for command in outcome.timers:
                assert isinstance(command, TimerStart)
                self.timers.restart_quietly(command)
        else:
            self._apply(outcome, entry)
            body = {"api": HEARTBEAT_API, "version": request.version, "to": member_id}
            entry = self.log.write(
                Kind.RESPONSE, COORDINATOR, now_ms, {**body, "body": outcome.answer.body()}, cause=entry
            )
        told: list[Seen] = [
            (Event.LEAVES if request.member_epoch < JOIN_EPOCH else Event.HEARTBEAT, member_id)
        ]
        # Both semantics start this timer when they first ask for partitions; only one of them writes a record.
        if any(isinstance(command, TimerStart) and command.timer == REBALANCE for command in outcome.timers):
            told.append((Event.REVOKES, member_id))
        self.settled(*told)
        self.queue.plan(
            self._travelled(process, to_coordinator=False),
            Priority.ARRIVAL,
            lambda: process.answered(request, outcome.answer, entry),
        )

    def _commit(self, process: Process, request: OffsetCommit, cause: int | None) -> None:
        outcome = self.shard.commit(request, self.queue.now_ms)
        now_ms = self.queue.now_ms
        payload = {"api": COMMIT_API, "version": request.version, "body": request.body()}
        entry = self.log.write(Kind.REQUEST, request.member_id, now_ms, payload, cause=cause)
        self._apply(outcome, entry)
        body = {"api": COMMIT_API, "version": request.version, "to": request.member_id}
        self.log.write(
            Kind.RESPONSE, COORDINATOR, now_ms, {**body, "body": outcome.answer.body()}, cause=entry
        )
        self.settled(*([(Event.COMMITS, request.member_id)] if outcome.records else []))

    def _expired(self, timer: str, member_id: str | None, bound_epoch: int | None, fired: int) -> None:
        self._apply(self.shard.expired(timer, member_id, bound_epoch, self.queue.now_ms), fired)
        self.settled()

    def _apply(self, outcome: Outcome[object], cause: int) -> None:
        """Writes the records, which changes the state, and runs the timer commands."""
        last = cause
        if outcome.records:
            last = self.log.write_unit(outcome.records, self.queue.now_ms, cause=cause)
        for command in outcome.timers:
            if command.timer == ASSIGNMENT and self.timers.runs(ASSIGNMENT, None):
                # The computation that is under way takes what it finds when it is done.
                continue
            # The target is computed because of the new epoch; sessions run because of the request.
            self.timers.apply(command, last if command.timer == ASSIGNMENT else cause)

    def change_image(self, image: Image, names: tuple[str, ...], cause: int) -> None:
        self._apply(self.shard.image_changed(image, names, self.queue.now_ms), cause)

    def settled(self, *told: Seen) -> None:
        self.narration.settled(self.queue.now_ms, told)

    def by_name(self, partitions: Partitions) -> dict[str, list[int]]:
        return {
            self.shard.image.by_id[topic_id].name: list(numbers) for topic_id, numbers in partitions.items()
        }


def _is_steady(request: Heartbeat, outcome: Outcome[HeartbeatAnswer]) -> bool:
    """Nothing reported, nothing written, nothing answered but the same epoch."""
    answer = outcome.answer
    return (
        request.bare
        and not outcome.records
        and not answer.error_code
        and answer.member_epoch == request.member_epoch
        and answer.assigned is None
        and _only_session(outcome.timers)
    )


def _only_session(commands: Sequence[object]) -> bool:
    return all(isinstance(command, TimerStart) and command.timer == SESSION for command in commands)
