"""The receiving end of an import: takes the child's messages in order, and stores their contents when all is there."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from groups.packs.listed_summary import plain
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.times import Times, in_words
from groups.storage import importing

log = logging.getLogger(__name__)

NEXT_TRY: Final = (
    "Give the files of a folder __consumer_offsets-N from a broker's disk, named as 00000000000000000000.log, "
    "the folder packed as .tar.gz or .zip, or what kafka-dump-log prints of it with --print-data-log --offsets-decoder."
)
"""What would have been right, where nothing that was given could be read."""


@dataclass(slots=True, kw_only=True)
class Received:
    """What has come of an import so far. ``progress`` and ``report()`` are JSON."""

    import_id: str
    progress: dict[str, Any] = field(default_factory=lambda: {"stage": "Starting", "stages": []})
    timelines: list[dict[str, Any]] = field(default_factory=list)
    records: dict[str, Any] = field(default_factory=lambda: {"read": 0, "decoded": 0, "skipped": []})
    repeated: int = 0
    times: Times = field(default_factory=Times)
    engine: dict[str, str] = field(default_factory=dict)
    """``engine`` and ``why``: how it is read, once that is chosen."""

    spark_missing: bool = False
    """It needs Spark, whose packages are not installed."""

    stage_began: bool = False
    messages: list[Mapping[str, Any]] = field(default_factory=list)
    """Timelines whose packs are whole, and whose rows are stored at the end."""

    def take(self, message: Mapping[str, Any]) -> None:
        """One message of ``groups.pipeline.job``."""
        match message["type"]:
            case "progress":
                self.stage_began = message["stage"] != self.progress.get("stage")
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
            case "repeated":
                self.repeated += message["records"]
            case "times":
                self.times.merge(message["times"])
            case "records" | "done":
                self.records = plain(dict(message["records"]))

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
            "times": self.times.report(),
            "engine": self.engine or None,
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
            name: self.progress.get(name) for name in ("stage", "stages", "bytes", "remaining_s", "found")
        }
        return shown | {"timelines": len(self.timelines)}
