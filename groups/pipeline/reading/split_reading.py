"""A split under way: what reading every kind of log has in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from groups.pipeline.reading.rows import Row
from groups.pipeline.reading.split_facts import PROBLEMS_A_SPLIT_MOST, SplitFacts
from groups.pipeline.reading.splitting import Split
from groups.wire.logs.batches import BatchProblem
from groups.wire.logs.record_batch import GREATEST_BASE_OFFSET

PLAUSIBLE_OFFSETS_MOST: Final = 2**48
"""A partition that takes a million records a second comes to so many in nine years."""


@dataclass(slots=True)
class SplitReading:
    """A split under way."""

    number: int
    split: Split
    facts: SplitFacts = field(init=False)
    problems: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.facts = SplitFacts(split=self.number)

    def problem(
        self, key: str, reason: str, offset: int | None, *, records: int, last: int | None, normal: bool,
        lost: bool = False,
    ) -> None:  # fmt: skip
        """Counts a problem: one line for each ``key``, which grows to its last offset.

        ``lost`` means that the offsets themselves are gone, not only what one record meant.
        """
        known = self.problems.get(key)
        if known is not None:
            known["records"] += records
            known["last_offset"] = last
        elif len(self.problems) < PROBLEMS_A_SPLIT_MOST:
            self.problems[key] = {
                "offset": offset,
                "last_offset": last,
                "reason": reason,
                "records": records,
                "normal": normal,
                "lost": lost,
            }
        else:
            self.facts.unlisted += records

    def damage(self, problem: BatchProblem, before: int | None, after: int | None) -> None:
        """Records bytes that are no batch. The neighbours show which offsets are gone: a damaged header cannot."""
        before = self.split.before if before is None else before
        after = self.split.after if after is None else after
        first = before + 1 if before is not None else _claimed(problem, after)
        last = after - 1 if after is not None else None
        records = 0
        if not problem.is_normal:
            records = max(1, last - first + 1) if first is not None and last is not None else 1
        # Bytes between two batches whose offsets follow each other: nothing is missing there.
        nothing_lost = first is not None and last is not None and last < first
        place = f"at byte {self.split.start + problem.position} of the file"
        self.problem(
            place,
            f"{problem.reason}; the batch begins {place}",
            None if nothing_lost else first,
            records=0 if nothing_lost else records,
            last=None if nothing_lost else last,
            normal=problem.is_normal,
            lost=not problem.is_normal and not nothing_lost,
        )
        if not problem.is_normal and not nothing_lost:
            self.facts.read += records

    def row(
        self,
        kind: str,
        payload: bytes,
        *,
        group: str | None = None,
        first: int | None = None,
        records: int = 0,
    ) -> Row:
        return Row(
            kind=kind,
            group=group,
            partition=self.split.partition,
            source=self.split.source,
            split=self.number,
            first=first,
            records=records,
            payload=payload,
        )

    def last_row(self) -> Row:
        self.facts.problems = list(self.problems.values())
        self.facts.bytes_read = self.split.end - self.split.start
        return self.row("facts", self.facts.pack())


def _claimed(problem: BatchProblem, after: int | None) -> int | None:
    """The base offset that bytes claim which are no batch: believed only where it can be one."""
    offset = problem.offset
    if offset is None or offset > GREATEST_BASE_OFFSET or (after is not None and offset > after):
        return None
    # Text and other files give numbers here that no partition of offsets has reached.
    return offset if offset < PLAUSIBLE_OFFSETS_MOST else None
