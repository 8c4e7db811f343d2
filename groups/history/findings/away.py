"""Away: static members that left for now (member epoch -2) and kept their partitions, which nobody reads meanwhile.

Needs: records of the consumer protocol (a static member of the classic protocol leaves without a record). Claims: who, since when,
until when, which partitions stayed assigned to it. Cannot know: whether its process is to come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import lasting, listed_partitions


def found_away(facts: Facts) -> Iterator[Finding]:
    """``away``: each; ``open`` where it lasts to the log's end."""
    for one in facts.lives.aways:
        name, places = facts.process(one.member), facts.partitions(one.places)
        to_ms = one.to_ms if one.to_ms is not None else facts.last_ms
        is_open = one.to_ms is None
        text = f"{name} {'has been' if is_open else 'was'} away{lasting(to_ms - one.from_ms)}"
        if places:
            stay = ("stays" if len(places) == 1 else "stay") if is_open else "stayed"
            text += f"; {listed_partitions(places)} {stay} assigned to it"
        yield finding(
            "away",
            text,
            [one.from_sequence] if one.to_sequence is None else [one.from_sequence, one.to_sequence],
            member=one.member,
            name=name,
            lane=facts.cast.lane(one.member),
            partitions=places,
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=to_ms - one.from_ms,
            open=is_open,
            count=len(facts.lives.aways),
        )


FINDER: Final = Declared(
    place=120,
    find=found_away,
    rows=(Row(kinds=("away",), needs="records", incident=True),),
)
