"""max.poll.interval.ms exceeded: a client that leaves by itself, since its application did not poll, and comes back.

Needs: requests (a leave, then a join under the same member id, or a classic LeaveGroup that gives its reason) or the clients' logs
(``on_partitions_lost`` after a leave); else commits, from which it is inferred (``removed``, ``left_and_back``).
Claims: who, how often. Cannot know: what the application did meanwhile. A leave and a join under one member id may also be an
application that unsubscribes and subscribes again, so without callbacks it only "looks like".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.lives import Going
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import (
    CALLBACKS,
    COMMITS,
    KEPT_MAX,
    RECORDS,
    REQUESTS,
    Pattern,
    Severity,
)
from groups.history.findings.removed import guessed
from groups.history.findings.repeated import several, spans
from groups.history.replay.fields import mapping
from groups.history.words import lasting

PATTERN: Final = Pattern(
    kind="poll_interval_exceeded",
    title="max.poll.interval.ms exceeded",
    severity=Severity.WARNING,
    rank=140,
    sources=((RECORDS, REQUESTS, CALLBACKS), (RECORDS, REQUESTS), (RECORDS, COMMITS)),
    look_for="a client leaves by itself, without a session that expired, and comes back when its work is done",
    causes=("too much work for one poll", "a call that hangs in the loop that polls"),
    look_at=("max.poll.records", "max.poll.interval.ms", "the work between two calls of poll()"),
    differs="A classic client says so in LeaveGroup (KIP-800) and joins under a new member id; a consumer's id stays.",
)

REASON: Final = "poll timeout"
"""Of the reason that released classic clients give when they leave (``consumer poll timeout has expired``)."""


@dataclass(slots=True)
class PollLeaves(Watch):
    """Leaves that say why, and clients that found out afterwards that they had lost their partitions."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.REQUEST, Kind.CALLBACK})

    reasons: dict[str, int] = field(default_factory=dict)
    """Member → the entry of its LeaveGroup."""
    lost: dict[str, list[int]] = field(default_factory=dict)
    """Member → where its ``on_partitions_lost`` began."""

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        if last.kind is Kind.CALLBACK:
            if last.payload.get("callback") == "on_partitions_lost" and last.payload.get("phase") == "start":
                self._lost(last.actor, last.sequence)
        elif last.payload.get("api") == "LeaveGroup" and len(self.reasons) < KEPT_MAX:
            for member in mapping(last.payload.get("body")).get("members") or ():
                if REASON in str(mapping(member).get("reason") or ""):
                    self.reasons[last.actor] = last.sequence

    def _lost(self, member: str, sequence: int) -> None:
        if member in self.lost or len(self.lost) < KEPT_MAX:
            times = self.lost.setdefault(member, [])
            if len(times) < KEPT_MAX:
                times.append(sequence)


def found_overruns(facts: Facts) -> Iterator[Finding]:
    """``poll_interval_exceeded``: each process."""
    watch = facts.watch(PollLeaves)
    by_lane: dict[str, list[tuple[Going, bool, str]]] = {}
    for going in facts.lives.goings:
        source = _source(facts, watch, going)
        if source is not None:
            by_lane.setdefault(going.lane, []).append((going, *source))
    for lane, overruns in by_lane.items():
        goings = [going for going, _, _ in overruns]
        name = facts.process(lane)
        back = sum(going.back_ms is not None for going in goings)
        returned = f" and came back {several(back)}" if back else ""
        until_ms = goings[-1].back_ms or goings[-1].at_ms
        over = lasting(until_ms - goings[0].at_ms, " in ") if len(goings) > 1 else ""
        steps = spans(going.sequence for going in goings)
        yield PATTERN.found(
            f"{name} left {several(len(goings))}{returned}{over}"
            if back != len(goings)
            else f"{name} left and came back {several(back)}{over}",
            steps,
            needs=[RECORDS, *dict.fromkeys(source for _, _, source in overruns)],
            certain=all(sure for _, sure, _ in overruns),
            name=name,
            lane=lane,
            count=len(goings),
            from_ms=goings[0].at_ms,
            to_ms=until_ms,
            steps=steps,
        )


def _source(facts: Facts, watch: PollLeaves, going: Going) -> tuple[bool, str] | None:
    """Whether it is sure, and what proves it; ``None`` if the removal is no such leave."""
    if watch.reasons.get(going.member, going.sequence + 1) <= going.sequence:
        return True, REQUESTS
    if going.why == "left" and not going.away:
        if CALLBACKS in facts.sources:
            until = going.back_sequence or facts.last_sequence
            lost = any(going.sequence < one <= until for one in watch.lost.get(going.member, ()))
            return (True, CALLBACKS) if lost else None
        return (False, REQUESTS) if going.back_same_id else None
    if going.why is None:
        guess = guessed(facts, going)
        if guess is not None and guess.looks_like == "poll_overrun":
            return False, COMMITS
    return None


FINDER: Final = PATTERN.finder(330, found_overruns, watch=PollLeaves)
