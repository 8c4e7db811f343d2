"""The coordinator's timers: by name and member, written to the log when they start, stop and run out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groups.history.entries import Kind
from simulations.coordinator.outcome import TimerCancel, TimerCommand, TimerStart
from simulations.engine.log import COORDINATOR, Log
from simulations.engine.queue import EventQueue, Priority

Key = tuple[str, str | None]


@dataclass(slots=True)
class _Running:
    deadline_ms: int
    bound_epoch: int | None
    started: int


class Timers:
    """``expired(timer, member, bound epoch, sequence of the fired entry)`` is called when one runs out.

    A restarted timer moves its deadline and leaves the event where it was planned; the event looks again when it
    comes. So a heartbeat costs no new event.
    """

    def __init__(
        self, queue: EventQueue, log: Log, expired: Callable[[str, str | None, int | None, int], None]
    ) -> None:
        self._queue = queue
        self._log = log
        self._expired = expired
        self._running: dict[Key, _Running] = {}

    def apply(self, command: TimerCommand, cause: int | None) -> None:
        """Starts or cancels, with an entry; cancelling what does not run is nothing."""
        key = (command.timer, command.member_id)
        if isinstance(command, TimerCancel):
            running = self._running.pop(key, None)
            if running is not None:
                self._entry(key, "cancelled", running.deadline_ms, cause)
            return
        self._start(key, command, self._entry(key, "started", self._deadline(command), cause))

    def restart_quietly(self, command: TimerStart) -> None:
        """For steady heartbeats, whose own entry tells that the session starts anew."""
        self._start((command.timer, command.member_id), command, self._log.last)

    def runs(self, timer: str, member_id: str | None) -> bool:
        return (timer, member_id) in self._running

    def _deadline(self, command: TimerStart) -> int:
        return self._queue.now_ms + command.length_ms

    def _start(self, key: Key, command: TimerStart, started: int) -> None:
        deadline_ms = self._deadline(command)
        running = self._running.get(key)
        if running is not None and running.deadline_ms <= deadline_ms:
            running.deadline_ms, running.bound_epoch, running.started = (
                deadline_ms,
                command.bound_epoch,
                started,
            )
            return
        running = _Running(deadline_ms=deadline_ms, bound_epoch=command.bound_epoch, started=started)
        self._running[key] = running
        self._plan(key, running)

    def _plan(self, key: Key, running: _Running) -> None:
        self._queue.plan(running.deadline_ms, Priority.TIMER, lambda: self._look(key, running))

    def _look(self, key: Key, running: _Running) -> None:
        if self._running.get(key) is not running:
            return
        if running.deadline_ms > self._queue.now_ms:
            self._plan(key, running)
            return
        del self._running[key]
        fired = self._entry(key, "fired", running.deadline_ms, running.started)
        timer, member_id = key
        self._expired(timer, member_id, running.bound_epoch, fired)

    def _entry(self, key: Key, event: str, deadline_ms: int, cause: int | None) -> int:
        timer, member_id = key
        payload = {"timer": timer, "member": member_id, "event": event, "deadline_ms": deadline_ms}
        return self._log.write(Kind.TIMER, COORDINATOR, self._queue.now_ms, payload, cause=cause)
