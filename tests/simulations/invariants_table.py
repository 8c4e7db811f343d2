"""The table of invariants in the reference."""

from __future__ import annotations

from collections.abc import Iterable

from simulations.invariants import INVARIANTS, Invariant


def as_table(invariants: Iterable[Invariant] = tuple(INVARIANTS.values())) -> str:
    """The table in Markdown."""
    rows = [
        "| # | Name | Invariant | Source | Exceptions, and where `kip` and `kafka` differ |",
        "|---|---|---|---|---|",
    ]
    rows += [f"| {i.number} | `{i.name}` | {i.statement} | {i.source} | {i.apart} |" for i in invariants]
    return "\n".join(rows) + "\n"
