"""The table in ``docs/reference/roles.md``: ``python -m tests.access.roles_page write`` writes it."""

from __future__ import annotations

import re
import sys
from typing import Final

from explorer.accounts.permissions import TABLE, Role
from tests.house import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "roles.md"
_HEAD: Final = "| to | viewer | editor | admin |\n|---|---|---|---|\n"


def text() -> str:
    """The page with the table as it is to be; what is around it stays."""
    before, _, after = PAGE.read_text(encoding="utf-8").partition(_HEAD)
    rows = "".join(
        f"| {each.does} | {' | '.join(_cell(role, each.own, each.others) for role in Role)} |\n"
        for each in TABLE.values()
    )
    return before + _HEAD + rows + re.sub(r"\A(?:\|.*\n)*", "", after)


def _cell(role: Role, own: Role, others: Role) -> str:
    return "yes" if role >= others else "their own" if role >= own else "–"


if __name__ == "__main__" and sys.argv[1:] == ["write"]:
    PAGE.write_text(text(), encoding="utf-8")
