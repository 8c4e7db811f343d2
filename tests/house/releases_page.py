"""The table of rules in ``docs/reference/releases.md``: ``python -m tests.house.releases_page write`` writes it."""

from __future__ import annotations

import re
import sys
from typing import Final

from groups.releases import TABLE
from tests.house import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "releases.md"
_HEAD: Final = "| rule | since | before | from then on | source |\n|---|---|---|---|---|\n"


def text() -> str:
    """The page with the table as it is to be; what is around it stays."""
    rows = "".join(
        f"| `{rule.name}` | {rule.since} | {rule.before} | {rule.now} | {rule.source} |\n" for rule in TABLE
    )
    return re.sub(re.escape(_HEAD) + r"(?:\|.*\n)*", lambda _: _HEAD + rows, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(text(), encoding="utf-8")
