"""The tables of ``docs/reference/findings.md``: that of incident patterns is made of what their finders declare.

python -m tests.history.findings_page write      the page anew
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Final

from groups.history.findings.patterns.pattern import (
    CALLBACKS,
    COMMITS,
    RECORDS,
    REQUESTS,
    TIMERS,
    DeclaredPattern,
    Pattern,
)
from groups.history.findings.registry import finders
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
    """The page as it is to be: what stands around the table of patterns is as somebody wrote it."""
    before, heading, after = PAGE.read_text(encoding="utf-8").partition(f"## {INCIDENTS}\n")
    return before + heading + TABLE.sub(lambda _: _patterns(), after, count=1)


def described() -> dict[str, str]:
    """The kinds that the page has in its other tables, each with what it is read from, empty in a table that does not list that."""
    page = PAGE.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for table in TABLE.findall(page):
        heads, _, *lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
        if heads[0] == "kind":
            for cells in lines:
                kinds = re.findall(r"`(\w+)`", cells[0])
                found |= dict.fromkeys(kinds, cells[2] if "needs" in heads else "")
    return found


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
