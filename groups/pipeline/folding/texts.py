"""What texts say of one group, put on the axis of its records."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from groups.history.entries import Kind
from groups.history.replay.record_types import CLASSIC_GROUP, EPOCH_TYPES
from groups.pipeline.folding.group_records import GroupRecord
from groups.pipeline.reading.entry_lines import entry_of
from groups.texts.found import LogEvent, TextEntry
from groups.texts.inferred import inferred_entries
from groups.texts.one_axis import Recorded


@dataclass(slots=True)
class GroupTexts:
    """Lines come before the records of their group, in the order in which blocks are sorted."""

    lines: list[bytes] = field(default_factory=list)
    recorded: Recorded = field(default_factory=Recorded)

    def note_record(self, record: GroupRecord) -> None:
        """When a generation or an epoch began, for the lines that belong to it."""
        if not self.lines:
            return
        self.recorded.any = True
        value = record.payload.get("value")
        if not value:
            return
        if record.type == CLASSIC_GROUP:
            self.recorded.generations.setdefault(value.get("generation"), record.at_ms)
        elif record.type in EPOCH_TYPES:
            self.recorded.epochs.setdefault(value.get("epoch"), record.at_ms)

    def last_ms(self) -> int | None:
        return max((entry_of(line).at_ms for line in self.lines), default=None)

    def entries(self) -> deque[TextEntry]:
        """By time. Entries that texts state whole are taken as they are; log lines are put together first."""
        found = [entry_of(line) for line in self.lines]
        entries = [each for each in found if isinstance(each, TextEntry)]
        if self.recorded.any:
            # Records say what the group was; what looks at it would infer is not put next to them.
            entries = [each for each in entries if each.kind not in (Kind.RECORD, Kind.OBSERVATION)]
        elif entries:
            self.recorded.any = True
        entries += inferred_entries([each for each in found if isinstance(each, LogEvent)], self.recorded)
        entries.sort(key=lambda each: each.at_ms)
        return deque(entries)
