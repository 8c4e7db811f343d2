"""Rebalance timeout too short: a join phase of a classic group ends before its members can rejoin, so they remove each other.

Needs: records, which hold each member's rebalance timeout. The join phase lasts as long as the greatest of them: with 0 or less
(JoinGroup version 0 on a broker without the fix of KAFKA-8653) it ends at once, and a member learns of it by its next heartbeat
alone. Claims: the setting, how often members had no time to rejoin, how many came back.
Cannot know: whether one of these removals had another cause as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.lives import CLASSIC_HEARTBEAT_MS, Going
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.findings.removed import guessed
from groups.history.findings.repeated import several, spans
from groups.history.state.group import Protocol
from groups.history.words import counted, lasting, listed

PATTERN: Final = Pattern(
    kind="short_rebalance_timeout",
    title="Rebalance timeout too short",
    severity=Severity.CRITICAL,
    rank=45,
    sources=((RECORDS,),),
    look_for=f"members of a classic group are removed as a join phase ends without them, and the greatest rebalance timeout is below {CLASSIC_HEARTBEAT_MS:,} ms",
    causes=(
        "a client that sends JoinGroup version 0, or no rebalance timeout",
        "a rebalance timeout (max.poll.interval.ms) that is shorter than the heartbeat interval",
    ),
    look_at=(
        "the rebalance timeout that the client sends with JoinGroup (version 1 or later); in Java max.poll.interval.ms",
        "the release of the broker: KAFKA-8653 takes the session timeout for a JoinGroup without one (2.3.1, 2.4.0)",
    ),
)


TOPICS_MAX: Final = 100
"""Topics that are kept of those that no generation reads all of."""


@dataclass(slots=True)
class UnreadTopics(Watch):
    """Topics to which members that were removed subscribed, and nobody who stayed."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})
    sees_moves: ClassVar[bool] = False

    topics: list[str] = field(default_factory=list)

    def add(self, step: Step) -> None:
        if not step.removed or step.after.protocol is not Protocol.CLASSIC or not step.after.classic.members:
            return
        before, after = step.before.classic.members, step.after.classic.members.values()
        kept = {topic for member in after for topic in member.subscribed}
        for member_id in step.removed:
            for topic in before[member_id].subscribed if member_id in before else ():
                if topic not in kept and topic not in self.topics and len(self.topics) < TOPICS_MAX:
                    self.topics.append(topic)


def found_short(facts: Facts) -> Iterator[Finding]:
    """``short_rebalance_timeout``: all of a log as one; ``lanes`` are its processes, ``steps`` its removals."""
    goings = [one for one in facts.lives.goings if had_no_time(facts, one)]
    if not goings:
        return
    lanes = list(dict.fromkeys(going.lane for going in goings))
    names = list(dict.fromkeys(facts.process(lane) for lane in lanes))
    longest_ms = max(going.join_phase_ms or 0 for going in goings)
    ends = "at once" if longest_ms <= 0 else f"after {longest_ms:,} ms"
    steps = spans(going.sequence for going in goings)
    first, last = goings[0], goings[-1]
    back = sum(going.back_ms is not None for going in goings)
    # With the generation that the first of them was in.
    number = 1 + sum(first.sequence <= one["sequence"] <= last.sequence for one in facts.epochs.starts)
    sizes = {going.others for going in goings}
    of = f" of {counted(sizes.pop(), 'member')} each" if len(sizes) == 1 else ""
    topics = sorted(facts.watch(UnreadTopics).topics)
    alone = (
        f"; each generation reads the topics of its own members alone, of {listed(topics)}"
        if len(topics) > 1
        else ""
    )
    over = lasting(last.at_ms - first.at_ms, " in ")
    yield PATTERN.found(
        f"{longest_ms:,} ms in all members' records, so each join phase ends {ends}; {listed(names)} had no time to "
        f"rejoin {several(len(goings))}{over} ({counted(number, 'generation')}{of}), and came back {several(back)}{alone}",
        steps,
        needs=[RECORDS],
        certain=longest_ms <= 0,
        names=names,
        lanes=lanes,
        timeout_ms=longest_ms,
        topics=topics,
        count=len(goings),
        from_ms=first.at_ms,
        to_ms=last.at_ms,
        length_ms=last.at_ms - first.at_ms,
        steps=steps,
    )


def had_no_time(facts: Facts, going: Going) -> bool:
    """Whether a removal looks like a join phase that ended too soon for the member."""
    if going.join_phase_ms is None or going.why is not None:
        return going.join_phase_ms is not None and going.why == "rebalance_timeout"
    guess = guessed(facts, going)
    return guess is not None and guess.looks_like == "rebalance_timeout"


FINDER: Final = PATTERN.finder(55, found_short, watch=UnreadTopics)
