"""Eager rebalances: in a classic group whose assignor is eager everybody stops for each rebalance.

Needs: type 2 records, which name the assignor of each generation (``range``, ``roundrobin`` and ``sticky`` are eager).
Claims: which rebalances; that every member stopped reading is inferred. Cannot know: for how long, since joining leaves no record.
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import counted


def found_eager(facts: Facts) -> list[Finding]:
    """``eager_rebalance``: all after the group's forming as one; ``steps`` are their generations."""
    told = [one for one in facts.lives.eager if not facts.lives.is_forming(one.sequence)]
    if not told:
        return []
    assignors = sorted({one.assignor for one in told})
    every = "each" if len(told) > 1 else "it"
    says = (
        f"{counted(len(told), 'eager rebalance')} ({', '.join(assignors)}): every member stopped for {every}"
    )
    return [
        finding(
            "eager_rebalance",
            says,
            [one.sequence for one in told],
            certain=False,
            at_ms=told[0].at_ms,
            count=len(told),
            assignors=assignors,
            steps=[one.sequence for one in told],
        )
    ]


FINDER: Final = Declared(
    place=170,
    find=found_eager,
    rows=(
        Row(
            kinds=("eager_rebalance",),
            says="rebalances of a classic group whose assignor is `range`, `roundrobin` or `sticky`: every member stopped, inferred",
            needs="records",
            incident=True,
        ),
    ),
)
