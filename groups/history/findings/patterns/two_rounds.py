"""Two-round cooperative rebalance: what moves is released in one generation and assigned in the next. Harmless, and no storm.

Needs: records of a classic group with a cooperative assignor; requests give the reason of the second join (KIP-800).
Claims: how many times. Cannot know: how long the first round took, since joining leaves no record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import KEPT_MAX, RECORDS, REQUESTS, Pattern, Severity
from groups.history.findings.repeated import several
from groups.history.state.group import Protocol

PATTERN: Final = Pattern(
    kind="two_round_cooperative",
    title="Two-round cooperative rebalance",
    severity=Severity.HARMLESS,
    rank=900,
    sources=((RECORDS, REQUESTS), (RECORDS,)),
    look_for="two generations within 15 s of the same members, the second of which assigns what the first took away",
    causes=("by design: a member revokes what moves, and joins again",),
    look_at=("nothing: a rebalance of a cooperative assignor has two generations wherever something moves",),
    differs=(
        "KIP-429 has the leader's coordinator code keep back what others still own, and give back what its metadata does not know; as released "
        "the assignor keeps it back (cooperative-sticky), the code only checks, and nothing is given back."
    ),
)

REASON: Final = "need to revoke partitions and re-join"
APART_MOST_MS: Final = 15_000
"""The second join comes at the next poll after the revocation."""

COOPERATIVE: Final = "cooperative"
"""In the names of cooperative assignors; of others the reason of the second join alone can determine."""


@dataclass(slots=True)
class SecondRounds(Watch):
    """Generations that are second rounds: when, by which entry, whether a reason proves it. ``last_ms``: the one before."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})
    sees_moves: ClassVar[bool] = False

    kept: list[tuple[int, int, bool]] = field(default_factory=list)
    count: int = 0
    last_ms: int | None = None

    def add(self, step: Step) -> None:
        before, after = step.before.classic, step.after.classic
        if step.after.protocol is not Protocol.CLASSIC or not step.epoch_changed:
            return
        since_ms, self.last_ms = self.last_ms, step.after.at_ms
        if since_ms is None or step.after.at_ms - since_ms > APART_MOST_MS:
            return
        if before.members.keys() != after.members.keys():
            return
        reasons = before.barrier.reasons.values() if before.barrier is not None else ()
        stated = any(REASON in reason for reason in reasons)
        gains = any(change.gained for change in step.members)
        if gains and (stated or COOPERATIVE in (after.protocol_name or "")):
            self.count += 1
            if len(self.kept) < KEPT_MAX:
                self.kept.append((step.after.at_ms, step.sequence, stated))


def found_rounds(facts: Facts) -> Iterator[Finding]:
    """``two_round_cooperative``: all of a log as one."""
    watch = facts.watch(SecondRounds)
    if not watch.count:
        return
    stated = all(each for _, _, each in watch.kept)
    steps = [sequence for _, sequence, _ in watch.kept]
    yield PATTERN.found(
        f"{several(watch.count)}; harmless, and no storm",
        steps,
        needs=[RECORDS, *([REQUESTS] if stated else [])],
        certain=stated,
        count=watch.count,
        from_ms=watch.kept[0][0],
        to_ms=watch.kept[-1][0],
        steps=steps,
    )


FINDER: Final = PATTERN.finder(440, found_rounds, watch=SecondRounds)
