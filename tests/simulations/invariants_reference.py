"""The names of invariants: as the tables of the reference list them, one for each kind of group, and as the checkers report them."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from typing import Final

from tests.house import ROOT

_HEAD: Final = "| # | Name | Invariant |"
_ROW: Final = re.compile(r"^\| [^|]+ \| `(\w+)` \| [^|]+ \| [^|]+ \|", re.MULTILINE)


def _tables(page: str) -> list[frozenset[str]]:
    text = (ROOT / "docs/reference" / page).read_text(encoding="utf-8")
    return [frozenset(_ROW.findall(table.split("\n\n")[0])) for table in text.split(_HEAD)[1:]]


CONSUMER, CLASSIC, OPERATIONS, MIXED, MEMBERS, ACLS, CONSUMPTION, SERVED = _tables("invariants.md")
(CLASSIC_GROUP,) = _tables("classic-coordinator.md")

EVERY: Final = CONSUMER.union(CLASSIC, OPERATIONS, MIXED, MEMBERS, ACLS, CONSUMPTION, SERVED, CLASSIC_GROUP)


def reported() -> tuple[set[str], set[str]]:
    """What is the first argument of a ``Violations.add`` in the checkers, and every text in them: some go through a helper."""
    found: set[str] = set()
    texts: set[str] = set()
    for path in sorted((ROOT / "simulations/invariants").glob("*.py")):
        if path.stem == "invariants":
            continue
        module, tree = (
            import_module(f"simulations.invariants.{path.stem}"),
            ast.parse(path.read_text("utf-8")),
        )
        texts |= {str(part.value) for part in ast.walk(tree) if isinstance(part, ast.Constant)}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add" and len(call.args) >= 3:
                name = call.args[0]
                of = (
                    name.value
                    if isinstance(name, ast.Constant)
                    else getattr(module, getattr(name, "id", ""), 0)
                )
                found |= {of} if isinstance(of, str) else set()
    return found, texts
