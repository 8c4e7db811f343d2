"""Zombie member: a process that was removed, does not know it, and goes on until an answer contains the error.

Needs: requests: a heartbeat or a commit of a member after its removal, refused with UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH,
STALE_MEMBER_EPOCH or ILLEGAL_GENERATION. Claims: who, how long after its removal, by which requests. Who left by itself, or was
removed while it revoked, is reported by those patterns. Cannot know: what the process wrote elsewhere meanwhile; without callbacks, when
it stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Entry, Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import KEPT_MAX, RECORDS, REQUESTS, Pattern, Severity
from groups.history.replay.fields import mapping, text
from groups.history.story.events import ERROR_NAMES
from groups.history.words import lasting, listed

PATTERN: Final = Pattern(
    kind="zombie",
    title="Zombie member",
    severity=Severity.CRITICAL,
    rank=100,
    sources=((RECORDS, REQUESTS),),
    look_for="a heartbeat or a commit of a member comes after its removal and is refused; its partitions have other owners by then",
    causes=("a pause longer than the session timeout", "a network that comes back"),
    look_at=(
        "what the application writes elsewhere: no epoch of the group guards it",
        "transactions (exactly once), or fencing of one's own",
        "session.timeout.ms",
        "group.consumer.session.timeout.ms",
    ),
    classic=("session.timeout.ms",),
    consumer=("group.consumer.session.timeout.ms",),
)

REFUSALS: Final = frozenset({22, 25, 82, 110, 113})
"""ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, FENCED_MEMBER_EPOCH, STALE_MEMBER_EPOCH."""

APIS: Final = frozenset(
    {"ConsumerGroupHeartbeat", "Heartbeat", "OffsetCommit", "TxnOffsetCommit", "SyncGroup"}
)

GONE_MAX: Final = 2_000
"""Members of which is remembered that they were removed; as many as have names."""


@dataclass(slots=True)
class Afterlife:
    """Requests of a member after its removal at ``removed_ms``."""

    member: str
    removed_ms: int
    removed_sequence: int
    first_sequence: int
    last_ms: int
    last_sequence: int
    error: str
    apis: list[str]
    count: int = 1


@dataclass(slots=True)
class Afterlives(Watch):
    """Members that are gone, and what was seen of them since."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD, Kind.RESPONSE})
    sees_moves: ClassVar[bool] = False

    gone: dict[str, tuple[int, int]] = field(default_factory=dict)
    kept: list[Afterlife] = field(default_factory=list)

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        if last.kind is Kind.RESPONSE:
            self._answer(last)
            return
        for member in (*step.removed, *step.replaced):
            if len(self.gone) < GONE_MAX:
                self.gone[member] = (step.after.at_ms, step.sequence)
        for member in (*step.joined, *step.replaced.values()):
            self.gone.pop(member, None)

    def _answer(self, entry: Entry) -> None:
        member, api = text(entry.payload.get("to")), str(entry.payload.get("api"))
        removed = self.gone.get(member or "")
        if member is None or removed is None or api not in APIS:
            return
        code = refusal_of(entry)
        if code is None:
            return
        known = next(
            (one for one in self.kept if one.member == member and one.removed_sequence == removed[1]), None
        )
        if known is not None:
            known.count += 1
            known.last_ms, known.last_sequence = entry.at_ms, entry.sequence
            if api not in known.apis:
                known.apis.append(api)
        elif len(self.kept) < KEPT_MAX:
            self.kept.append(
                Afterlife(
                    member,
                    *removed,
                    entry.sequence,
                    entry.at_ms,
                    entry.sequence,
                    ERROR_NAMES.get(code, str(code)),
                    [api],
                )
            )


def refusal_of(entry: Entry) -> int | None:
    """The error of an answer to a sender that is no member, or at no such epoch; of a commit, the partition's error."""
    body = mapping(entry.payload.get("body"))
    codes = [body.get("errorCode")]
    codes += [
        mapping(partition).get("errorCode")
        for topic in body.get("topics") or ()
        for partition in mapping(topic).get("partitions") or ()
    ]
    return next((code for code in codes if isinstance(code, int) and code in REFUSALS), None)


def found_zombies(facts: Facts) -> Iterator[Finding]:
    """``zombie``: each life after a removal."""
    reasons = {(going.member, going.sequence): going.why for going in facts.lives.goings}
    for one in facts.watch(Afterlives).kept:
        if reasons.get((one.member, one.removed_sequence)) in ("left", "rebalance_timeout"):
            continue
        name, after = facts.name(one.member), lasting(one.last_ms - one.removed_ms, "up to ")
        steps = sorted({one.removed_sequence, one.first_sequence, one.last_sequence})
        yield PATTERN.found(
            f"{name} sent {listed(one.apis)} {f'{after} ' if after else ''}after its removal ({one.error})",
            steps,
            needs=[RECORDS, REQUESTS],
            member=one.member,
            name=name,
            error=one.error,
            apis=one.apis,
            count=one.count,
            from_ms=one.removed_ms,
            to_ms=one.last_ms,
            length_ms=max(one.last_ms - one.removed_ms, 0),
            steps=steps,
        )


FINDER: Final = PATTERN.finder(340, found_zombies, watch=Afterlives)
