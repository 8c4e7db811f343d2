"""The offsets partition's log at its leader: what was appended waits for its replicas, and answers wait for that.

Kafka: ``CoordinatorRuntime`` with its batches and its deferred events. Operations take effect in the order in which
they were handled: one without records waits for everything that was written before it. Without any delay an
operation takes effect at once, as a batch of its own, like on an idle broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.world.engine.queue import EventQueue, Priority


@dataclass(slots=True, eq=False)
class AppendedBatch:
    """Operations' records that are appended and replicated together."""

    records: int = 0
    appended: bool = False
    committed: bool = False


TakesEffect = Callable[[AppendedBatch | None], None]
"""Called with the batch that holds the operation's records, when all that was written so far is committed."""


@dataclass(slots=True, eq=False)
class Waiting:
    """An operation that was handled and has not taken effect. ``survives`` writes its records, and nothing else."""

    records: Sequence[Record]
    takes_effect: TakesEffect
    survives: Callable[[AppendedBatch | None], None]
    batch: AppendedBatch | None


class PartitionLog:
    """One leader's end of the log; a new leader gets a new one."""

    def __init__(self, queue: EventQueue, *, replication_ms: int = 0, linger_ms: int = -1) -> None:
        self._queue = queue
        self._replication_ms = replication_ms
        self._linger_ms = linger_ms
        self._waiting: deque[Waiting] = deque()
        self._open: AppendedBatch | None = None
        self._unreplicated: deque[AppendedBatch] = deque()
        self._stalled = False
        self._closed = False

    @property
    def idle(self) -> bool:
        """Whether nothing waits, so that an operation without records takes effect at once."""
        return not self._waiting

    def add(
        self,
        records: Sequence[Record],
        takes_effect: TakesEffect,
        survives: Callable[[AppendedBatch | None], None],
    ) -> None:
        """An operation was handled."""
        if not records:
            if not self._waiting:
                takes_effect(None)
            else:
                self._waiting.append(Waiting((), takes_effect, survives, None))
            return
        at_once = self._replication_ms == 0 and self._linger_ms <= 0 and not self._stalled
        if at_once and not self._waiting:
            takes_effect(AppendedBatch(len(records), appended=True, committed=True))
            return
        batch = self._open
        if batch is None:
            batch = self._open = AppendedBatch()
            self._plan_flush(batch)
        batch.records += len(records)
        self._waiting.append(Waiting(records, takes_effect, survives, batch))
        if self._linger_ms == 0:
            self._flush(batch)

    def stall(self) -> None:
        """The replicas are out of reach: nothing is committed any more."""
        self._stalled = True

    def go_on(self) -> None:
        """The replicas are back, and fetch what they have missed."""
        if self._stalled:
            self._stalled = False
            for batch in self._unreplicated:
                self._plan_replicated(batch)

    def close(self, lost: int | None) -> list[tuple[AppendedBatch, list[Waiting]]]:
        """The leader is gone. The batches that are lost, with their operations; those that remain are survived.

        The last ``lost`` batches of those that were appended are lost (``None``: all of them), and always one that
        was still open.
        """
        self._closed = True
        appended = list(self._unreplicated)
        kept = [] if lost is None else appended[: max(0, len(appended) - lost)]
        gone: dict[int, tuple[AppendedBatch, list[Waiting]]] = {}
        silent: list[Waiting] = []
        for each in self._waiting:
            if each.batch is None:
                silent.append(each)  # It is of use to those that come after it.
            elif each.batch.committed or each.batch in kept:
                for before in silent:
                    before.survives(None)
                silent.clear()
                each.survives(each.batch)
            else:
                gone.setdefault(id(each.batch), (each.batch, []))[1].append(each)
        self._waiting.clear()
        return list(gone.values())

    def _plan_flush(self, batch: AppendedBatch) -> None:
        if self._linger_ms < 0:
            # Behind whatever waits at this moment: operations that wait together share a batch.
            self._queue.plan(self._queue.now_ms, Priority.FLUSH, lambda: self._flush(batch))
        elif self._linger_ms > 0:
            at_ms = self._queue.now_ms + self._linger_ms
            self._queue.plan(at_ms, Priority.SCRIPT, lambda: self._flush(batch))

    def _flush(self, batch: AppendedBatch) -> None:
        if self._closed or batch is not self._open:
            return
        self._open = None
        batch.appended = True
        self._unreplicated.append(batch)
        if not self._stalled:
            self._plan_replicated(batch)

    def _plan_replicated(self, batch: AppendedBatch) -> None:
        at_ms = self._queue.now_ms + self._replication_ms
        self._queue.plan(at_ms, Priority.ARRIVAL, lambda: self._replicated(batch))

    def _replicated(self, batch: AppendedBatch) -> None:
        """The replicas have the oldest batch that they had not; batches are replicated in order."""
        if self._closed or self._stalled or not self._unreplicated or self._unreplicated[0] is not batch:
            return
        self._unreplicated.popleft().committed = True
        while self._waiting and not self._closed:
            first = self._waiting[0]
            if first.batch is not None and not first.batch.committed:
                return
            self._waiting.popleft()
            first.takes_effect(first.batch)
