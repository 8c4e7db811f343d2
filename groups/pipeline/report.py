"""What the reading tasks found, gathered on the driver: the report, and what the folding tasks need to know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Final

import orjson

from groups.history.replay.record_types import CLASSIC_GROUP, CONSUMER_TYPES, SHARE_TYPES, STREAMS_TYPES
from groups.pipeline.folding.context import Compaction, LostOffsets, log_of
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.sources import Source
from groups.pipeline.reading.split_facts import HOLES_A_SPLIT_MOST, SplitFacts
from groups.pipeline.reading.splitting import Listing
from groups.pipeline.reading.tasks import Task
from groups.pipeline.reading.transactions import ABORTED, OPEN, Ends, LeftOut, Log
from groups.pipeline.times import Times
from groups.pipeline.topics.facts import Known, metadata_story
from groups.pipeline.topics.naming import COMMIT, TOPICS_FILE

SEGMENT_DIGITS: Final = 20
"""A segment is named by its base offset in so many digits."""

Ranges = list[tuple[int, int]]


def compaction_of(
    splits: Sequence[SplitFacts], files: Iterable[str], lost: Iterable[tuple[int, int]] = ()
) -> Compaction | None:
    """Of one partition; ``None`` where nothing is missing. ``missing`` is 0 where files overlap and have too many holes to compare.

    ``lost`` are offsets that are missing for another reason, which is known."""
    holes = [facts.holes for facts in splits if facts.holes is not None]
    if not holes:
        return None
    first, last = min(one[0] for one in holes), max(one[1] for one in holes)
    spans = [_span(facts) for facts in splits if facts.first_offset is not None]
    begin = min(one[0] for one in spans)
    # A segment keeps its name when the cleaner takes its first records.
    named = min((base for base in map(_base, files) if base is not None and base < begin), default=begin)
    covered = _length(_united(spans))
    if all(len(facts.hole_ranges) < HOLES_A_SPLIT_MOST for facts in splits):
        present = [one for facts in splits for one in _present(facts)]
        present += [(at, to) for at, to in lost if any(span[0] <= at and to <= span[1] for span in spans)]
        missing = covered - _length(_united(present))
        if not missing and named == begin:
            return None
    elif covered == _length(spans):
        missing = sum(one[2] for one in holes)
    else:
        return Compaction(min(first, named), last, 0, 0)
    return Compaction(
        first=min(first, named) if named < begin else first,
        last=last,
        missing=missing + begin - named,
        offsets=covered + begin - named,
    )


def _base(file: str) -> int | None:
    stem = PurePath(file).name.removesuffix(".log")
    return int(stem) if len(stem) == SEGMENT_DIGITS and stem.isdecimal() else None


def _span(facts: SplitFacts) -> tuple[int, int]:
    """From its first offset, or the first hole before it, to the last."""
    assert facts.first_offset is not None
    assert facts.last_offset is not None
    first = facts.first_offset if facts.holes is None else min(facts.first_offset, facts.holes[0])
    last = facts.last_offset if facts.holes is None else max(facts.last_offset, facts.holes[1])
    return first, last


def _present(facts: SplitFacts) -> Ranges:
    """Offsets that a split has, between its holes."""
    if facts.first_offset is None:
        return []
    at, last = _span(facts)
    found = []
    for first_missing, last_missing in sorted(facts.hole_ranges):
        if first_missing > at:
            found.append((at, first_missing - 1))
        at = max(at, last_missing + 1)
    return [*found, (at, last)] if at <= last else found


def _united(ranges: Ranges) -> Ranges:
    united: Ranges = []
    for first, last in sorted(ranges):
        if united and first <= united[-1][1] + 1:
            united[-1] = (united[-1][0], max(united[-1][1], last))
        else:
            united.append((first, last))
    return united


def _length(ranges: Ranges) -> int:
    return sum(last - first + 1 for first, last in ranges)


PROBLEMS_MOST: Final = 500
"""Places that a report lists one by one; beyond, only their number is given."""

GROUPS_LISTED_MOST: Final = 2000
"""Groups that progress messages list before they are folded; the page shows no more at once."""

LEFT_OUT: Final = {
    ABORTED: "commits of a transaction that was aborted: never in force",
    OPEN: "commits of a transaction whose end is not in these files: not in force as far as they tell",
}
"""Why Kafka's coordinator never applied them."""

PROTOCOLS: Final[tuple[tuple[str, frozenset[int]], ...]] = (
    ("consumer", CONSUMER_TYPES),
    ("share", SHARE_TYPES),
    ("streams", STREAMS_TYPES),
    ("classic", frozenset({CLASSIC_GROUP})),
)
"""What a group is called while it waits to be folded: the first protocol of which it has a record."""


