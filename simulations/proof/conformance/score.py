"""Counts what is equal, and words what is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

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
    rules: tuple[str, ...] = ()
    """Those that the differences noted next are of (``Difference.rules``)."""
    unsought: bool = False
    """Whether rules were looked for no longer from some difference on."""

    @property
    def records_judged(self) -> int:
        return self.equal + self.different + self.missing + self.extra

    def asked(self, records: int) -> None:
        """A request that wrote so many records, all as recorded."""
        self.requests += 1
        self.equal += records

    def agreed(self) -> None:
        """An answer as recorded."""
        self.answers_equal += 1

    def answer(self, asked: RecordedRequest, simulated: Fields) -> list[Difference]:
        """One for each field that differs."""
        found = [
            _difference(asked, path or "all of it", left, right)
            for path, left, right in differing(asked.response, simulated)
        ]
        if found:
            self.answers_different += 1
        else:
            self.answers_equal += 1
        return self._noted(found)

    def unanswered(self, asked: RecordedRequest) -> Difference:
        """An answer that does not come."""
        self.answers_different += 1
        return self._noted([_difference(asked, "all of it", asked.response, None)])[0]

    def answered_at(self, asked: RecordedRequest, now_ms: int) -> Difference:
        """An answer that comes at another time, and is counted as equal until then."""
        self.answers_equal -= 1
        self.answers_different += 1
        return self._noted([_difference(asked, "when it comes, in ms", asked.done_ms, now_ms)])[0]

    def records(
        self, group: str, now_ms: int, recorded: Sequence[Written], simulated: Sequence[Record]
    ) -> list[Difference]:
        """One for each record that differs or is on one side alone."""
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
                    at_ms=written.at_ms if written is not None else now_ms,
                    group=group,
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
            what=f"{running.timer} timer of {running.member_id or 'the group'}",
            recorded="the member stays" if running.member_id else "it does not run out",
            simulated=f"it runs out at {running.latest_ms}"
            + (" and the member is removed" if running.member_id else ""),
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
        named = [replace(each, rules=self.rules) for each in found]
        self.differences += named
        return named


def _difference(asked: RecordedRequest, part: str, recorded: object, simulated: object) -> Difference:
    who = f" of {asked.member}" if asked.member else ""
    what = f"answer to {asked.api}{who} (line {asked.line}): {part}"
    return Difference(
        at_ms=asked.done_ms, group=asked.group, what=what, recorded=recorded, simulated=simulated
    )
