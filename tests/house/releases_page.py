"""The tables of rules in ``docs/reference/releases.md``: ``python -m tests.house.releases_page write`` writes that of simulated releases."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Final

from groups.releases import TABLE
from groups.releases.table import Rule
from tests.house import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "releases.md"
_HEAD: Final = "| rule | since | before | from then on | source |\n|---|---|---|---|---|\n"


_OLDER_HEAD: Final = "| older rule | since | before | from then on | source |\n|---|---|---|---|---|\n"


def text() -> str:
    """The page with the table as it is to be; what is around it stays."""
    before, _, after = PAGE.read_text(encoding="utf-8").partition(_HEAD)
    return before + _HEAD + _rows(TABLE) + re.sub(r"\A(?:\|.*\n)*", "", after)


def older() -> dict[str, str]:
    """The older rules that the page describes, each with its first release."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition(_OLDER_HEAD)
    return dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", table.split("\n\n")[0], re.MULTILINE))


def _rows(rules: Iterable[Rule]) -> str:
    return "".join(
        f"| `{rule.name}` | {rule.since} | {rule.before} | {rule.now} | {rule.source} |\n" for rule in rules
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(text(), encoding="utf-8")
