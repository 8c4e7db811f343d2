"""The import as a process of its own: one JSON request in, JSON Lines out.

``python -m groups.pipeline.job`` reads one line::

    {"paths": ["…"], "group": null, "topics": {"<topic id>": "name"}, "master": null}

and writes, a line each:

* ``{"type": "progress", "stage", "stages": [{"name", "done", "of", "unit"}]}``, at most four times a second;
* ``{"type": "sources", "sources": […]}`` and ``{"type": "groups", "groups": […]}``, once they are known;
* ``{"type": "records", "records": {…}}`` when all is read: what was decoded, and what was skipped so far;
* ``{"type": "timeline", "timeline": key, "group", "incarnation"}`` when a timeline begins, its batches (the form of
  ``groups.history.recorder.Batch.to_line`` with the ``timeline``'s key), and ``{"type": "folded", …}`` at its end;
* ``{"type": "repeated", …}`` where records were given twice;
* last ``{"type": "done", "records": {…}}``, or ``{"type": "error", "message": "one line"}``.

It ends when its standard input does.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from groups.pipeline import transformations as steps
from groups.pipeline.naming import BadTopicsFile, read_topics_file
from groups.pipeline.recognising import Kind
from groups.pipeline.report import Findings
from groups.pipeline.sources import Listing, list_sources
from groups.pipeline.spark_child import Lines, answer_request, spark_session
from groups.pipeline.timelines import Context

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROGRESS_EVERY_S = 0.25
"""Counts are replaced at most four times a second: more cannot be read."""

STAGES = ("Recognised", "Read", "Decoded", "Ordered", "Folded", "Explained")


@dataclass(slots=True)
class Progress:
    """How far the import is, and the lines that tell it; from two threads."""

    lines: Lines
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    stage: str = "Starting"
    told_s: float = 0.0
    told: bytes = b""

    def set(self, name: str, done: int, of: int | None, unit: str) -> None:
        self.stages[name] = {"name": name, "done": done, "of": of, "unit": unit}

    def tell(self, stage: str | None = None) -> None:
        """Tells now when a stage begins, else at most four times a second."""
        if stage is None and time.monotonic() - self.told_s < PROGRESS_EVERY_S:
            return
        self.stage = stage or self.stage
        self.told_s = time.monotonic()
        stages = [self.stages.get(name, {"name": name, "done": 0, "of": None, "unit": ""}) for name in STAGES]
        line = orjson.dumps({"type": "progress", "stage": self.stage, "stages": stages})
        if line != self.told:
            self.told = line
            self.lines.write(line)


def main() -> int:
    return answer_request(run, work="import", refusals=(BadTopicsFile,))


def run(request: Mapping[str, Any], lines: Lines) -> None:
    """The whole import."""
    progress = Progress(lines)
    topics = read_topics_file(request.get("topics") or {})
    listing = list_sources(request["paths"])
    expected = sum(source.records for source in listing.sources)
    progress.set("Recognised", len(listing.sources), len(listing.sources), "sources")
    progress.set("Read", 0, expected, "records")
    progress.lines.say({"type": "sources", "sources": [source.to_json() for source in listing.sources]})
    if not listing.splits:
        findings = Findings(listing)
        progress.lines.say({"type": "done", "records": findings.records_report()})
        return
    progress.tell("Starting Spark")
    size = sum(source.bytes for source in listing.sources if source.kind is Kind.OFFSETS)
    with spark_session(
        master=request.get("master") or None, source_bytes=size, archive=bool(request.get("archive"))
    ) as session:
        lines.say(import_with(session, listing, topics, request.get("group"), progress, expected))


def import_with(
    session: SparkSession,
    listing: Listing,
    topics: tuple[Mapping[str, str], Mapping[str, int]],
    group: str | None,
    progress: Progress,
    expected: int,
) -> dict[str, Any]:
    """Both stages on an open session; gives back the last message."""
    rows = steps.rows(session, listing.splits).persist()
    findings = read_stage(session, rows, listing, progress, expected)
    names = [group] if group is not None else list(findings.groups)
    groups = [told for told in findings.group_list() if group is None or told["group"] == group]
    progress.lines.say({"type": "groups", "groups": groups})
    progress.lines.say({"type": "records", "records": findings.records_report()})
    progress.set("Ordered", len(names), len(names), "groups")
    progress.set("Folded", 0, len(names), "timelines")
    progress.set("Explained", 0, len(names), "verdicts")
    progress.tell("Folding")

    wanted = steps.records(rows, group)
    more: list[dict[str, Any]] = []
    if findings.transactional:
        outcomes = steps.outcomes(rows, group).persist()
        wanted = steps.without_open_transactions(wanted, outcomes)
        more += transactions_left_out(outcomes, listing)
    context = Context(
        known=findings.known(topics),
        lost=findings.lost_offsets(),
        files=tuple(source.file for source in listing.sources),
    )
    ordered = wanted.transform(steps.with_partitions_known, findings.partitions_to_fill()).transform(
        steps.in_group_order
    )
    more += fold_stage(steps.folded(ordered, context), progress)
    return {"type": "done", "records": findings.records_report(more)}


def read_stage(
    session: SparkSession, rows: DataFrame, listing: Listing, progress: Progress, expected: int
) -> Findings:
    """Reads every split once (the rows stay in Spark's cache) and gathers what they tell."""
    findings = Findings(listing)
    progress.tell("Reading")
    with Counting(session, rows, listing, progress, expected):
        found = steps.facts(rows).collect()
    for row in found:
        findings.add(row.kind, row.source, row.at_ms, row.offset, row.group, row.payload)
    progress.set("Read", findings.read, findings.read, "records")
    progress.set("Decoded", findings.decoded, findings.decoded, "records")
    progress.tell("Read")
    return findings


def fold_stage(lines: DataFrame, progress: Progress) -> list[dict[str, Any]]:
    """Hands the folded lines on as they come; gives back what is to be told among the skipped."""
    more: list[dict[str, Any]] = []
    folded = begun = 0
    groups = progress.stages["Folded"]["of"]
    for row in lines.toLocalIterator(prefetchPartitions=True):
        line = bytes(row.line)
        if row.timeline:
            progress.lines.write(line)
            if line.startswith(b'{"type":"timeline"'):
                begun += 1
            elif line.startswith(b'{"type":"folded"'):
                folded += 1
                # A group that was created again has one timeline more than there are groups.
                groups = max(groups, begun)
                progress.set("Folded", folded, groups, "timelines")
                progress.set("Explained", folded, groups, "verdicts")
            progress.tell()
        else:
            told = orjson.loads(line)
            more += told["conflicts"]
            progress.lines.write(line)
    for name, unit in (("Folded", "timelines"), ("Explained", "verdicts")):
        progress.set(name, folded, folded, unit)
    progress.tell("Done")
    return [{"last_offset": conflict["offset"], "normal": False, **conflict} for conflict in more]


def transactions_left_out(outcomes: DataFrame, listing: Listing) -> list[dict[str, Any]]:
    """Commits of transactions that did not come to a commit: Kafka's coordinator never applied them."""
    reasons = {
        steps.ABORT: "commits of a transaction that was aborted: never in force",
        steps.OPEN: "commits of a transaction whose end is not in these files: not in force as far as they tell",
    }
    return [
        {
            "file": listing.sources[row.source].file,
            "offset": row.first,
            "last_offset": row.last,
            "reason": reasons[row.outcome],
            "records": row.records,
            "normal": True,
        }
        for row in steps.left_out(outcomes).collect()
    ]


class Counting:
    """Tells how many records are read while Spark reads, from the splits that are done."""

    def __init__(
        self, session: SparkSession, rows: DataFrame, listing: Listing, progress: Progress, expected: int
    ) -> None:
        self.tracker = session.sparkContext.statusTracker()
        self.tasks = max(1, len(steps.shared(listing.splits)))
        self.progress = progress
        self.expected = expected
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.count, name="progress", daemon=True)

    def count(self) -> None:
        while not self.stop.wait(PROGRESS_EVERY_S):
            done = 0
            for stage in self.tracker.getActiveStageIds():
                info = self.tracker.getStageInfo(stage)
                done = max(done, info.numCompletedTasks if info else 0)
            # Tasks have about one size, so that their number tells the records closely; the end tells them exactly.
            self.progress.set("Read", self.expected * done // self.tasks, self.expected, "records")
            self.progress.tell()

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *exception: object) -> None:
        self.stop.set()
        self.thread.join()


if __name__ == "__main__":
    sys.exit(main())
