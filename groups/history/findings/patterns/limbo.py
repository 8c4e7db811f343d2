"""Epoch −2 limbo: a static member left for now and does not come back; its partitions wait for it, and nobody reads them.

Needs: records of the consumer protocol (a static member of the classic protocol leaves without a record). Claims: who, since when,
which partitions, whether its session has run out since. Cannot know: whether somebody is about to start it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.lives import Away
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.words import duration, listed_partitions

PATTERN: Final = Pattern(
    kind="limbo",
    title="Static member in limbo (epoch -2)",
    severity=Severity.CRITICAL,
    rank=120,
    sources=((RECORDS,),),
    look_for="a member is at epoch -2 for longer than a restart takes, until its session expires, and no process takes its place",
    causes=(
        "an instance that is shut down for good",
        "a scale-in of static members",
        "a new group.instance.id after the restart",
    ),
    look_at=(
        "close with CloseOptions (leave the group), or remove the member with an admin client",
        "group.consumer.session.timeout.ms",
        "group.instance.id: the same for the same instance",
    ),
)

RESTART_MS: Final = 30_000
"""A process that is restarted is back by then."""


def found_limbo(facts: Facts) -> Iterator[Finding]:
    """``limbo``: each."""
    expired = {going.member: going for going in facts.lives.goings if going.away}
    for one in facts.lives.aways:
        going = expired.get(one.member)
        removed = going is not None and going.sequence == one.to_sequence
        back = removed and going is not None and going.back_ms is not None
        if back or not (removed or one.to_ms is None) or not one.places:
            continue
        length = (facts.last_ms if one.to_ms is None else one.to_ms) - one.from_ms
        if length < RESTART_MS:
            continue
        yield _limbo(facts, one, length)


def _limbo(facts: Facts, one: Away, length_ms: int) -> Finding:
    name, places = facts.process(one.member), facts.partitions(one.places)
    ends = "has been" if one.to_ms is None else "was"
    until = "" if one.to_ms is None else ", until its session expired"
    proof = [one.from_sequence] if one.to_sequence is None else [one.from_sequence, one.to_sequence]
    return PATTERN.found(
        f"{name} {ends} away for {duration(length_ms)} with {listed_partitions(places)}{until}",
        proof,
        needs=[RECORDS],
        certain=one.to_ms is not None,
        member=one.member,
        name=name,
        partitions=places,
        from_ms=one.from_ms,
        to_ms=one.to_ms,
        length_ms=length_ms,
        open=one.to_ms is None,
        steps=proof,
    )


FINDER: Final = PATTERN.finder(350, found_limbo)
