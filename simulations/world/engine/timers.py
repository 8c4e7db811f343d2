"""The coordinator's timers: by name and member. What starts, stops and runs out is recorded with its operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groups.history.entries import Kind
from simulations.protocol.coordinator.timers import TimerCancel, TimerCommand, TimerStart
from simulations.world.engine.log import COORDINATOR, Log
from simulations.world.engine.queue import EventQueue, Priority

Key = tuple[str, str | None]


@dataclass(slots=True)
class Running:
    """A timer; ``started`` is the sequence of the entry with its start, 0 before there is one."""

    deadline_ms: int
    bound_epoch: int | None
    started: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that happened to a timer, for the log."""

    key: Key
    event: str
    deadline_ms: int
    timer: Running


Expired = Callable[[Notice], None]


class Timers:
    """``expired(notice)`` is called when one runs out.

    A restarted timer moves its deadline and leaves the event where it was planned; the event looks again when it
    comes. So a heartbeat costs no new event. A broker's timers run by a clock that does not jump.
    """

    def __init__(self, queue: EventQueue, log: Log, expired: Expired) -> None:
        self._queue = queue
        self._log = log
        self._expired = expired
        self._running: dict[Key, Running] = {}

    def apply(self, command: TimerCommand) -> Notice | None:
        """Starts or cancels; ``None`` where there was nothing to cancel."""
        key = (command.timer, command.member_id)
        if isinstance(command, TimerCancel):
            running = self._running.pop(key, None)
            return None if running is None else Notice(key, "cancelled", running.deadline_ms, running)
        running = self._start(key, command)
        return Notice(key, "started", running.deadline_ms, running)

    def restart_quietly(self, command: TimerStart, sequence: int) -> None:
        """For steady heartbeats, whose own entry records that the session restarts."""
        self._start((command.timer, command.member_id), command).started = sequence

    def runs(self, timer: str, member_id: str | None) -> bool:
        return (timer, member_id) in self._running

    def forget(self) -> None:
        """The coordinator is gone, and its timers with it."""
        self._running.clear()

    def record(self, notice: Notice, cause: int | None) -> int:
        """Writes the notice's entry; its sequence."""
        timer, member_id = notice.key
        payload = {
            "timer": timer,
            "member": member_id,
            "event": notice.event,
            "deadline_ms": notice.deadline_ms,
        }
        sequence = self._log.write(Kind.TIMER, COORDINATOR, self._queue.now_ms, payload, cause=cause)
        if notice.event == "started":
            notice.timer.started = sequence
        return sequence

    def _start(self, key: Key, command: TimerStart) -> Running:
        deadline_ms = self._queue.now_ms + command.length_ms
        running = self._running.get(key)
        if running is not None and running.deadline_ms <= deadline_ms:
            running.deadline_ms, running.bound_epoch = deadline_ms, command.bound_epoch
            return running
        running = Running(deadline_ms=deadline_ms, bound_epoch=command.bound_epoch)
        self._running[key] = running
        self._plan(key, running)
        return running

    def _plan(self, key: Key, running: Running) -> None:
        self._queue.plan(running.deadline_ms, Priority.TIMER, lambda: self._look(key, running))

    def _look(self, key: Key, running: Running) -> None:
        if self._running.get(key) is not running:
            return
        if running.deadline_ms > self._queue.now_ms:
            self._plan(key, running)
            return
        del self._running[key]
        self._expired(Notice(key, "fired", running.deadline_ms, running))
