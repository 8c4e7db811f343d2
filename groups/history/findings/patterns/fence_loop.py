"""Fence loop (KAFKA-19233): a member that was fenced joins with epoch 0 and is fenced again, until its session expires.

Needs: requests. Claims: who, how often, for how long. Later releases answer a join with epoch 0 whatever the member's epoch is, so a
log of it cannot show this; 4.0.0 and the previews can.
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
from groups.history.findings.patterns.pattern import KEPT_MAX, REQUESTS, Pattern, Severity
from groups.history.findings.repeated import several
from groups.history.replay.fields import mapping, text
from groups.history.replay.volatile import JOIN_EPOCH
from groups.history.words import lasting
from groups.releases import since

PATTERN: Final = Pattern(
    kind="fence_loop",
    title="Fence loop",
    severity=Severity.CRITICAL,
    rank=40,
    sources=((REQUESTS,),),
    look_for="joins with member epoch 0 are answered FENCED_MEMBER_EPOCH again and again",
    causes=(
        "KAFKA-19233: a coordinator that refuses the join of a member that it still has at another epoch",
    ),
    look_at=(
        f"the release of the brokers: mended in {since('rejoining_member_accepted')}",
        "group.consumer.session.timeout.ms: it ends with the session",
    ),
)

FENCED_MEMBER_EPOCH: Final = 110
TIMES_LEAST: Final = 3
"""Twice may be a request that was sent again."""


@dataclass(slots=True)
class Fences(Watch):
    """Joins that were fenced: member → when, by which entry. ``asked``: the epoch of each member's last request."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.REQUEST, Kind.RESPONSE})

    asked: dict[str, int] = field(default_factory=dict)
    kept: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        if last.payload.get("api") != "ConsumerGroupHeartbeat" or last.payload.get("steady"):
            return
        body = mapping(last.payload.get("body"))
        if last.kind is Kind.REQUEST:
            epoch = body.get("memberEpoch")
            if epoch == JOIN_EPOCH and len(self.asked) < KEPT_MAX:
                self.asked[last.actor] = last.sequence
            else:
                self.asked.pop(last.actor, None)
            return
        member = text(last.payload.get("to")) or ""
        if member not in self.asked:
            return
        del self.asked[member]
        if body.get("errorCode") == FENCED_MEMBER_EPOCH:
            times = (
                self.kept.setdefault(member, []) if len(self.kept) < KEPT_MAX else self.kept.get(member, [])
            )
            if len(times) < KEPT_MAX:
                times.append((last.at_ms, last.sequence))


def found_loops(facts: Facts) -> Iterator[Finding]:
    """``fence_loop``: each member."""
    for member, times in facts.watch(Fences).kept.items():
        if len(times) < TIMES_LEAST:
            continue
        name, steps = facts.name(member), [sequence for _, sequence in times]
        yield PATTERN.found(
            f"{name} joined with epoch 0 and was fenced {several(len(times))}{lasting(times[-1][0] - times[0][0], ' in ')}",
            [steps[0], steps[-1]],
            needs=[REQUESTS],
            member=member,
            name=name,
            count=len(times),
            from_ms=times[0][0],
            to_ms=times[-1][0],
            steps=steps,
        )


FINDER: Final = PATTERN.finder(390, found_loops, watch=Fences)
