"""Slow revocation: a member that takes long to release what it was asked to revoke, while others wait for it.

Needs: records, which hold what a member is to revoke (``partitionsPendingRevocation``) until it confirms it or is removed.
Claims: who, what, how long, who waited. With requests it is known whether the member heartbeat meanwhile: one that did not was
frozen or gone, which is another pattern; one whose callback never returned is ``stuck_revocation``.
Cannot know: from records alone, whether the callback was slow, stuck, or the process frozen. A classic group leaves no such record.
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
from groups.history.replay.fields import mapping
from groups.history.words import duration, listed, listed_partitions

PATTERN: Final = Pattern(
    kind="slow_revocation",
    title="Slow revocation",
    severity=Severity.WARNING,
    rank=90,
    sources=((RECORDS, REQUESTS), (RECORDS,)),
    look_for="a member keeps partitions that it is to revoke for 5 s or longer, and others wait for them",
    causes=("on_partitions_revoked flushes or commits for long", "long work between two polls"),
    look_at=(
        "the code of on_partitions_revoked",
        "max.poll.interval.ms (it is the rebalance timeout)",
        "max.poll.records",
    ),
)


SLOW_MS: Final = 5_000
"""A client confirms when its callback returns, and not at its next heartbeat: one heartbeat interval is long for a callback."""


@dataclass(slots=True)
class Revocation:
    """A time in which a member had partitions to revoke; ``to_ms`` is ``None`` while it has."""

    member: str
    from_ms: int
    from_sequence: int
    places: list[tuple[str, int]]
    to_ms: int | None = None
    to_sequence: int | None = None
    removed: bool = False
    heartbeats: int = 0
    reported: bool = False
    """Whether a heartbeat said what it owns."""
    newer_targets: int = 0
    calling: bool = False
    """Whether its ``on_partitions_revoked`` began and did not return; it may return after the removal."""
    called: bool = False

    def length_ms(self, now_ms: int) -> int:
        return max((now_ms if self.to_ms is None else self.to_ms) - self.from_ms, 0)


@dataclass(slots=True)
class Revocations(Watch):
    """Those that were slow, and those that are under way."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD, Kind.REQUEST, Kind.CALLBACK})

    kept: list[Revocation] = field(default_factory=list)
    open: dict[str, Revocation] = field(default_factory=dict)

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        if last.kind is Kind.RECORD:
            self._records(step)
        elif last.kind is Kind.CALLBACK:
            self._callback(last.actor, str(last.payload.get("callback")), str(last.payload.get("phase")))
        elif self.open and last.actor in self.open and last.payload.get("api") == "ConsumerGroupHeartbeat":
            one = self.open[last.actor]
            one.heartbeats += 1
            one.reported = (
                one.reported or mapping(last.payload.get("body")).get("topicPartitions") is not None
            )

    def _records(self, step: Step) -> None:
        now_ms, sequence = step.after.at_ms, step.sequence
        if step.target_computed:
            for one in self.open.values():
                one.newer_targets += one.from_sequence < sequence
        for change in step.members:
            member = step.after.modern.members.get(change.member_id)
            known = self.open.get(change.member_id)
            pending = member.pending_revocation if member is not None else {}
            if member is not None and any(pending.values()):
                if known is None:
                    places = sorted((topic, p) for topic, numbers in pending.items() for p in numbers)
                    self.open[change.member_id] = Revocation(
                        change.member_id, now_ms, sequence, places[:KEPT_MAX]
                    )
            elif known is not None:
                if member is not None:
                    # What it got back it did not release.
                    known.places = [
                        (topic, number) for topic, number in known.places if not member.holds(topic, number)
                    ]
                self._closes(known, now_ms, sequence, removed=member is None)

    def _closes(self, one: Revocation, now_ms: int, sequence: int, *, removed: bool) -> None:
        del self.open[one.member]
        one.to_ms, one.to_sequence, one.removed = now_ms, sequence, removed
        if one.places and one.length_ms(now_ms) >= SLOW_MS and len(self.kept) < KEPT_MAX:
            self.kept.append(one)

    def _callback(self, member: str, callback: str, phase: str) -> None:
        if callback != "on_partitions_revoked":
            return
        one = self.open.get(member)
        if one is None and phase != "start":
            # One that outlasted the removal.
            one = next((each for each in reversed(self.kept) if each.member == member), None)
        if one is not None:
            one.called, one.calling = True, phase == "start"

    def long(self, now_ms: int) -> list[Revocation]:
        """Those that are slow, by time."""
        under_way = [one for one in self.open.values() if one.length_ms(now_ms) >= SLOW_MS]
        return sorted((*self.kept, *under_way), key=lambda one: one.from_sequence)


def is_stuck(one: Revocation) -> bool:
    """Whether it heartbeat and never said what it owns, and its callback did not return, or newer targets passed it by."""
    if not one.heartbeats or one.reported or not (one.removed or one.to_ms is None):
        return False
    return one.calling if one.called else one.newer_targets > 0


def waiters(facts: Facts, one: Revocation) -> list[str]:
    """Who waited for it, by name."""
    waited = [
        wait.waiter
        for wait in facts.ownership.waited
        if wait.holder == one.member and wait.to_sequence >= one.from_sequence
    ]
    still = [wait.waiter for wait in facts.ownership.waits.values() if wait.holder == one.member]
    return list(dict.fromkeys(facts.name(waiter) for waiter in (*waited, *still)))


def proof(one: Revocation) -> list[int]:
    return [one.from_sequence] if one.to_sequence is None else [one.from_sequence, one.to_sequence]


def found_slow(facts: Facts) -> Iterator[Finding]:
    """``slow_revocation``: each."""
    with_requests = REQUESTS in facts.sources
    for one in facts.watch(Revocations).long(facts.last_ms):
        if is_stuck(one) or (with_requests and not one.heartbeats):
            continue
        name, length = facts.name(one.member), duration(one.length_ms(facts.last_ms))
        what = listed_partitions(facts.partitions(one.places))
        ends = f"took {length} to release {what}"
        if one.removed:
            ends = f"did not release {what} for {length} and was removed"
        elif one.to_ms is None:
            ends = f"has had {what} to release for {length}"
        who = waiters(facts, one)
        waited = f"; {listed(who)} waited" if who else ""
        yield PATTERN.found(
            f"{name} {ends}{waited}",
            proof(one),
            needs=[RECORDS, REQUESTS] if with_requests else [RECORDS],
            certain=with_requests,
            member=one.member,
            name=name,
            partitions=facts.partitions(one.places),
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=one.length_ms(facts.last_ms),
            heartbeats=one.heartbeats if with_requests else None,
            steps=proof(one),
        )


FINDER: Final = PATTERN.finder(300, found_slow, watch=Revocations)
