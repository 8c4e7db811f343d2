"""Imports of broken inputs through the command that users have, and what each case was answered."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.pipeline.broken.case import Case, Place

ROOT: Final = Path(__file__).resolve().parents[3]
LIMIT_S: Final = 300

FOREIGN_GROUPS: Final = ("tx-1", "wrapped")
"""Names in files of which nothing is to become a timeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One run of ``import_log``; ``skipped`` and ``timelines`` are the report's, which is empty if there was none."""

    code: int
    errors: str
    report: dict[str, Any]

    @property
    def skipped(self) -> list[dict[str, Any]]:
        return list(self.report.get("records", {}).get("skipped", ()))

    @property
    def timelines(self) -> dict[str, dict[str, Any]]:
        return {told["group"]: told for told in self.report.get("timelines", ())}

    def skipped_of(self, place: Place) -> list[dict[str, Any]]:
        """The rows about a case's files: its partitions' numbers stand in their folders' names or in their own."""
        own = range(place.partition, place.partition + 9)
        return [
            row
            for row in self.skipped
            if str(place.root) in row["file"]
            or any(int(number) in own for number in re.findall(r"[0-9]+", row["file"]))
        ]


class Importer:
    """``manage.py`` on a database of its own in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "DATABASE_URL": f"sqlite:///{folder / 'broken.sqlite3'}"}
        done = self.manage("migrate", "--verbosity", "0")
        if done.returncode:
            raise RuntimeError(done.stderr)

    def manage(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *words],
            env=self.environment, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False,
        )  # fmt: skip

    def take(self, *paths: Path) -> Import:
        done = self.manage("import_log", *map(str, paths))
        try:
            report = json.loads(done.stdout) if done.stdout.strip() else {}
        except ValueError:
            report = {"unreadable": done.stdout}
        return Import(code=done.returncode, errors=done.stderr, report=report)

    def stored(self) -> list[str]:
        """The ids of all timelines."""
        return sorted(json.loads(line)["id"] for line in self.manage("timeline", "list").stdout.splitlines())


def placed(root: Path, cases: Sequence[tuple[int, Case]], *, good: bool = True) -> dict[str, Place]:
    """Writes the files of numbered cases; beside those of which nothing is to be kept stands a good segment."""
    places = {}
    for number, case in cases:
        place = places[case.name] = Place(root, case, number)
        case.make(place)
        if good and not case.keeps:
            place.put_good()
    return places


def complaints(case: Case, place: Place, done: Import) -> list[str]:
    """What of the case's promises an import broke."""
    rows = done.skipped_of(place)
    reasons = " | ".join(row["reason"] for row in rows)
    out = []
    if case.reason is None and rows:
        out.append(f"nothing is to be skipped, and this was: {reasons}")
    if case.reason is not None and not re.search(case.reason, reasons, re.IGNORECASE):
        out.append(f"no reason says {case.reason!r}: {reasons or 'none was given'}")
    out += [
        f"group {place.name(word)} is missing"
        for word in case.keeps
        if place.name(word) not in done.timelines
    ]
    backwards = [
        gap
        for word in ("before", "hit", "after")
        for gap in done.timelines.get(place.name(word), {}).get("gaps", ())
        if gap["to_offset"] < gap["from_offset"]
    ]
    if backwards:
        out.append(f"gaps that end before they begin: {backwards}")
    if case.alone == 2:
        out += [f"{group} became a timeline" for group in done.timelines if group in FOREIGN_GROUPS]
    if any("\n" in row["reason"] for row in rows):
        out.append(f"a reason of several lines: {reasons}")
    if re.search(r"\b[A-Z]\w*(Error|Exception)\b", reasons):
        out.append(f"a reason names an exception: {reasons}")
    if "Traceback" in done.errors:
        out.append(f"a traceback: {done.errors[-1_500:]}")
    return out
