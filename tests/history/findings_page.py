"""The tables of ``docs/reference/findings.md``, made of what the finders declare.

python -m tests.history.findings_page write      the page anew
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Final

from groups.history.findings.declaring import Section
from groups.history.findings.patterns.pattern import (
    CALLBACKS,
    COMMITS,
    RECORDS,
    REQUESTS,
    TIMERS,
    DeclaredPattern,
    Pattern,
)
from groups.history.findings.registry import finders, rows
from tests.house import ROOT

SOURCE_NAMES: Final = {
    RECORDS: "the records of __consumer_offsets",
    COMMITS: "the committed offsets",
    REQUESTS: "the request log",
    TIMERS: "the coordinator's log",
    CALLBACKS: "the clients' logs",
}
"""Where a team has each source from."""

PAGE: Final = ROOT / "docs" / "reference" / "findings.md"

INCIDENTS: Final = "Incident patterns"

TABLE: Final = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def text() -> str:
    """The page as it is to be: what stands around the tables is as somebody wrote it."""
    parts = re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    made = {f"## {section.value}\n": _findings(section) for section in Section}
    made[f"## {INCIDENTS}\n"] = _patterns()
    return "".join(_with_table(part, made) for part in parts)


def _with_table(part: str, made: dict[str, str]) -> str:
    table = next((one for heading, one in made.items() if part.startswith(heading)), None)
    return part if table is None else TABLE.sub(lambda _: table, part, count=1)


def _findings(section: Section) -> str:
    patterns = {kind for one in _declared() for kind in (one.kind,)}
    chosen = [row for row in rows() if row.section is section and not patterns & set(row.kinds)]
    heads = {
        Section.HAPPENED: ("kind", "what it says", "needs"),
        Section.PATTERNS: ("kind", "when it is said"),
    }
    columns = heads.get(section, ("kind", "what it says"))
    cells = [
        [", ".join(f"`{kind}`" for kind in row.kinds), row.meaning, row.needs][: len(columns)]
        for row in chosen
    ]
    return _table(columns, cells)


def _patterns() -> str:
    columns = (
        "pattern",
        "what to look for",
        "severity",
        "any of these shows it",
        "usual causes",
        "where to look",
    )
    cells = [
        [
            f"**{one.title}** `{one.kind}`",
            one.look_for + (f". *Proposal and release:* {one.differs}" if one.differs else ""),
            str(one.severity),
            "; or ".join(" and ".join(SOURCE_NAMES[source] for source in each) for each in one.sources),
            "; ".join(one.causes),
            "; ".join(one.look_at),
        ]
        for one in _declared()
    ]
    return _table(columns, cells)


def _declared() -> list[Pattern]:
    found = [each.pattern for each in finders() if isinstance(each, DeclaredPattern)]
    return sorted(found, key=lambda one: one.rank)


def _table(columns: Iterable[str], cells: Iterable[Iterable[str]]) -> str:
    heads = list(columns)
    lines = [heads, ["---"] * len(heads), *map(list, cells)]
    return (
        "".join(f"| {' | '.join(line)} |\n" for line in lines)
        .replace("| --- ", "|---")
        .replace("--- |", "---|")
    )


if __name__ == "__main__":
    if sys.argv[1:] != ["write"]:
        sys.exit("usage: python -m tests.history.findings_page write")
    PAGE.write_text(text(), encoding="utf-8")
