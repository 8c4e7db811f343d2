"""What both waits of a classic coordinator are watched by: its join timer and its sync timer, when they run out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.patterns.pattern import KEPT_MAX
from groups.history.replay.joining import JOIN_TIMER, SYNC_TIMER
from groups.history.state.classic_group import ClassicGroup


@dataclass(slots=True)
class TimedOut:
    """A wait that the rebalance timeout ended: for whom the coordinator waited (``missing``), and who was there."""

    from_ms: int
    from_sequence: int
    to_ms: int
    to_sequence: int
    missing: list[str]
    present: int
    leader: str | None = None


@dataclass(slots=True)
class ClassicWaits(Watch):
    """``absent``: join phases that waited for static members; ``unsynced``: generations whose leader did not sync."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.TIMER})

    absent: list[TimedOut] = field(default_factory=list)
    unsynced: list[TimedOut] = field(default_factory=list)
    began: dict[str, tuple[int, int]] = field(default_factory=dict)
    """When each of the two timers started last, after none ran."""

    def add(self, step: Step) -> None:
        last = step.entries[-1]
        name, event = str(last.payload.get("timer")), last.payload.get("event")
        if name not in (JOIN_TIMER, SYNC_TIMER) or step.after.classic.barrier is None:
            return
        if event == "started":
            self.began.setdefault(name, (last.at_ms, last.sequence))
            return
        since = self.began.pop(name, None)
        if event != "fired" or since is None:
            return
        group = step.before.classic
        if name == JOIN_TIMER:
            self._joined(group, since, last.at_ms, last.sequence)
        else:
            self._synced(group, since, last.at_ms, last.sequence)

    def _joined(self, group: ClassicGroup, since: tuple[int, int], at_ms: int, sequence: int) -> None:
        assert group.barrier is not None
        joined = group.barrier.joined
        missing = [
            member_id
            for member_id, member in group.members.items()
            if member.instance_id is not None and member_id not in joined and member_id not in group.gone
        ]
        if missing and len(self.absent) < KEPT_MAX:
            self.absent.append(TimedOut(*since, at_ms, sequence, missing[:KEPT_MAX], len(joined)))

    def _synced(self, group: ClassicGroup, since: tuple[int, int], at_ms: int, sequence: int) -> None:
        assert group.barrier is not None
        leader, synced = group.barrier.leader, group.barrier.synced
        if leader is None or leader in synced or len(self.unsynced) >= KEPT_MAX:
            return
        missing = [member_id for member_id in group.shown if member_id not in synced]
        self.unsynced.append(TimedOut(*since, at_ms, sequence, missing[:KEPT_MAX], len(synced), leader))
