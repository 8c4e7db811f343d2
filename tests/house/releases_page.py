"""The tables of rules in ``docs/reference/releases.md``: ``python -m tests.house.releases_page write`` writes it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Final

from groups.releases import OLDER, TABLE
from groups.releases.table import Rule
from tests.house import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "releases.md"
_HEAD: Final = "| rule | since | before | from then on | source |\n|---|---|---|---|---|\n"


_OLDER_HEAD: Final = "| older rule | since | before | from then on | source |\n|---|---|---|---|---|\n"


def text() -> str:
    """The page with the tables as they are to be; what is around them stays."""
    page = PAGE.read_text(encoding="utf-8")
    for head, rules in ((_HEAD, TABLE), (_OLDER_HEAD, OLDER)):
        before, _, after = page.partition(head)
        page = before + head + _rows(rules) + re.sub(r"\A(?:\|.*\n)*", "", after)
    return page


def _rows(rules: Iterable[Rule]) -> str:
    return "".join(
        f"| `{rule.name}` | {rule.since} | {rule.before} | {rule.now} | {rule.source} |\n" for rule in rules
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(text(), encoding="utf-8")
