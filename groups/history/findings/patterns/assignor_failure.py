"""Assignor failure: the coordinator cannot compute a target, and answers every heartbeat with UNKNOWN_SERVER_ERROR.

Needs: records and requests. Claims: since when, how many answers, to whom, while the target stayed behind the group epoch.
A classic group's assignor runs in its leader: see ``sync_never_sent``. Cannot know: what the assignor threw, which is in the
broker's log alone.
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
from groups.history.replay.fields import mapping, text
from groups.history.words import counted, listed

PATTERN: Final = Pattern(
    kind="assignor_failure",
    title="Assignor failure",
    severity=Severity.CRITICAL,
    rank=30,
    sources=((RECORDS, REQUESTS),),
    look_for="heartbeats of several members are answered UNKNOWN_SERVER_ERROR while the assignment epoch stays behind the group epoch",
    causes=(
        "a bug of an assignor that somebody wrote",
        "a topic that is deleted while the target is computed",
    ),
    look_at=(
        "the stack trace in the broker's log",
        "group.consumer.assignors",
        "group.remote.assignor of the members",
    ),
)

UNKNOWN_SERVER_ERROR: Final = -1
ANSWERS_LEAST: Final = 2


@dataclass(slots=True)
class Failures(Watch):
    """Answers of that error while a target was due: when, by which entry, to whom."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RESPONSE})

    kept: list[tuple[int, int, str]] = field(default_factory=list)
    count: int = 0

    def add(self, step: Step) -> None:
        last, group = step.entries[-1], step.after.modern
        if mapping(last.payload.get("body")).get("errorCode") != UNKNOWN_SERVER_ERROR:
            return
        if last.payload.get("api") != "ConsumerGroupHeartbeat" or group.assignment_epoch >= group.group_epoch:
            return
        self.count += 1
        if len(self.kept) < KEPT_MAX:
            self.kept.append((last.at_ms, last.sequence, text(last.payload.get("to")) or ""))


def found_failures(facts: Facts) -> Iterator[Finding]:
    """``assignor_failure``: all of a log as one."""
    watch = facts.watch(Failures)
    if watch.count < ANSWERS_LEAST:
        return
    names = list(dict.fromkeys(facts.name(member) for _, _, member in watch.kept))
    steps = [sequence for _, sequence, _ in watch.kept]
    yield PATTERN.found(
        f"{counted(watch.count, 'heartbeat')} of {listed(names)} answered UNKNOWN_SERVER_ERROR, and no target computed",
        [steps[0], steps[-1]],
        needs=[RECORDS, REQUESTS],
        names=names,
        count=watch.count,
        from_ms=watch.kept[0][0],
        to_ms=watch.kept[-1][0],
        steps=steps,
    )


FINDER: Final = PATTERN.finder(380, found_failures, watch=Failures)
