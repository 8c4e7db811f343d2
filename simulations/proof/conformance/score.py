"""Counts what is equal, and words what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from simulations.proof.conformance.comparing import aligned, differing, same_record
from simulations.proof.conformance.recording import Difference, Fields, RecordedRequest, Written
from simulations.proof.conformance.timers import Running
from simulations.protocol.coordinator.consumer.outcome import Record


@dataclass(slots=True)
class Score:
    """What came of a group's requests and records. Each method counts, notes the differences, and gives them back."""

    requests: int = 0
    answers_equal: int = 0
    answers_different: int = 0
    equal: int = 0
    different: int = 0
    missing: int = 0
    extra: int = 0
    loaded: int = 0
    excuses: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def agreed(self, records: int) -> None:
        """A request whose answer and records are all as recorded."""
        self.requests += 1
        self.answers_equal += 1
        self.equal += records

    def answer(self, asked: RecordedRequest, simulated: Fields) -> list[Difference]:
        """One for each field that differs."""
        who = f" of {asked.member}" if asked.member else ""
        found = [
            Difference(
                at_ms=asked.done_ms,
                group=asked.group,
                what=f"answer to {asked.api}{who} (line {asked.line}): {path or 'all of it'}",
                recorded=left,
                simulated=right,
            )
            for path, left, right in differing(asked.response, simulated)
        ]
        self.requests += 1
        if found:
            self.answers_different += 1
        else:
            self.answers_equal += 1
        return self._noted(found)

    def records(
        self, asked: RecordedRequest, recorded: Sequence[Written], simulated: Sequence[Record]
    ) -> list[Difference]:
        """One for each record that differs or stands on one side alone."""
        found: list[Difference] = []
        places = {id(written.payload): written for written in recorded}
        for left, right in aligned([written.payload for written in recorded], simulated):
            if left is not None and right is not None and same_record(left, right):
                self.equal += 1
                continue
            if left is None:
                self.extra += 1
            elif right is None:
                self.missing += 1
            else:
                self.different += 1
            written = places[id(left)] if left is not None else None
            record = left if left is not None else right
            assert record is not None
            where = f" at offset {written.offset}" if written is not None else ""
            found.append(
                Difference(
                    at_ms=written.at_ms if written is not None else asked.done_ms,
                    group=asked.group,
                    what=f"record of type {record['type']}{where}",
                    recorded=left,
                    simulated=right,
                )
            )
        return self._noted(found)

    def unexplained(self, group: str, unit: Sequence[Written]) -> list[Difference]:
        """Records that the simulated coordinator would not have written at all."""
        self.missing += len(unit)
        return self._noted(
            [
                Difference(
                    at_ms=written.at_ms,
                    group=group,
                    what=f"record of type {written.payload['type']} at offset {written.offset}, "
                    "which nothing explains",
                    recorded=written.payload,
                    simulated=None,
                )
                for written in unit
            ]
        )

    def overdue(self, group: str, running: Running, records: int) -> Difference:
        """A timer that would have fired long ago, and written so many records."""
        assert running.latest_ms is not None
        self.extra += records
        late = Difference(
            at_ms=running.latest_ms,
            group=group,
            what=f"{running.timer} timer of {running.member_id}",
            recorded="the member stays",
            simulated=f"it runs out at {running.latest_ms} and the member is removed",
        )
        return self._noted([late])[0]

    def refused(self, group: str, written: Written, problem: str) -> Difference:
        """A record that a coordinator would not load."""
        refused = Difference(
            at_ms=written.at_ms,
            group=group,
            what=f"record of type {written.payload['type']} at offset {written.offset}, when it is loaded",
            recorded=written.payload,
            simulated=problem,
        )
        return self._noted([refused])[0]

    def _noted(self, found: list[Difference]) -> list[Difference]:
        self.differences += found
        return found
