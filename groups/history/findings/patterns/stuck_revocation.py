"""Stuck in a revocation: a member heartbeats on time, never confirms what it was asked to revoke, and newer targets pass it by.

Needs: records and requests; callbacks make it sure. Claims: who, what, how long, how many heartbeats and newer targets meanwhile.
Cannot know: on what the callback waits; without requests, that the process lives at all (see ``slow_revocation``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import CALLBACKS, RECORDS, REQUESTS, Pattern, Severity
from groups.history.findings.patterns.slow_revocation import Revocations, is_stuck, proof, waiters
from groups.history.words import counted, duration, listed, listed_partitions

PATTERN: Final = Pattern(
    kind="stuck_revocation",
    title="Stuck revocation",
    severity=Severity.CRITICAL,
    rank=80,
    sources=((RECORDS, REQUESTS, CALLBACKS), (RECORDS, REQUESTS)),
    look_for="heartbeats come on time and never say what the member owns, until its rebalance timeout removes it; newer targets pass it by",
    causes=("a deadlock in on_partitions_revoked", "a bug of the client"),
    look_at=("a thread dump of the member", "the code of on_partitions_revoked", "max.poll.interval.ms"),
)


def found_stuck(facts: Facts) -> Iterator[Finding]:
    """``stuck_revocation``: each."""
    for one in facts.watch(Revocations).long(facts.last_ms):
        if not is_stuck(one):
            continue
        name, length = facts.name(one.member), duration(one.length_ms(facts.last_ms))
        what = listed_partitions(facts.partitions(one.places))
        ends = " and was removed" if one.removed else ""
        text = f"{name} sent {counted(one.heartbeats, 'heartbeat')} in {length}, and did not release {what}{ends}"
        who = waiters(facts, one)
        yield PATTERN.found(
            f"{text}; {listed(who)} waited" if who else text,
            proof(one),
            needs=[RECORDS, REQUESTS, *([CALLBACKS] if one.called else [])],
            certain=one.called,
            member=one.member,
            name=name,
            partitions=facts.partitions(one.places),
            heartbeats=one.heartbeats,
            newer_targets=one.newer_targets,
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=one.length_ms(facts.last_ms),
            steps=proof(one),
        )


FINDER: Final = PATTERN.finder(310, found_stuck)
