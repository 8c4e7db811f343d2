"""What a program asks most often, by name; ``get`` and ``send`` ask everything else that ``/api/openapi.json`` lists."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any, Final

from .connection import ApiError, Connection
from .rows import (
    EntryRow,
    FindingRow,
    MotifRow,
    NoteRow,
    OwnerRow,
    RebalanceRow,
    TimelineRow,
    finding_row,
    link,
    motif_row,
    note_row,
    owner_rows,
    rebalance_row,
    timeline_row,
)

ENTRIES_AT_ONCE: Final = 2_000
"""As many as the server gives in one answer."""

LOOK_EVERY_S: Final = 0.5

AT_WORK: Final = ("waiting", "running")


class Client(Connection):
    """A server of Rebalance Explorer. ``token``: the server's, or one of an account."""

    def timelines(self) -> list[TimelineRow]:
        """All timelines, the newest first."""
        return [timeline_row(each, self.url) for each in self.listed("/api/timelines")]

    # ``Any``: rows and answers as the API has them.
    def listed(self, path: str) -> Iterator[dict[str, Any]]:
        """The rows of a list that comes in pages (``after``), such as ``/api/imports``; ``ValueError`` for what is no list."""
        seen, before = 0, None
        # A list that has no pages gives all of it again.
        while (page := self.get(path, {"after": seen})) and page != before:
            if not isinstance(page, list):
                raise ValueError(f"{path} is no list in pages: ask for it by get().")
            yield from page
            seen, before = seen + len(page), page

    def kept(self, **filters: object) -> Iterator[dict[str, Any]]:
        """Rows of the page *Timelines* that fit (``q``, ``source``, ``group``, ``author``, ``trouble``, ``days``, ``sort``, …), page by page."""
        seen = 0
        while True:
            page = self.get("/api/kept", {**filters, "after": seen})
            yield from page["rows"]
            seen += len(page["rows"])
            if not page["rows"] or seen >= page["matching"]:
                return

    def groups(self, *, source_import: str | None = None, cluster: str | None = None) -> list[dict[str, Any]]:
        """What is wrong, group by group, the gravest first; of one import or cluster if named."""
        rows: list[dict[str, Any]] = []
        while True:
            query = {"import": source_import, "cluster": cluster, "after": len(rows)}
            page = self.get("/api/groups", query)
            rows += page["rows"]
            if not page["rows"] or len(rows) >= page["matching"]:
                return rows

    def timeline(self, timeline: str) -> dict[str, Any]:
        """One timeline with its summary."""
        found: dict[str, Any] = self.get(self.address(timeline))
        return found

    def verdict(self, timeline: str) -> str:
        """What happened, in sentences; empty while it is not known yet."""
        text: str = timeline_row(self.timeline(timeline), self.url)["verdict"]
        return text

    def findings(self, timeline: str) -> list[FindingRow]:
        summary = self.timeline(timeline).get("summary") or {}
        return [finding_row(each, timeline, self.url) for each in summary.get("findings", [])]

    def rebalances(self, timeline: str) -> list[RebalanceRow]:
        """The table of rebalances, with what each cost."""
        rows = self.get(self.address(timeline, "/rebalances"))["rebalances"]
        return [rebalance_row(each, timeline, self.url) for each in rows]

    def motifs(self, timeline: str) -> list[MotifRow]:
        """What happened several times to the same member or partition. Waits until the log is opened."""
        while not (found := self.get(self.address(timeline, "/motifs")))["is_known"]:
            time.sleep(LOOK_EVERY_S)
        return [motif_row(one, timeline, self.url) for one in found["motifs"]]

    def frame(self, timeline: str, at: int | None = None) -> dict[str, Any]:
        """The group after an entry; after the last one if none is named."""
        found: dict[str, Any] = self.get(self.address(timeline, "/frame"), {"at": at})
        return found

    def owners(self, timeline: str, at: int | None = None) -> list[OwnerRow]:
        """Who reads each partition after an entry, and who is to."""
        return owner_rows(self.frame(timeline, at))

    def entries(self, timeline: str, first: int = 1, last: int | None = None) -> Iterator[EntryRow]:
        """Entries as they were recorded, asked for as they are read."""
        end = self.timeline(timeline)["last"] if last is None else last
        for begin in range(first, end + 1, ENTRIES_AT_ONCE):
            query = {"from": begin, "to": min(begin + ENTRIES_AT_ONCE - 1, end)}
            yield from self.get(self.address(timeline, "/entries"), query)["entries"]

    def notes(self, timeline: str) -> list[NoteRow]:
        """Notes, questions and replies by their moments."""
        rows = self.listed(self.address(timeline, "/notes"))
        return [note_row(each, timeline, self.url) for each in rows]

    def write_note(self, timeline: str, text: str, at: int, *, kind: str = "note") -> str:
        """Writes a note, or a ``question``, at an entry; its id, to which ``parent`` of a reply leads (``send``)."""
        asked = {"text": text, "at": at, "kind": kind}
        made: str = self.send("POST", self.address(timeline, "/notes"), asked)["id"]
        return made

    def next_assignment(
        self, timeline: str, at: int | None = None, *, leaves: str | None = None, joins: bool = False
    ) -> dict[str, Any]:
        """The assignment that the group would get next, also if a member left or another joined."""
        query = {"at": at, "leaves": leaves, "joins": 1 if joins else None}
        found: dict[str, Any] = self.get(self.address(timeline, "/assignment"), query)
        return found

    def decode(self, text: str) -> dict[str, Any]:
        """Bytes as hex, a dump or base64, field by field."""
        found: dict[str, Any] = self.send("POST", "/api/inspect", {"text": text})
        return found

    def run(self, scenario: str, **options: object) -> str:
        """Runs a scenario, by the name of a sample or as YAML; waits for its end and returns the timeline's id."""
        made: str = self.send("POST", "/api/runs", {"scenario": scenario, **options})["id"]
        self.wait(self.address(made))
        return made

    def remedies(self, timeline: str, at: int, *, seeds: int = 20) -> dict[str, Any]:
        """What would have helped from an entry on: searches, waits for the end, and returns the rows with the search."""
        asked = {"at": at, "seeds": seeds}
        search = self.send("POST", self.address(timeline, "/remedies"), asked)["id"]
        return self.wait(f"/api/remedies/{search}")

    def wait(self, path: str, *, timeout_s: float = 600.0) -> dict[str, Any]:
        """What is at work at an address, once it has ended. Raises ``ApiError`` if it failed, ``TimeoutError`` if it takes longer."""
        ends = time.monotonic() + timeout_s
        while (found := self.get(path))["status"] in AT_WORK:
            if time.monotonic() > ends:
                raise TimeoutError(f"{path} is {found['status']} after {timeout_s:.0f} s.")
            time.sleep(LOOK_EVERY_S)
        if found["status"] == "failed":
            raise ApiError(200, {"code": "failed", "message": found.get("problem") or "It failed."})
        ended: dict[str, Any] = found
        return ended

    def link(self, timeline: str, sequence: int = 0) -> str:
        """The page of a timeline, at an entry."""
        return link(self.url, timeline, sequence)

    @staticmethod
    def address(timeline: str, of: str = "") -> str:
        """The address of a timeline, or of something of it. An agent may name as one what leads elsewhere."""
        if not re.fullmatch(r"[A-Za-z0-9_-]+", timeline):
            raise ValueError(f"{timeline[:100]!r} is no timeline's id, which has letters, digits, - and _.")
        return f"/api/timelines/{timeline}{of}"
