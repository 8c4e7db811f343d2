"""The import as a process of its own: JSON requests in, JSON Lines out.

``python -m groups.pipeline.job`` reads a line::

    {"paths": ["…"], "store": "/…/timelines", "rights": "owner", "folder": "<import id>", "scratch": "/…/imports/<import id>.1.unpacked", "groups": null, "from_ms": null, "until_ms": null,
     "topics": {"<topic id>": "name"}, "settings": {"group.consumer.session.timeout.ms": 6000}, "engine": "auto", "master": null, "resume": true, "earlier": {"<group>": [{"id", "entries", "digest"}]}}

and writes, a line each:

* ``{"type": "progress", "stage", "stages": [{"name", "done", "of", "unit"}], "bytes", "remaining_s"}``, at most four
  times a second;
* ``{"type": "sources", "sources": […]}``, and ``{"type": "engine", "engine": "local" or "spark", "why": "…"}`` once it is chosen;
* ``{"type": "groups", "groups": […], "found": n}``, while they are read and when all is;
* ``{"type": "records", "records": {…}}`` when all is read: what was decoded, and what was skipped so far;
* ``{"type": "timeline", …}`` for each timeline that is stored (``timeline_folding.TimelineFolding.finish``);
* ``{"type": "repeated", …}`` where records were given twice;
* ``{"type": "times", "times": […]}``: how long each stage took (``groups.pipeline.times``), when all is read and at the end;
* ``{"type": "spark_missing"}`` before the error where the import needs Spark, and its packages are not installed;
* ``{"type": "finished", "groups": n}``: so many were finished by an earlier attempt, where the request has ``resume``
  (``groups.pipeline.folding.finished``);
* last ``{"type": "done", "records": {…}}``, or ``{"type": "error", "message": "one line"}``.

Entries go from the tasks into the store and never through here. It then waits for the next request, with its Spark
session open if it has one, and ends when its standard input does, or as ``warm`` decides.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from groups.child_side import Lines
from groups.packs.files import let_group_read, open_files
from groups.pipeline.engine import AUTO, SPARK, Choice, Engine, choose
from groups.pipeline.folding.context import Context, EarlierTimeline
from groups.pipeline.folding.finished import Finished, Line, finished_in, key_of
from groups.pipeline.local.engine import LocalEngine, workers_for
from groups.pipeline.local.memory import BadSize
from groups.pipeline.progress import READING_SHARE, Counting, Progress
from groups.pipeline.reading.buckets import CannotFetch, fetched
from groups.pipeline.reading.recognising import READ, FileKind
from groups.pipeline.reading.rows import Wanted
from groups.pipeline.reading.splitting import Listing, list_sources
from groups.pipeline.reading.tasks import Task, tasks_of
from groups.pipeline.reading.transactions import LeftOut
from groups.pipeline.report import Findings
from groups.pipeline.spark.warm import WarmSession, answer_requests
from groups.pipeline.topics.naming import BadTopicsFile, read_topics_file
from groups.spark_ready import how_to_install, missing_packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GROUPS_EVERY_S: Final = 0.5
"""How often the groups are listed while files are read: the list has up to 2,000 of them."""


class SparkMissing(Exception):
    """The import needs Spark, whose packages are not installed; the message is one line."""


def main() -> int:
    return answer_requests(run, work="import", refusals=(BadTopicsFile, CannotFetch, SparkMissing, BadSize))


def run(request: Mapping[str, Any], lines: Lines, warm: WarmSession) -> None:
    """One whole import."""
    progress = Progress(lines)
    topics = read_topics_file(request.get("topics") or {})
    progress.publish("Recognising")
    scratch = scratch_of(request)
    paths = fetched(request["paths"], scratch)
    listing = list_sources(paths, scratch=scratch and scratch / "archives")
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
    size = sum(source.bytes for source in listing.sources if source.kind in READ)
    master = request.get("master") or None
    choice = choose(request.get("engine") or AUTO, size=size, master=master)
    lines.say({"type": "engine", **choice._asdict()})
    engine = engine_of(choice, size, lambda: warm.session(master), progress)
    try:
        lines.say(import_with(engine, listing, topics, request, progress, expected))
    finally:
        engine.close()


def engine_of(choice: Choice, size: int, session: Callable[[], SparkSession], progress: Progress) -> Engine:
    """The chosen engine, started. Raises ``SparkMissing``, and what the session raises."""
    if choice.engine != SPARK:
        return LocalEngine(workers_for(size))
    if missing := missing_packages():
        progress.lines.say({"type": "spark_missing"})
        raise SparkMissing(f"This import needs Spark ({choice.why}). {how_to_install(missing)}")
    progress.publish("Starting Spark")
    from groups.pipeline.spark_engine import SparkEngine

    return SparkEngine(session())


def scratch_of(request: Mapping[str, Any]) -> Path | None:
    """The folder that archives are unpacked into; who asks removes it."""
    return Path(request["scratch"]) if request.get("scratch") else None


def import_with(
    engine: Engine,
    listing: Listing,
    topics: tuple[Mapping[str, str], Mapping[str, int]],
    request: Mapping[str, Any],
    progress: Progress,
    expected: int,
) -> dict[str, Any]:
    """Both stages on an engine, which the caller closes; gives back the last message."""
    groups = request.get("groups")
    wanted = Wanted(groups=None if groups is None else frozenset(groups), until_ms=request.get("until_ms"))
    tasks = tasks_of(listing.splits)
    findings = read_stage(engine, listing, tasks, wanted, progress, expected)
    progress.lines.say({"type": "records", "records": findings.records_report()})
    progress.lines.say({"type": "times", "times": findings.times.report()})
    key = key_of(source.bytes for source in listing.sources) if request.get("resume") else ""
    finished = finished_in(open_files(request["store"]), request["folder"], key) if key else Finished()
    if finished.groups:
        progress.lines.say({"type": "finished", "groups": len(finished.groups)})
    context = Context(
        resume=key,
        finished=finished.groups,
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
    more = fold_stage(engine, context, findings, progress, finished.lines)
    return {"type": "done", "records": findings.records_report(more)}


def earlier_of(document: Mapping[str, Any]) -> dict[str, tuple[EarlierTimeline, ...]]:
    return {group: tuple(EarlierTimeline(**one) for one in some) for group, some in document.items()}


def read_stage(
    engine: Engine,
    listing: Listing,
    tasks: list[Task],
    wanted: Wanted,
    progress: Progress,
    expected: int,
) -> Findings:
    """Reads every split once, and gathers what the tasks found. Groups are listed as soon as one task has ended."""
    findings = Findings(listing)
    progress.publish("Reading")

    def look() -> None:
        # Tasks have about one size, so that their number estimates the records closely; the end has them exactly.
        done = engine.tasks_done()
        progress.set("Read", expected * done // len(tasks), expected, "records")
        progress.reach(READING_SHARE * done / len(tasks))

    listed_s = time.monotonic()
    with Counting(progress, look):
        for kind, source, payload in engine.read(tasks, wanted):
            findings.add(kind, source, payload)
            if time.monotonic() - listed_s >= GROUPS_EVERY_S:
                list_groups(findings, progress)
                listed_s = time.monotonic()
    list_groups(findings, progress)
    # What the tasks had counted was expected, not read; a short import ends before anything was counted.
    progress.stages.pop("Read", None)
    progress.set("Read", findings.read, findings.read, "records")
    progress.reach(READING_SHARE)
    progress.publish("Read")
    return findings


def list_groups(findings: Findings, progress: Progress) -> None:
    progress.lines.say(
        {"type": "groups", "groups": findings.group_list(), "found": len(findings.group_hashes)}
    )


def fold_stage(
    engine: Engine, context: Context, findings: Findings, progress: Progress, finished: Sequence[Line]
) -> list[dict[str, Any]]:
    """Has the tasks fold and store; hands on what they, or an earlier attempt, report of each timeline. What is to be listed among the skipped."""
    more: list[dict[str, Any]] = []
    groups, stored = len(findings.group_hashes), 0
    progress.set("Folded", 0, groups, "groups")
    progress.set("Stored", 0, None, "timelines")
    progress.publish("Folding")

    def look() -> None:
        done = min(engine.groups_done(), groups)
        progress.set("Folded", done, groups, "groups")
        progress.reach(READING_SHARE + (1 - READING_SHARE) * done / max(groups, 1))

    folded = engine.fold(
        context, fill_partitions=findings.some_partitions_unknown, bytes_read=progress.bytes_read
    )
    with Counting(progress, look):
        for kind, payload in chain(((line.kind, line.payload.encode()) for line in finished), folded):
            message = orjson.loads(payload)
            match kind:
                case "timeline":
                    stored += 1
                    progress.set("Stored", stored, None, "timelines")
                    progress.lines.say({"type": "timeline", **message})
                case "repeated":
                    more += message["conflicts"]
                    progress.lines.say({"type": "repeated", **message})
                case "left_out":
                    known = findings.left_out.setdefault((message["source"], message["outcome"]), LeftOut())
                    known.merge(message["records"], message["first"], message["last"])
                case "times":
                    findings.times.merge(message)
    progress.set("Folded", groups, groups, "groups")
    progress.set("Stored", stored, stored, "timelines")
    progress.reach(1.0)
    progress.publish("Done")
    progress.lines.say(
        {
            "type": "times",
            "times": findings.times.report(),
            "executors_lost": engine.executors_lost(),
        }
    )
    return [{"last_offset": conflict["offset"], "normal": False, **conflict} for conflict in more]


if __name__ == "__main__":
    sys.exit(main())
