"""One followed group under way: its row, its recorder, what waits to be stored of it, and what its row contains."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.following.group import FollowedGroup
from groups.history.frames.shapes import Frame
from groups.watching.live_group import LiveGroup
from groups.watching.row_facts import GroupView, facts_after, view_of_frame, with_generation

COMMITS_WAIT_S: Final = 2.0
"""How long entries that are commits alone wait for others: a row for each would be nine tenths of all rows."""

COMMITS_WAIT_SHARE: Final = 0.1
"""They wait longer the longer nothing else came: a tenth of that time, up to a minute. People look where something happens; a
day of commits alone is 1,440 entries, and 20,000 are two weeks."""

COMMITS_WAIT_EACH_S: Final = 0.03
COMMITS_WAIT_MOST_S: Final = 60.0
"""They wait longer the more groups do. To store a group takes some 10 ms of processor time (measured), so that commits alone take
a third of a processor, however many groups there are."""

WAITED_AT_ONCE: Final = 20
"""Groups whose commits are stored in one go: whatever changes a group must not wait behind them."""


Epochs = tuple[int | None, int | None, Mapping[str, int | None]]
"""Group epoch, assignment epoch, and each member's."""


def epochs_of(frame: Frame) -> Epochs:
    members = frame.get("members") or {}
    return (
        frame.get("group_epoch"),
        frame.get("assignment_epoch"),
        {name: each.get("epoch") for name, each in members.items()},
    )


@dataclass(slots=True)
class Followed(LiveGroup):
    """One followed group under way."""

    source: FollowedGroup
    held_first: int | None = None
    """Offset of the first record that is folded and not yet stored."""

    held_since_s: float = 0.0
    other_s: float = field(default_factory=time.monotonic)
    """When the last entry came that is no commit, or the following began."""

    urgent: bool = False
    waits: bool = False
    """Whether its timeline restarts as soon as the log is read again from its beginning."""

    left: Epochs | None = None
    """What the frame of a recorder that was let go had."""

    described: GroupView | None = None
    """What its coordinator described last; null before the log was read to its end, and where the rights do not reach."""

    stirred_ms: int | None = None
    """When an entry that is no commit came: the coordinator is to be asked at once; null where it was since."""

    skew_ms: int | None = field(default=None, kw_only=True)

    @property
    def epochs(self) -> Epochs | None:
        """What its log has shown by now; null where nothing of it was folded by this process."""
        return epochs_of(self.recorder.frame) if self.recorder is not None else self.left

    def hold(self, first: int, *, urgent: bool) -> None:
        """An entry was folded that is not stored yet; ``first`` is the offset of the first record that led to it."""
        if self.held_first is None:
            self.held_first, self.held_since_s = first, time.monotonic()
        if urgent:
            self.urgent, self.other_s = True, time.monotonic()

    def commits_wait_s(self, held: int, now_s: float) -> float:
        """How long its commits wait to be stored, where those of ``held`` groups do."""
        quiet_s = COMMITS_WAIT_SHARE * (now_s - self.other_s)
        return min(max(COMMITS_WAIT_S, COMMITS_WAIT_EACH_S * held, quiet_s), COMMITS_WAIT_MOST_S)

    def is_held_no_more(self) -> None:
        self.held_first, self.urgent = None, False

    def has_ended(self) -> None:
        LiveGroup.has_ended(self)
        self.left = None

    def log_ms(self, at_ms: int) -> int:
        """A time of the watcher as the clock of the group's log has it; not before what is in the log."""
        return max(at_ms + (self.skew_ms or 0), self.source.at_ms)

    def look(self, at_ms: int) -> bool:
        """Take what the row shows from its source at ``at_ms``, the watcher's time; whether that is other than before."""
        row, frame = self.row, self.recorder.frame if self.recorder is not None else None
        if self.described is not None:
            number = frame.get("generation") if frame is not None else self.facts.get("number")
            view, happened_ms = with_generation(self.described, number), at_ms
        elif frame is not None:
            view, happened_ms = view_of_frame(frame), min(at_ms, frame["at_ms"] - (self.skew_ms or 0))
        else:
            return False
        before = (row.kind, row.state, self.facts)
        self.facts = facts_after(self.facts, row.state, view, at_ms, self.looked_ms, happened_ms)
        self.looked_ms = at_ms
        row.kind, row.state, row.facts = view.kind or row.kind, view.state or row.state, self.facts
        return before != (row.kind, row.state, self.facts)


def waited(some: Iterable[Followed]) -> list[Followed]:
    """Those whose commits waited long enough, the longest first, as many as are stored at once."""
    held = [each for each in some if each.held_first is not None]
    now_s = time.monotonic()
    due = [each for each in held if now_s - each.held_since_s >= each.commits_wait_s(len(held), now_s)]
    return sorted(due, key=lambda each: each.held_since_s)[:WAITED_AT_ONCE]


def held_from(some: Iterable[Followed]) -> dict[int, int]:
    """By partition the first offset that is folded and not yet stored; partitions of which nothing waits are missing."""
    held: dict[int, int] = {}
    for each in some:
        if each.held_first is not None:
            partition = each.source.partition
            held[partition] = min(held.get(partition, each.held_first), each.held_first)
    return held
