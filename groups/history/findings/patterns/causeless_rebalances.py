"""Rebalances without a cause: new generations, or group epochs, though nobody came or went and nothing that is read changed.

Needs: records. Claims: how many, their period, and in a classic group who asked for them: a coordinator begins a rebalance of an
unchanged group for a JoinGroup of its leader, or of a member whose metadata changed; of another one it answers with the assignment
that is in force. With requests the first JoinGroup shows who asked. The second round of a cooperative rebalance has a cause.
In the consumer protocol: whether as many members ask for one server-side assignor as for another, which is a cause by itself in
releases where a change of the preferred assignor raises the epoch (``groups.releases``).
Cannot know: why a client joins again; in the consumer protocol, who asked, unless the assignors tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import KEPT_MAX, RECORDS, REQUESTS, Pattern, Severity
from groups.history.findings.patterns.two_rounds import COOPERATIVE
from groups.history.findings.repeated import about, usual_ms
from groups.history.replay.record_types import (
    CURRENT_ASSIGNMENT,
    GROUP_EPOCH,
    TARGET_EPOCH,
    TARGET_MEMBER,
    meaning,
)
from groups.history.state.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicMember
from groups.history.state.consumer import ConsumerMember
from groups.history.state.group import Protocol
from groups.history.words import counted, duration, listed
from groups.releases import since

TIE: Final = (
    f"a tie of two server-side assignors (`group.remote.assignor`): from {since('assignor_change_bumps')} on heartbeats raise the epoch,"
    " as long as it lasts"
)

PATTERN: Final = Pattern(
    kind="causeless_rebalances",
    title="Rebalances without a cause",
    severity=Severity.WARNING,
    rank=97,
    sources=((RECORDS,),),
    look_for="three generations or more, or group epochs (two where two server-side assignors tie), of the same members, subscriptions and topics",
    causes=(
        "a client that subscribes again in its loop, or is rebuilt under the same member id",
        "a leader that joins again: it saw other metadata than before, or polls too late",
        TIE,
        "a tool that touches the group: a script that rebalances it, or sets it up again",
    ),
    look_at=(
        "the log of the client that joins again",
        "the reason of its JoinGroup, in the coordinator's log (from 3.2 on, KIP-800)",
        "max.poll.interval.ms and the time between its polls",
        "group.remote.assignor of every member: one for all, or none, ends a tie; so does a third member that asks for one of the two",
    ),
    classic=(
        "a leader that joins again: it saw other metadata than before, or polls too late",
        "the log of the client that joins again",
        "the reason of its JoinGroup, in the coordinator's log (from 3.2 on, KIP-800)",
        "max.poll.interval.ms and the time between its polls",
    ),
    consumer=(
        TIE,
        "group.remote.assignor of every member: one for all, or none, ends a tie; so does a third member that asks for one of the two",
    ),
)

TIMES_LEAST: Final = 3
"""One is a leader that saw a topic grow; three are a pattern."""

TIED_TIMES_LEAST: Final = 2
"""In a tie of assignors one may be its beginning; nothing else raises the epoch of such a group twice."""

DAY_MS: Final = 24 * 60 * 60 * 1000

STEADY: Final = 0.1
"""Periods that differ by at most this part of the usual one are a period, and not only about one."""

ORDINARY: Final = frozenset({GROUP_EPOCH, TARGET_EPOCH, TARGET_MEMBER, CURRENT_ASSIGNMENT})
"""Records of an epoch in which nothing that leads to it is written."""


@dataclass(slots=True)
class CauselessRebalances(Watch):
    """Their times, their entries, and who asked for each; ``leaders``: by elimination, and not by a request."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD, Kind.REQUEST})
    sees_moves: ClassVar[bool] = False

    kept: list[tuple[int, int]] = field(default_factory=list)
    count: int = 0
    first: int = 0
    last: int = 0
    last_ms: int = 0
    moving: bool = False
    """Whether one of them gave a member something else."""
    asked: dict[str, int] = field(default_factory=dict)
    by_request: bool = True
    classic: bool = False
    tied: dict[str, list[str]] = field(default_factory=dict)
    """By assignor, who asks for it, where two are asked for equally often and by more than any other; as of the last one."""
    joining: str | None = None
    """Who sent JoinGroup first since the last generation."""

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        if last.kind is Kind.REQUEST:
            if last.payload.get("api") == "JoinGroup" and self.joining is None:
                self.joining = last.actor
            return
        if not step.epoch_changed:
            return
        if _has_no_cause(step):
            self._found(step)
        self.joining = None

    def _found(self, step: Step) -> None:
        if not self.count:
            self.first = step.epoch
            self.classic = step.after.protocol is Protocol.CLASSIC
        self.count += 1
        self.last, self.last_ms = step.epoch, step.after.at_ms
        self.tied = _tied(step.after.consumer.members.values())
        self.moving = self.moving or any(change.gained for change in step.members)
        if len(self.kept) < KEPT_MAX:
            self.kept.append((step.after.at_ms, step.sequence))
        before, after = step.before.classic.members, step.after.classic.members
        by = self.joining if self.joining in after else None
        if by is None:
            self.by_request = False
            changed = [
                one for one, member in after.items() if member.subscription != before[one].subscription
            ]
            by = step.before.classic.leader if not changed else changed[0] if len(changed) == 1 else None
        if by is not None and (by in self.asked or len(self.asked) < KEPT_MAX):
            self.asked[by] = self.asked.get(by, 0) + 1


