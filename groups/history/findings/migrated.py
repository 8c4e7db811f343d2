"""Migration: a group that goes from the classic to the consumer protocol, or back.

Needs: records. Claims: when, which way, and whether it had members all the time (online). Cannot know: which client was upgraded
by whom.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding


def found_migrations(facts: Facts) -> Iterator[Finding]:
    """``migrated``: each; ``back`` where it returns to the protocol that it came from."""
    for number, one in enumerate(facts.lives.passages):
        how = "online" if one.online else "while it was empty"
        text = f"Moved to the {one.to} protocol, {how}"
        yield finding(
            "migrated",
            text,
            [one.sequence],
            at_ms=one.at_ms,
            to=one.to,
            online=one.online,
            back=number % 2 == 1,
            count=len(facts.lives.passages),
        )


FINDER: Final = Declared(
    place=100,
    find=found_migrations,
    rows=(Row(kinds=("migrated",), needs="records", incident=True),),
)
