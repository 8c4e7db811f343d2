"""A join that waits for an absent static member: the classic coordinator waits for every member until the rebalance timeout.

Needs: requests and the coordinator's timers, since the joining phase leaves no record. Claims: for whom, how long, how many had
joined. Cannot know: where the process of the absent one is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.classic_waits import ClassicWaits
from groups.history.findings.patterns.pattern import REQUESTS, TIMERS, Pattern, Severity
from groups.history.words import counted, duration, listed

PATTERN: Final = Pattern(
    kind="absent_static_member",
    title="Join waits for an absent static member",
    severity=Severity.CRITICAL,
    rank=60,
    sources=((REQUESTS, TIMERS),),
    look_for="a classic group is PreparingRebalance for the whole rebalance timeout though all other members have joined; one with a group.instance.id has not",
    causes=("a static member that is down, with a session that lasts", "a static member that does not poll"),
    look_at=(
        "remove the member with an admin client",
        "session.timeout.ms of static members",
        "max.poll.interval.ms: the longest of the group is the wait",
    ),
)


def found_absent(facts: Facts) -> Iterator[Finding]:
    """``absent_static_member``: each wait."""
    for one in facts.watch(ClassicWaits).absent:
        names = [facts.name(member) for member in one.missing]
        length = duration(one.to_ms - one.from_ms)
        yield PATTERN.found(
            f"{counted(one.present, 'member')} waited {length} for {listed(names)}",
            [one.from_sequence, one.to_sequence],
            needs=[REQUESTS, TIMERS],
            members=one.missing,
            names=names,
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=one.to_ms - one.from_ms,
            steps=[one.from_sequence, one.to_sequence],
        )


FINDER: Final = PATTERN.finder(400, found_absent, watch=ClassicWaits)