def _tied(members: Iterable[ConsumerMember]) -> dict[str, list[str]]:
    asks: dict[str, list[str]] = {}
    for member in members:
        if member.server_assignor is not None:
            asks.setdefault(member.server_assignor, []).append(member.member_id)
    most = max(map(len, asks.values()), default=0)
    first = {name: who[:KEPT_MAX] for name, who in sorted(asks.items()) if len(who) == most}
    return first if len(first) > 1 else {}


def _has_no_cause(step: Step) -> bool:
    if step.joined or step.removed or step.replaced or step.found or step.migrates or step.anomalies:
        return False
    if step.after.protocol is Protocol.CONSUMER:
        before, after = step.before.consumer, step.after.consumer
        follows = (
            after.group_epoch == before.group_epoch + 1 and before.epoch_recorded and bool(after.members)
        )
        return follows and before.metadata_hash == after.metadata_hash and _is_ordinary(step)
    if step.after.protocol is not Protocol.CLASSIC:
        return False
    old, new = step.before.classic, step.after.classic
    if new.generation != old.generation + 1 or not new.members or old.protocol_name != new.protocol_name:
        return False
    if new.protocol_type != CONSUMER_PROTOCOL_TYPE:
        # What others than consumers put into their metadata and assignments is their own: as bytes it is another one.
        return old.leader == new.leader and all(
            (old.members[one].subscription, old.members[one].assignment)
            == (member.subscription, member.assignment)
            for one, member in new.members.items()
        )
    if COOPERATIVE in (new.protocol_name or "") and any(change.gained for change in step.members):
        return False
    same = all(old.members[one].subscribed == member.subscribed for one, member in new.members.items())
    return same and _topics(old.members) == _topics(new.members)


def _is_ordinary(step: Step) -> bool:
    types = (entry.payload.get("type") for entry in step.entries if entry.kind is Kind.RECORD)
    return all(isinstance(one, int) and meaning(one) in ORDINARY for one in types)


def _topics(members: Mapping[str, ClassicMember]) -> Mapping[str, int]:
    """Topics and how many of their partitions are assigned: one that grew or is gone is a cause."""
    topics: Counter[str] = Counter()
    for member in members.values():
        for topic, partitions in member.assigned.items():
            topics[topic] += len(partitions)
    return topics


def found_causeless(facts: Facts) -> Iterator[Finding]:
    """``causeless_rebalances``: all of a log as one."""
    watch = facts.watch(CauselessRebalances)
    if watch.count < (TIED_TIMES_LEAST if watch.tied else TIMES_LEAST):
        return
    times = [at_ms for at_ms, _ in watch.kept]
    every_ms = usual_ms(times)
    steady = all(abs(later - one - every_ms) <= every_ms * STEADY for one, later in pairwise(times))
    period = f"every {duration(every_ms)}" if steady else f"about every {about(every_ms)}"
    word = "generation" if watch.classic else "group epoch"
    same = "members and subscriptions" if watch.moving else "members, subscriptions and assignment"
    text = f"{counted(watch.count, word)} ({watch.first:,}–{watch.last:,}) {period}, with the same {same} each time"
    names = list(dict.fromkeys(facts.process(one) for one in watch.asked))
    needs, certain = [RECORDS], watch.by_request
    if watch.tied:
        text += f"; {_tie_words(watch.tied, facts)}"
    elif names:
        text += f"; {listed(names)} {'joins' if len(names) == 1 else 'join'} again"
        if watch.by_request:
            needs.append(REQUESTS)
        else:
            text += " (inferred: of an unchanged group only a JoinGroup of its leader, or of a changed member, begins a rebalance)"
    else:
        text += "; the records do not show who asked for them"
    steps = [sequence for _, sequence in watch.kept]
    yield PATTERN.found(
        text,
        [steps[0], steps[-1]],
        needs=needs,
        names=names,
        members=list(watch.asked),
        count=watch.count,
        every_ms=every_ms,
        tied=watch.tied,
        a_day=round(DAY_MS / every_ms) if every_ms else None,
        by_request=certain,
        from_ms=times[0],
        to_ms=watch.last_ms,
        length_ms=watch.last_ms - times[0],
        steps=steps,
    )


def _tie_words(tied: Mapping[str, list[str]], facts: Facts) -> str:
    """Who asks for what, what comes of it, and what ends it."""
    asks = [
        f"{listed([facts.process(one) for one in who])} {'asks' if len(who) == 1 else 'ask'} for {assignor}"
        for assignor, who in tied.items()
    ]
    return (
        f"{listed(asks)}, and as many for the one as for the other: from Kafka {since('assignor_change_bumps')} on heartbeats raise the epoch then, until all "
        "ask for one assignor or a third member decides"
    )


FINDER: Final = PATTERN.finder(65, found_causeless, watch=CauselessRebalances)
