"""Eager rebalances: in a classic group whose assignor is eager everybody stops for each rebalance.

Needs: type 2 records, which name the assignor of each generation (``range``, ``roundrobin`` and ``sticky`` are eager).
Claims: which rebalances; that every member stopped reading is inferred, and with commits for how long nobody committed.
Cannot know: for whom the coordinator waited, since joining leaves no record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.group_stops import GroupStop
from groups.history.findings.declaring import Declared, Row, each_of
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import counted, duration, listed, listed_partitions


def found_eager(facts: Facts) -> Iterator[Finding]:
    """``eager_rebalance``: all after the group's forming as one; ``steps`` are their generations."""
    rebalances = [one for one in facts.lives.eager if not facts.lives.is_forming(one.sequence)]
    if not rebalances:
        return
    assignors = sorted({one.assignor for one in rebalances})
    every = "each" if len(rebalances) > 1 else "it"
    text = f"{counted(len(rebalances), 'eager rebalance')} ({', '.join(assignors)}): every member stopped for {every}"
    yield finding(
        "eager_rebalance",
        text,
        [one.sequence for one in rebalances],
        certain=False,
        at_ms=rebalances[0].at_ms,
        count=len(rebalances),
        assignors=assignors,
        steps=[one.sequence for one in rebalances],
    )


def found_stops(facts: Facts) -> list[Finding]:
    """``group_stopped``: each time in which no member committed, since all of them joined again."""
    return [_stop(one, facts) for one in facts.group_stops]


def _stop(stop: GroupStop, facts: Facts) -> Finding:
    generation, length_ms = stop.generation, stop.to_ms - stop.from_ms
    names = sorted({facts.process(one.member) for one in stop.silences})
    places = facts.partitions({(each.topic, each.partition) for one in stop.silences for each in one.stops})
    text = (
        f"The whole group stopped for {duration(length_ms)} for generation {generation.generation:,} "
        f"({generation.assignor}): {listed(names)} committed nothing of {listed_partitions(places)}"
    )
    first = max(stop.silences, key=lambda one: one.from_ms).from_sequence
    return finding(
        "group_stopped",
        text,
        [first, generation.sequence],
        certain=False,
        names=names,
        partitions=places,
        from_ms=stop.from_ms,
        to_ms=stop.to_ms,
        length_ms=length_ms,
        steps=[first],
        cannot_know="for whom the coordinator waited: joining leaves no record",
    )


FINDER: Final = Declared(
    place=170,
    find=each_of(found_eager, found_stops),
    rows=(
        Row(kinds=("group_stopped",), needs="records and commits", incident=True),
        Row(kinds=("eager_rebalance",), needs="records", incident=True),
    ),
)
