"""The table in ``docs/reference/prometheus.md``: ``python -m tests.house.prometheus_page write`` writes it."""

from __future__ import annotations

import re
import sys
from typing import Final

from explorer.server.metrics.table import TABLE
from tests.house import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "prometheus.md"
_HEAD: Final = "| metric | type | labels | of | what it is |\n|---|---|---|---|---|\n"


def text() -> str:
    """The page with the table as it is to be; what is around it stays."""
    before, _, after = PAGE.read_text(encoding="utf-8").partition(_HEAD)
    rows = "".join(
        f"| `{each.full_name}{'_total' if each.kind == 'counter' else ''}` | {each.kind} | "
        f"{', '.join(f'`{label}`' for label in each.labels)} | {each.source} | {each.about} |\n"
        for each in TABLE
    )
    return before + _HEAD + rows + re.sub(r"\A(?:\|.*\n)*", "", after)


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        PAGE.write_text(text(), encoding="utf-8")
