"""Stale owned partitions: a member that missed a rebalance claims what others have by now (KIP-341, KAFKA-12984, KIP-792).

Needs: records: a generation's record holds the subscriptions with which its members joined. Claims: who claims what twice, and
whether a generation shows which claim is the older one: subscriptions of version 2 and user data of sticky of version 1 have it.
Cannot know: whether the member really reads what it claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.claims import Claims
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.words import listed, listed_partitions

PATTERN: Final = Pattern(
    kind="stale_owned",
    title="Stale owned partitions",
    severity=Severity.CRITICAL,
    rank=20,
    sources=((RECORDS,),),
    look_for="two members of one generation joined with the same partitions as their own; harmless where their subscriptions tell since which generation",
    causes=(
        "a member that was paused for a rebalance",
        "clients before 3.5 with a cooperative assignor of one's own",
        "sticky before 2.3",
    ),
    look_at=("the release of the clients", "partition.assignment.strategy", "session.timeout.ms"),
    differs=(
        "KIP-341 hands onAssignment the generation as a number, the release its group metadata. sticky reads user data alone, version 1, "
        "then 0; KIP-792 puts the generation into the subscription (version 2), which every assignor can read."
    ),
)


def found_stale(facts: Facts) -> Iterator[Finding]:
    """``stale_owned``: each generation with such claims."""
    for one in facts.watch(Claims).doubles:
        names = list(dict.fromkeys(facts.name(member) for member in one.members))
        what = listed_partitions(facts.partitions(one.places))
        listed_members = ", ".join(
            f"{name} {_generation(number)}"
            for name, number in zip(map(facts.name, one.members), one.generations, strict=True)
        )
        how = (
            f"the newest generation counts ({listed_members})"
            if one.resolved
            else "nothing tells which claim is stale"
        )
        yield PATTERN.found(
            f"{listed(names)} joined generation {one.generation} with {what} as their own; {how}",
            [one.sequence],
            needs=[RECORDS],
            severity=Severity.HARMLESS if one.resolved else None,
            members=one.members,
            names=names,
            partitions=facts.partitions(one.places),
            at_ms=one.at_ms,
            from_ms=one.at_ms,
            to_ms=one.at_ms,
            steps=[one.sequence],
        )


def _generation(number: int | None) -> str:
    return str(number) if number is not None and number >= 0 else "none"


FINDER: Final = PATTERN.finder(420, found_stale, watch=Claims)