@dataclass(slots=True)
class GroupSeen:
    """What was read of one group before it is folded."""

    records: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    types: set[int] = field(default_factory=set)

    @property
    def protocol(self) -> str:
        return next((name for name, types in PROTOCOLS if self.types & types), "simple")


@dataclass(slots=True)
class Findings:
    """The facts of all splits, added up."""

    listing: Listing
    read: int = 0
    decoded: int = 0
    unlisted: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    groups: dict[str, GroupSeen] = field(default_factory=dict)
    group_hashes: set[int] = field(default_factory=set)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    topics: list[tuple[int, int, int, dict[str, Any]]] = field(default_factory=list)
    lost: dict[int | None, list[LostOffsets]] = field(default_factory=dict)
    splits: dict[int, SplitFacts] = field(default_factory=dict)
    left_out: dict[tuple[int, int], LeftOut] = field(default_factory=dict)
    missing: dict[int, int] = field(default_factory=dict)
    """Source → offsets that no record has."""

    times: Times = field(default_factory=Times)

    def add(self, kind: str, source: int, payload: bytes) -> None:
        """Takes in one row of ``transformations.facts``."""
        if kind == "topic":
            parsed = orjson.loads(payload)
            self.topics.append((parsed["at_ms"], source, parsed["offset"], parsed["record"]))
            return
        if kind == "times":
            for one in orjson.loads(payload):
                for part in one.get("slowest", ()):
                    part["name"] = self._partition_name(int(part["name"]))
                self.times.merge([one])
            return
        facts = SplitFacts.unpack(payload)
        found = self.listing.sources[source]
        self.splits[facts.split] = facts
        self.read += facts.read
        self.decoded += facts.decoded
        self.times.add("decode", 0.0, facts.decoded)
        self.unlisted += facts.unlisted
        for problem in facts.problems:
            self.add_problem(found, problem)
        for topic_id, name, origin in facts.names:
            known = self.names.get(topic_id)
            if known is None or _surer((name, origin), known):
                self.names[topic_id] = (name, origin)
        for group, (records, first_ms, last_ms, types) in facts.groups.items():
            self.add_group(group, records, first_ms, last_ms, types)
        self.group_hashes.update(facts.group_hashes)
        records, first, last = facts.aborted
        if records:
            self.left_out.setdefault((source, ABORTED), LeftOut()).merge(records, first, last)
        if facts.holes is not None:
            self.missing[source] = self.missing.get(source, 0) + facts.holes[2]

    def _partition_name(self, source: int) -> str:
        found = self.listing.sources[source]
        return found.file if found.partition is None else f"partition {found.partition}"

    def add_problem(self, source: Source, content: dict[str, Any]) -> None:
        first, last = content["offset"], content["last_offset"]
        if content.pop("lost") and first is not None and source.kind is FileKind.OFFSETS:
            # Bytes that are no batch: whatever stood there is missing from the groups of this partition.
            lost = LostOffsets(from_offset=first, to_offset=last or first, reason=content["reason"])
            self.lost.setdefault(source.partition, []).append(lost)
        same = next(
            (p for p in self.problems if p["file"] == source.file and p["reason"] == content["reason"]), None
        )
        if same is not None:
            same["records"] += content["records"]
            same["last_offset"] = last
            same["offset"] = min((o for o in (same["offset"], first) if o is not None), default=None)
        elif len(self.problems) < PROBLEMS_MOST:
            self.problems.append({"file": source.file, **content})
        else:
            self.unlisted += content["records"]

    def add_group(
        self, group: str, records: int, first_ms: int | None, last_ms: int | None, types: Sequence[int]
    ) -> None:
        seen = self.groups.setdefault(group, GroupSeen())
        seen.records += records
        seen.first_ms = min((t for t in (seen.first_ms, first_ms) if t is not None), default=None)
        seen.last_ms = max((t for t in (seen.last_ms, last_ms) if t is not None), default=None)
        seen.types |= set(types)

    @property
    def some_partitions_unknown(self) -> bool:
        """Whether the partition of some files is known and of others not."""
        unnumbered = {s.partition is None for s in self.listing.sources if s.kind is FileKind.OFFSETS}
        return len(unnumbered) > 1

    def known(self, given: tuple[Mapping[str, str], Mapping[str, int]]) -> Known:
        """Names for the folding stage: the user's file has precedence over commits, the metadata log over both."""
        names = dict(self.names)
        names.update({topic_id: (name, TOPICS_FILE) for topic_id, name in given[0].items()})
        ordered = sorted(self.topics, key=lambda topic: topic[:3])
        story = metadata_story((at_ms, record) for at_ms, _, _, record in ordered)
        return Known(names=names, partitions=dict(given[1]), changes=story)

    def lost_offsets(self) -> dict[int | None, tuple[LostOffsets, ...]]:
        """What is missing in each partition: batches that cannot be read, and holes between files."""
        lost = {partition: list(some) for partition, some in self.lost.items()}
        nameless = [s for s in self.listing.sources if s.kind is FileKind.OFFSETS and s.partition is None]
        if len(nameless) > 1:
            # It is unknown which of these files contains a group of no known partition.
            lost.pop(None, None)
        for gap in self.listing.gaps:
            hole = LostOffsets(from_offset=gap.from_offset, to_offset=gap.to_offset, reason=gap.reason)
            lost.setdefault(gap.partition, []).append(hole)
        return {
            partition: tuple(sorted(some, key=lambda one: one.from_offset))
            for partition, some in lost.items()
        }

    def compacted(self, tasks: Sequence[Task]) -> dict[int | None, Compaction]:
        """By partition, which offsets are missing within batches and between them, and of how many."""
        partitions = {number: split.partition for task in tasks for number, split in task}
        by_partition: dict[int | None, list[SplitFacts]] = {}
        for number, facts in self.splits.items():
            by_partition.setdefault(partitions[number], []).append(facts)
        if sum(s.kind is FileKind.OFFSETS and s.partition is None for s in self.listing.sources) > 1:
            by_partition.pop(None, None)
        found = {}
        for partition, some in by_partition.items():
            files = (
                s.file
                for s in self.listing.sources
                if s.kind is FileKind.OFFSETS and s.partition == partition
            )
            lost = [
                (gap.from_offset, gap.to_offset) for gap in self.listing.gaps if gap.partition == partition
            ]
            compaction = compaction_of(some, files, lost)
            if compaction is not None:
                found[partition] = compaction
        return found

    def leaders(self, tasks: Sequence[Task]) -> dict[int | None, tuple[tuple[int, int], ...]]:
        """By partition, from which offsets on another leader wrote, each with its epoch."""
        partitions = {number: split.partition for task in tasks for number, split in task}
        ranges: dict[int | None, list[tuple[int, int]]] = {}
        for number, facts in self.splits.items():
            ranges.setdefault(partitions[number], []).extend((at, epoch) for at, epoch in facts.leaders)
        if sum(s.kind is FileKind.OFFSETS and s.partition is None for s in self.listing.sources) > 1:
            ranges.pop(None, None)
        found: dict[int | None, tuple[tuple[int, int], ...]] = {}
        for partition, some in ranges.items():
            some.sort()
            rises = [later for one, later in pairwise(some) if 0 <= one[1] < later[1]]
            if rises:
                found[partition] = tuple(rises)
        return found

    def ends(self, tasks: Sequence[Task]) -> dict[Log, Ends]:
        """Ends of the transactions that some split leaves open: the first markers of their producers in each split."""
        logs = {number: log_of(split.partition, split.source) for task in tasks for number, split in task}
        wanted: dict[Log, set[int]] = {}
        for number, facts in self.splits.items():
            wanted.setdefault(logs[number], set()).update(facts.open)
        found: dict[Log, Ends] = {}
        for number, facts in self.splits.items():
            log = logs[number]
            for producer, offset, outcome in facts.ends:
                if producer in wanted[log]:
                    found.setdefault(log, Ends()).add(producer, offset, outcome)
        return found

    def group_list(self) -> list[dict[str, Any]]:
        """Groups as the page lists them before they are folded: the largest first."""
        listed = sorted(self.groups.items(), key=lambda item: (-item[1].records, item[0]))
        return [
            {
                "group": name,
                "protocol": seen.protocol,
                "records": seen.records,
                "first_ms": seen.first_ms,
                "last_ms": seen.last_ms,
            }
            for name, seen in listed[:GROUPS_LISTED_MOST]
        ]

    def records_report(self, more: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """The ``records`` of the report: what was read, what was decoded, and what was skipped, where and why."""
        skipped = [asdict(problem) for problem in self.listing.problems]
        skipped += [*self.problems, *self._left_out(), *more]
        return {
            "read": self.read,
            "decoded": self.decoded,
            "skipped": skipped,
            "unlisted": self.unlisted,
            "compacted": sum(self.missing.values()),
        }

    def _left_out(self) -> list[dict[str, Any]]:
        return [
            {
                "file": self.listing.sources[source].file,
                "offset": some.first,
                "last_offset": some.last,
                "reason": LEFT_OUT[outcome],
                "records": some.records,
                "normal": True,
            }
            for (source, outcome), some in sorted(self.left_out.items())
        ]


def _surer(found: tuple[str, str], known: tuple[str, str]) -> bool:
    """Whether a name and its source stand above others of the same id: a commit's word above that of older records.

    Where two are equally sure, which no honest log has, the choice does not depend on how the log was cut.
    """
    return (found[1] != COMMIT, *found) < (known[1] != COMMIT, *known)
