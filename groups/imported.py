"""The receiving end of an import: takes the child's messages in order, stores batches, keeps the report."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from groups import storage
from groups.history.recorder import Batch
from groups.models import Timeline

GAPS_TOLD_MOST = 100
"""Gaps of one timeline that a report lists; all of them are in its entries."""


@dataclass(slots=True)
class Receiving:
    """One timeline while it comes in."""

    writer: storage.Writer
    told: dict[str, Any]
    digest: Any = field(default_factory=hashlib.sha256)


@dataclass(slots=True, kw_only=True)
class Received:
    """What has come of an import so far. ``progress`` and ``report()`` are JSON."""

    import_id: str
    owner: str
    progress: dict[str, Any] = field(default_factory=lambda: {"stage": "Starting", "stages": []})
    timelines: list[dict[str, Any]] = field(default_factory=list)
    records: dict[str, Any] = field(default_factory=lambda: {"read": 0, "decoded": 0, "skipped": []})
    repeated: int = 0
    stage_began: bool = False
    open: dict[str, Receiving] = field(default_factory=dict)

    def take(self, message: Mapping[str, Any]) -> None:
        """One message of ``groups.pipeline.job``."""
        match message["type"]:
            case "progress":
                self.stage_began = message["stage"] != self.progress.get("stage")
                self.progress |= {"stage": message["stage"], "stages": message["stages"]}
            case "sources" | "groups" as kind:
                self.progress[kind] = message[kind]
                self.stage_began = True
            case "timeline":
                self.begin(message)
            case "batch":
                self.append(message)
            case "folded":
                self.end(message)
            case "repeated":
                self.repeated += message["records"]
            case "records" | "done":
                self.records = dict(message["records"])

    def begin(self, message: Mapping[str, Any]) -> None:
        group, incarnation = str(message["group"]), int(message["incarnation"])
        timeline = storage.create_timeline(
            title=group if incarnation == 1 else f"{group} (created again, {incarnation})",
            source=Timeline.Source.IMPORT,
            group=group,
            made_by_id=self.import_id,
        )
        self.open[message["timeline"]] = Receiving(
            writer=storage.open_writer(timeline.id, self.owner),
            told={"id": timeline.id, "group": group, "incarnation": incarnation},
        )

    def append(self, message: Mapping[str, Any]) -> None:
        receiving = self.open[message["timeline"]]
        batch = Batch.from_line(message)
        receiving.writer.append(batch)
        receiving.digest.update(batch.entries)
        summary = batch.summary
        receiving.told |= {
            "protocol": summary["protocol"],
            "entries": summary["entries"],
            "first_ms": summary["first_ms"],
            "last_ms": summary["last_ms"],
            "gaps": summary["gaps"][:GAPS_TOLD_MOST],
        }

    def end(self, message: Mapping[str, Any]) -> None:
        receiving = self.open.pop(message["timeline"])
        receiving.writer.finish(Timeline.Status.COMPLETE)
        self.timelines.append(
            receiving.told
            | {
                "deleted": message["deleted"],
                "named": message["named"],
                "nameless": message["nameless"],
                "digest": receiving.digest.hexdigest(),
            }
        )

    def close(self, problem: str) -> None:
        """End what was left open: its entries are whole as far as they go."""
        for receiving in self.open.values():
            # Someone may have cancelled or deleted it, and told so.
            with contextlib.suppress(storage.StorageError):
                receiving.writer.finish(Timeline.Status.INTERRUPTED, problem)
        self.open.clear()

    def report(self) -> dict[str, Any]:
        """What came of it: the form of ``manage.py import_log`` with what the page shows beside it."""
        return {"timelines": self.timelines, "records": self.records, "repeated": self.repeated}

    def counts(self) -> dict[str, Any]:
        """What is pushed to open pages: small, whatever the import's size."""
        return {
            "stage": self.progress["stage"],
            "stages": self.progress["stages"],
            "timelines": len(self.timelines),
        }
