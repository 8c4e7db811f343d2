"""Mixed upgrade: one bounce to cooperative with a leader of an older release, which gives partitions away that their owners keep.

Needs: records: the subscriptions of a generation and its assignment. Claims: who kept what, to whom it was given, by which leader.
Cannot know: for how long both read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.claims import Claims
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.words import is_or_are, listed, listed_partitions

PATTERN: Final = Pattern(
    kind="mixed_upgrade",
    title="Cooperative members under an old leader",
    severity=Severity.CRITICAL,
    rank=10,
    sources=((RECORDS,),),
    look_for="a leader whose subscription has version 0 gives partitions to others that a member joined with and keeps",
    causes=(
        "an upgrade to cooperative rebalancing in one bounce (KIP-429 needs two)",
        "Kafka Streams without upgrade.from",
    ),
    look_at=(
        "partition.assignment.strategy: first bounce with both assignors, second without the eager one",
        "upgrade.from (Kafka Streams)",
        "the release of every member",
    ),
)


def found_mixed(facts: Facts) -> Iterator[Finding]:
    """``mixed_upgrade``: each generation in which it happened."""
    for one in facts.watch(Claims).old_leaders:
        owners, takers = ([facts.name(each) for each in some] for some in (one.owners, one.takers))
        places = facts.partitions(one.places)
        what, whom = listed_partitions(places), listed(takers)
        text = f"in generation {one.generation} {what} {is_or_are(places)} kept by {listed(owners)} and given to {whom} by {facts.name(one.leader)}"
        yield PATTERN.found(
            text,
            [one.sequence],
            needs=[RECORDS],
            members=[*one.owners, *one.takers],
            names=[*owners, *takers],
            partitions=places,
            at_ms=one.at_ms,
            from_ms=one.at_ms,
            to_ms=one.at_ms,
            steps=[one.sequence],
        )


FINDER: Final = PATTERN.finder(430, found_mixed)
