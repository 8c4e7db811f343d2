"""The import as a process of its own: JSON requests in, JSON Lines out.

``python -m groups.pipeline.job`` reads a line::

    {"paths": ["…"], "store": "/…/timelines", "rights": "owner", "folder": "<import id>", "scratch": "/…/imports/<import id>.unpacked", "groups": null, "from_ms": null, "until_ms": null,
     "topics": {"<topic id>": "name"}, "settings": {"group.consumer.session.timeout.ms": 6000}, "master": null, "earlier": {"<group>": [{"id", "entries", "digest"}]}}

and writes, a line each:

* ``{"type": "progress", "stage", "stages": [{"name", "done", "of", "unit"}], "bytes", "remaining_s"}``, at most four
  times a second;
* ``{"type": "sources", "sources": […]}`` and ``{"type": "groups", "groups": […], "found": n}``, once they are known;
* ``{"type": "records", "records": {…}}`` when all is read: what was decoded, and what was skipped so far;
* ``{"type": "timeline", …}`` for each timeline that is stored (``timeline_folding.TimelineFolding.finish``);
* ``{"type": "repeated", …}`` where records were given twice;
* ``{"type": "times", "times": […]}``: how long each stage took (``groups.pipeline.times``);
* last ``{"type": "done", "records": {…}}``, or ``{"type": "error", "message": "one line"}``.

Entries go from Spark's tasks into the store and never through here. It then waits for the next request with its Spark
session open, and ends when its standard input does, or as ``warm`` says.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from groups.packs.files import let_group_read
from groups.pipeline import transformations
from groups.pipeline.folding.context import Context, EarlierTimeline
from groups.pipeline.progress import READING_SHARE, Counting, Progress, tasks_done
from groups.pipeline.reading.datasource import OffsetsLog, Task, tasks_of
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.rows import Wanted
from groups.pipeline.reading.splitting import Listing, list_sources
from groups.pipeline.reading.transactions import LeftOut
from groups.pipeline.report import Findings
from groups.pipeline.spark.child import Lines
from groups.pipeline.spark.session import folding_tasks
from groups.pipeline.spark.warm import WarmSession, answer_requests
from groups.pipeline.topics.naming import BadTopicsFile, read_topics_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def main() -> int:
    return answer_requests(run, work="import", refusals=(BadTopicsFile,))


def run(request: Mapping[str, Any], lines: Lines, warm: WarmSession) -> None:
    """One whole import."""
    progress = Progress(lines)
    topics = read_topics_file(request.get("topics") or {})
    progress.tell("Recognising")
    scratch = scratch_of(request)
    listing = list_sources(request["paths"], scratch=scratch)
    if scratch is not None and scratch.exists() and request.get("rights") == "group":
        let_group_read(scratch)
    progress.bytes_read = sum(source.bytes for source in listing.sources if source.kind is FileKind.OFFSETS)
    expected = sum(source.records for source in listing.sources)
    progress.set("Recognised", len(listing.sources), len(listing.sources), "sources")
    progress.set("Read", 0, expected, "records")
    lines.say({"type": "sources", "sources": [source.to_json() for source in listing.sources]})
    if not listing.splits:
        lines.say({"type": "done", "records": Findings(listing).records_report()})
        return
    progress.tell("Starting Spark")
    session = warm.session(request.get("master") or None)
    lines.say(import_with(session, listing, topics, request, progress, expected))


def scratch_of(request: Mapping[str, Any]) -> Path | None:
    """The folder that archives are unpacked into; who asks removes it."""
    return Path(request["scratch"]) if request.get("scratch") else None


def import_with(
    session: SparkSession,
    listing: Listing,
    topics: tuple[Mapping[str, str], Mapping[str, int]],
    request: Mapping[str, Any],
    progress: Progress,
    expected: int,
) -> dict[str, Any]:
    """Both stages on an open session; gives back the last message."""
    from pyspark import StorageLevel

    session.dataSource.register(OffsetsLog)
    groups = request.get("groups")
    wanted = Wanted(groups=None if groups is None else frozenset(groups), until_ms=request.get("until_ms"))
    tasks = tasks_of(listing.splits)
    rows = transformations.rows(session, tasks, wanted).persist(StorageLevel.DISK_ONLY)
    try:
        findings = read_stage(session, rows, listing, tasks, progress, expected)
        lines = progress.lines
        lines.say({"type": "groups", "groups": findings.group_list(), "found": len(findings.group_hashes)})
        lines.say({"type": "records", "records": findings.records_report()})
        context = Context(
            known=findings.known(topics),
            store=request["store"],
            folder=request["folder"],
            rights=request.get("rights") or "owner",
            lost=findings.lost_offsets(),
            compacted=findings.compacted(tasks),
            leaders=findings.leaders(tasks),
            files=tuple(source.file for source in listing.sources),
            ends=findings.ends(tasks),
            earlier=earlier_of(request.get("earlier") or {}),
            settings=request.get("settings") or {},
            from_ms=request.get("from_ms"),
        )
        blocks = transformations.blocks(rows)
        if findings.some_partitions_unknown:
            blocks = blocks.transform(transformations.with_partitions_known)
        count = folding_tasks(progress.bytes_read, session.sparkContext.defaultParallelism)
        ordered = blocks.transform(transformations.in_group_order, count)
        more = fold_stage(session, ordered, context, findings, progress)
    finally:
        rows.unpersist()
    return {"type": "done", "records": findings.records_report(more)}


def earlier_of(document: Mapping[str, Any]) -> dict[str, tuple[EarlierTimeline, ...]]:
    return {group: tuple(EarlierTimeline(**one) for one in some) for group, some in document.items()}


def read_stage(
    session: SparkSession,
    rows: DataFrame,
    listing: Listing,
    tasks: list[Task],
    progress: Progress,
    expected: int,
) -> Findings:
    """Reads every split once (the rows stay in Spark's cache) and gathers what they tell."""
    findings = Findings(listing)
    progress.tell("Reading")

    def look() -> None:
        # Tasks have about one size, so that their number tells the records closely; the end tells them exactly.
        done = tasks_done(session)
        progress.set("Read", expected * done // len(tasks), expected, "records")
        progress.reach(READING_SHARE * done / len(tasks))

    with Counting(progress, look):
        found = transformations.facts(rows).collect()
    for row in found:
        findings.add(row.kind, row.source, bytes(row.payload))
    # What the tasks had counted was expected, not read; a short import ends before anything was counted.
    progress.stages.pop("Read", None)
    progress.set("Read", findings.read, findings.read, "records")
    progress.reach(READING_SHARE)
    progress.tell("Read")
    return findings


def fold_stage(
    session: SparkSession,
    ordered: DataFrame,
    context: Context,
    findings: Findings,
    progress: Progress,
) -> list[dict[str, Any]]:
    """Has the tasks fold and store; hands on what they say of each timeline. What is to be told among the skipped."""
    from pyspark import StorageLevel

    more: list[dict[str, Any]] = []
    groups, stored = len(findings.group_hashes), 0
    progress.set("Folded", 0, groups, "groups")
    progress.set("Stored", 0, None, "timelines")
    progress.tell("Folding")
    # Tasks report at their end. One that is done again after a machine was lost counts its groups again.
    ended = session.sparkContext.accumulator(0)

    def look() -> None:
        done = min(ended.value, groups)
        progress.set("Folded", done, groups, "groups")
        progress.reach(READING_SHARE + (1 - READING_SHARE) * done / max(groups, 1))

    folded = transformations.folded(ordered, context, ended.add).persist(StorageLevel.DISK_ONLY)
    try:
        with Counting(progress, look):
            # One job over all tasks, as many at once as the cluster has cores. The lines are fetched afterwards, one task's
            # at a time: those of a large log do not fit into the driver together.
            folded.count()
            for row in folded.toLocalIterator():
                message = orjson.loads(bytes(row.payload))
                match row.kind:
                    case "timeline":
                        stored += 1
                        progress.set("Stored", stored, None, "timelines")
                        progress.lines.say({"type": "timeline", **message})
                    case "repeated":
                        more += message["conflicts"]
                        progress.lines.say({"type": "repeated", **message})
                    case "left_out":
                        known = findings.left_out.setdefault(
                            (message["source"], message["outcome"]), LeftOut()
                        )
                        known.merge(message["records"], message["first"], message["last"])
                    case "times":
                        findings.times.merge(message)
    finally:
        folded.unpersist()
    progress.set("Folded", groups, groups, "groups")
    progress.set("Stored", stored, stored, "timelines")
    progress.reach(1.0)
    progress.tell("Done")
    progress.lines.say({"type": "times", "times": findings.times.report()})
    return [{"last_offset": conflict["offset"], "normal": False, **conflict} for conflict in more]


if __name__ == "__main__":
    sys.exit(main())
