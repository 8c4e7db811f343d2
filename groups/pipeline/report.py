"""What the reading stage found, gathered on the driver: the report, and what the folding stage needs to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from groups.history.record_types import CLASSIC_GROUP, CONSUMER_TYPES, SHARE_TYPES, STREAMS_TYPES
from groups.pipeline.naming import COMMIT, TOPICS_FILE
from groups.pipeline.recognising import Kind
from groups.pipeline.sources import Listing, Source
from groups.pipeline.timelines import LostOffsets
from groups.pipeline.topic_facts import Known, metadata_story

PROBLEMS_MOST = 500
"""Places that a report lists one by one; beyond, only their number is told."""

GROUPS_LISTED_MOST = 2000
"""Groups that progress messages list before they are folded; the page shows no more at once."""

PROTOCOLS: tuple[tuple[str, frozenset[int]], ...] = (
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
    partitions: set[int] = field(default_factory=set)

    @property
    def protocol(self) -> str:
        return next((name for name, types in PROTOCOLS if self.types & types), "simple")


@dataclass(slots=True)
class Findings:
    """The facts of all splits, added up."""

    listing: Listing
    read: int = 0
    decoded: int = 0
    transactional: int = 0
    unlisted: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list)
    groups: dict[str, GroupSeen] = field(default_factory=dict)
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    topics: list[tuple[int, int, int, dict[str, Any]]] = field(default_factory=list)
    lost: dict[int | None, list[LostOffsets]] = field(default_factory=dict)

    def add(
        self, kind: str, source: int, at_ms: int | None, offset: int | None, group: str | None, text: bytes
    ) -> None:
        """Takes in one row of ``transformations.facts``."""
        content = orjson.loads(text)
        match kind:
            case "tally":
                self.read += content["read"]
                self.decoded += content["decoded"]
                self.transactional += content["transactional"]
                self.unlisted += content["unlisted"]
            case "problem":
                self.add_problem(self.listing.sources[source], content)
            case "name":
                # A commit's word stands above an older record's, which a later commit may have renamed.
                if content["source"] == COMMIT or content["id"] not in self.names:
                    self.names[content["id"]] = (content["name"], content["source"])
            case "topic":
                self.topics.append((at_ms or 0, source, offset or 0, content))
            case "group" if group is not None:
                self.add_group(self.listing.sources[source], group, content)

    def add_problem(self, source: Source, content: dict[str, Any]) -> None:
        first, last = content["offset"], content["last_offset"]
        if content.pop("lost") and first is not None and source.kind is Kind.OFFSETS:
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

    def add_group(self, source: Source, group: str, content: dict[str, Any]) -> None:
        seen = self.groups.setdefault(group, GroupSeen())
        seen.records += content["records"]
        seen.first_ms = min(t for t in (seen.first_ms, content["first_ms"]) if t is not None)
        seen.last_ms = max(t for t in (seen.last_ms, content["last_ms"]) if t is not None)
        seen.types |= set(content["types"])
        if source.partition is not None:
            seen.partitions.add(source.partition)

    def partitions_to_fill(self) -> dict[str, int]:
        """Groups whose partition some files tell, while other files are of no known partition."""
        if all(
            source.partition is not None for source in self.listing.sources if source.kind is Kind.OFFSETS
        ):
            return {}
        return {
            name: next(iter(seen.partitions))
            for name, seen in self.groups.items()
            if len(seen.partitions) == 1
        }

    def known(self, given: tuple[Mapping[str, str], Mapping[str, int]]) -> Known:
        """Names for the folding stage: the user's file stands above commits, the metadata log above both."""
        names = dict(self.names)
        names.update({topic_id: (name, TOPICS_FILE) for topic_id, name in given[0].items()})
        ordered = sorted(self.topics, key=lambda topic: topic[:3])
        story = metadata_story((at_ms, record) for at_ms, _, _, record in ordered)
        return Known(names=names, partitions=dict(given[1]), changes=story)

    def lost_offsets(self) -> dict[int | None, tuple[LostOffsets, ...]]:
        """What is missing in each partition: batches that cannot be read, and holes between files."""
        lost = {partition: list(some) for partition, some in self.lost.items()}
        nameless = [s for s in self.listing.sources if s.kind is Kind.OFFSETS and s.partition is None]
        if len(nameless) > 1:
            # Which of these files a group of no known partition is in cannot be told.
            lost.pop(None, None)
        for gap in self.listing.gaps:
            hole = LostOffsets(from_offset=gap.from_offset, to_offset=gap.to_offset, reason=gap.reason)
            lost.setdefault(gap.partition, []).append(hole)
        return {
            partition: tuple(sorted(some, key=lambda one: one.from_offset))
            for partition, some in lost.items()
        }

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
        skipped = [problem.to_json() for problem in self.listing.problems]
        skipped += [*self.problems, *more]
        return {
            "read": self.read,
            "decoded": self.decoded,
            "skipped": skipped,
            "unlisted": self.unlisted,
            "compacted": sum(s.missing_offsets for s in self.listing.sources if s.kind is Kind.OFFSETS),
        }
