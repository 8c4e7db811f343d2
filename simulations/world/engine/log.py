"""The log of a run: gives each entry its sequence, records their offsets, folds every entry and has it checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Provenance, RecordPayload, written
from groups.history.replay.fold import replay
from groups.history.state.group import State
from simulations.invariants import INVARIANT_FAULT, RunChecker, Violation
from simulations.protocol.coordinator.transactions import InForce

COORDINATOR: Final = "coordinator"
"""The actor of what no member does."""

# An enum's member by its class's name costs ten times a global's look-up, and is asked some times a heartbeat.
_REQUEST: Final = Kind.REQUEST
_SIMULATED: Final = Provenance.SIMULATED

FOLDED: Final = (Kind.RECORD, Kind.NOTE)
"""What changes the durable part of the state. The rest is for boards: nothing here reads it, and it costs much."""


class Log:
    """Entries in order, and what the group's records and notes give. Entries stay in ``fresh`` until they are taken.

    What ``checker`` finds is written behind the entry that broke an invariant, as a fault.
    """

    def __init__(self, state: State, partition: int) -> None:
        self.state = state
        self.partition = partition
        self.fresh: list[Entry] = []
        self.last = FIRST_SEQUENCE - 1
        self.checker: RunChecker | None = None
        self.watch: Callable[[Entry], None] | None = None
        """Sees every entry after it was written."""
        self._in_force = InForce()
        self._offset = 0
        self._batch = -1
        self._batch_of: object = None

    def write(
        self, kind: Kind, actor: str, at_ms: int, payload: Mapping[str, object], *, cause: int | None = None
    ) -> int:
        """Appends an entry that is no record; its sequence."""
        return self._append(written(self.last + 1, at_ms, kind, actor, _SIMULATED, payload, cause=cause))

    def write_fast_path(
        self, actor: str, at_ms: int, payload: Mapping[str, object], *, cause: int | None = None
    ) -> int:
        """``write``, of a steady heartbeat."""
        sequence = self.last + 1
        entry = written(sequence, at_ms, _REQUEST, actor, _SIMULATED, payload, cause=cause)
        self.fresh.append(entry)
        self.last = sequence
        if self.checker is not None:
            violations = self.checker.steady(entry)
            if violations:
                self._note_violations(violations, at_ms)
        if self.watch is not None:
            self.watch(entry)
        return sequence

    def write_unit(
        self,
        records: Sequence[RecordPayload],
        at_ms: int,
        *,
        cause: int | None = None,
        batch: object = None,
    ) -> int:
        """Appends the records of one operation that are in force, one unit; the last sequence.

        They are in a batch of their own, as on an idle broker, unless ``batch`` is that of the unit before.
        """
        if batch is None or batch is not self._batch_of:
            self._batch += 1
        self._batch_of = batch
        in_force = [each for record in records for each in self._in_force.after(record)]
        if not in_force:
            return self.last
        unit = last = self.last + 1
        for position, record in enumerate(in_force, start=1):
            last = self._append(
                written(
                    self.last + 1,
                    at_ms,
                    Kind.RECORD,
                    COORDINATOR,
                    _SIMULATED,
                    record,
                    cause=cause,
                    partition=self.partition,
                    offset=self._offset,
                    batch=self._batch,
                    unit=unit,
                    settled=position == len(in_force),
                )
            )
            self._offset += 1
        return last

    def end(self, at_ms: int) -> None:
        """The run is over: what should have happened by now did not."""
        if self.checker is not None:
            self._note_violations(self.checker.end(at_ms), at_ms)

    def _note_violations(self, violations: Sequence[Violation], at_ms: int) -> None:
        for violation in violations:
            member = violation.members[0] if violation.members else None
            payload = {"fault": INVARIANT_FAULT, "member": member, **violation.payload()}
            cause = violation.sequences[-1] if violation.sequences else None
            self.write(Kind.FAULT, COORDINATOR, at_ms, payload, cause=cause)

    def _append(self, entry: Entry) -> int:
        if entry.kind in FOLDED:
            self.state = replay(self.state, entry)
        self.fresh.append(entry)
        self.last = entry.sequence
        if self.checker is not None:
            self._note_violations(self.checker.see(entry, self.state), entry.at_ms)
        if self.watch is not None:
            self.watch(entry)
        return entry.sequence
