"""The receiving end of an import: takes the child's messages in order, and stores their contents when all is there."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from groups.one_line import kept_lines
from groups.packs.listed_summary import plain
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.times import Times, in_words
from groups.storage import importing

log = logging.getLogger(__name__)

STUCK_S: Final = 300
"""A large group is folded for minutes in which no count changes; the parts of a healthy import do not take so long."""

NEXT_TRY: Final = (
    "Give the files of a folder __consumer_offsets-N from a broker's disk, named as 00000000000000000000.log, "
    "the folder packed as .tar.gz or .zip, or what kafka-dump-log prints of it with --print-data-log --offsets-decoder."
)
"""What would have been right, where nothing that was given could be read."""


@dataclass(slots=True, kw_only=True)
class Received:
    """What has come of an import so far. ``progress`` and ``report()`` are JSON."""

    import_id: str
    attempt: int = 0
    """Which worker's attempt it is; 0 for a command."""

    progress: dict[str, Any] = field(default_factory=lambda: {"stage": "Starting", "stages": []})
    timelines: list[dict[str, Any]] = field(default_factory=list)
    records: dict[str, Any] = field(default_factory=lambda: {"read": 0, "decoded": 0, "skipped": []})
    repeated: int = 0
    finished: int = 0
    """Groups that an earlier attempt had finished."""

    times: Times = field(default_factory=Times)
    engine: dict[str, Any] = field(default_factory=dict)
    """``name`` and ``why``: how it is read, once that is chosen; ``executors_lost`` where some were."""

    spark_missing: bool = False
    """It needs Spark, whose packages are not installed."""

    log: list[str] = field(default_factory=list)
    """The last lines of Spark's log, or of the child's, where the import failed."""

    moved_s: float = field(default_factory=time.monotonic)
    """When a count or the stage last changed."""

    stage_began: bool = False
    messages: list[Mapping[str, Any]] = field(default_factory=list)
    """Timelines whose packs are whole, and whose rows are stored at the end."""

    def take(self, message: Mapping[str, Any]) -> None:
        """One message of ``groups.pipeline.job``."""
        match message["type"]:
            case "progress":
                self.stage_began = message["stage"] != self.progress.get("stage")
                if self.stage_began or message["stages"] != self.progress.get("stages"):
                    self.moved_s = time.monotonic()
                    self.progress.pop("stuck", None)
                counts = {name: message[name] for name in ("stage", "stages", "bytes", "remaining_s")}
                self.progress |= counts
            case "sources":
                self.progress["sources"] = plain(message["sources"])
                self.stage_began = True
            case "engine":
                self.engine = {"name": str(message["engine"]), "why": str(message["why"])}
            case "spark_missing":
                self.spark_missing = True
            case "groups":
                self.progress |= {"groups": plain(message["groups"]), "found": message["found"]}
                self.stage_began = True
            case "timeline":
                self.messages.append(message)
            case "finished":
                self.finished = message["groups"]
            case "repeated":
                self.repeated += message["records"]
            case "times":
                self.times = Times()
                self.times.merge(plain(message["times"]))
                if lost := message.get("executors_lost"):
                    self.engine["executors_lost"] = lost
            case "error":
                self.log = kept_lines(message.get("log", ()))
            case "records" | "done":
                self.records = plain(dict(message["records"]))

    def is_newly_stuck(self) -> bool:
        """Whether no count has changed for ``STUCK_S``; true once, and logged, until one does."""
        if "stuck" in self.progress or time.monotonic() - self.moved_s < STUCK_S:
            return False
        counts = ", ".join(
            f"{stage['name'].lower()} {stage['done']} of {stage['of']} {stage['unit']}"
            for stage in self.progress["stages"]
            if stage["of"]
        )
        self.progress["stuck"] = (
            f"No progress for {STUCK_S // 60} minutes or more in the stage “{self.progress['stage']}”"
            + (f" ({counts})." if counts else ".")
        )
        log.warning("Import %s: %s", self.import_id, self.progress["stuck"])
        return True

    def store(self) -> None:
        """Everything was read, and all packs are whole: the timelines are there from now on."""
        with self.times.taking("commit", len(self.messages)):
            self.timelines = importing.store(self.import_id, self.messages)
        log.info("Import %s: %s", self.import_id, in_words(self.times.report()))

    def report(self) -> dict[str, Any]:
        """What came of it: the form of ``manage.py import_log`` with what the page shows next to it."""
        return {
            "timelines": self.timelines,
            "records": self.records,
            "repeated": self.repeated,
            "finished": self.finished,
            "times": self.times.report(),
            "engine": self.engine or None,
            "log": self.log,
        }

    def nothing_read(self) -> str:
        """Why the import has nothing to show, in a sentence with the next try; empty where something was read.

        A log in which no group is that was asked for was read; so was one whose groups ended before the asked time.
        """
        if self.messages:
            return ""
        kinds = {source["kind"] for source in self.progress.get("sources", ()) if source["records"]}
        if kinds == {FileKind.METADATA}:
            return f"Nothing was read of a group: only cluster metadata was given, which names topics. {NEXT_TRY}"
        if self.records["decoded"]:
            return ""
        skipped = sorted(self.records["skipped"], key=lambda one: bool(one.get("normal")))
        if not skipped:
            return f"Nothing was read: no record of a consumer group is in it. {NEXT_TRY}"
        first = skipped[0]
        more = f" (and {len(skipped) - 1} more)" if len(skipped) > 1 else ""
        return f"Nothing was read: {first['file']}: {first['reason']}{more}. {NEXT_TRY}"

    def counts(self) -> dict[str, Any]:
        """What is pushed to open pages: small, whatever the import's size."""
        shown = {
            name: self.progress.get(name)
            for name in ("stage", "stages", "bytes", "remaining_s", "found", "stuck")
        }
        return shown | {"timelines": len(self.timelines)}
