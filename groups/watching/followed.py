"""One followed group under way: its row, its recorder, what waits to be stored of it, and what its row says."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from groups import storage
from groups.cluster_models import WatchedGroup
from groups.history.following.group import FollowedGroup
from groups.history.frames.shapes import Frame
from groups.history.passes.recorder import Recorder
from groups.history.polls.description import UNSTABLE
from groups.history.polls.recording import Condition
from groups.watching.recorders import Epochs, epochs_of
from groups.watching.storing import REBALANCES_KEPT

COMMITS_WAIT_S: Final = 2.0
"""How long entries that are commits alone wait for others: a row for each would be nine tenths of all rows."""

COMMITS_WAIT_EACH_S: Final = 0.03
COMMITS_WAIT_MOST_S: Final = 60.0
"""They wait longer the more groups do. To store a group takes some 10 ms of processor time (measured), so that commits alone take
a third of a processor, however many groups there are."""

WAITED_AT_ONCE: Final = 20
"""Groups whose commits are stored in one go: whatever changes a group must not wait behind them."""

CHECKPOINT_BYTES: Final = 256 * 1024
"""A checkpoint is stored after so many bytes of entries: who goes on folds some hundred entries, not all."""


@dataclass(slots=True)
class Followed:
    """One group under way. ``recorder`` is made when the first record comes: most groups are quiet."""

    row: WatchedGroup
    group: FollowedGroup
    recorder: Recorder | None = None
    writer: storage.Writer | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    held_first: int | None = None
    """Offset of the first record that is folded and not yet stored."""

    held_since_s: float = 0.0
    urgent: bool = False
    waits: bool = False
    """Whether its timeline begins anew as soon as the log is read again from its beginning."""

    since_checkpoint: int = 0
    left: Epochs | None = None
    """What the frame of a recorder that was let go had."""

    @property
    def epochs(self) -> Epochs | None:
        """What its log has told by now; null where nothing of it was folded by this process."""
        return epochs_of(self.recorder.frame) if self.recorder is not None else self.left

    def hold(self, first: int, *, urgent: bool) -> None:
        """An entry was folded that is not stored yet; ``first`` is the offset of the first record that led to it."""
        if self.held_first is None:
            self.held_first, self.held_since_s = first, time.monotonic()
        self.urgent = self.urgent or urgent

    def is_held_no_more(self) -> None:
        self.held_first, self.urgent = None, False

    def is_checkpoint_due(self, size: int) -> bool:
        """Whether its row is to have a checkpoint, now that ``size`` bytes of entries were stored."""
        self.since_checkpoint += size
        if self.since_checkpoint < CHECKPOINT_BYTES:
            return False
        self.since_checkpoint = 0
        return True

    def has_ended(self) -> None:
        """Its timeline is over: what comes next is the beginning of another."""
        self.writer = self.recorder = self.left = None
        self.since_checkpoint = 0

    def look(self, frame: Frame) -> None:
        """What the group's row says, from its frame."""
        row, old = self.row, self.facts
        epoch, assigned, members = (
            frame.get("group_epoch"),
            frame.get("assignment_epoch"),
            frame.get("members") or {},
        )
        state = frame.get("state") or row.state or "Empty"
        rebalancing = state in UNSTABLE or (state != "Empty" and epoch != assigned)
        times = list(old.get("rebalanced_ms", []))
        began = rebalancing and not old.get("rebalancing")
        # A classic group's joining leaves no record: each generation is a rebalance that is over.
        number = epoch if epoch is not None else frame.get("generation")
        jumped = number is not None and old.get("epoch_or_generation") not in (None, number)
        if began or jumped:
            times = [*times, frame["at_ms"]][-REBALANCES_KEPT:]
        row.kind = frame.get("protocol") or row.kind
        row.state, row.condition = state, Condition.SEEN.value
        self.facts = {
            "group_epoch": epoch,
            "assignment_epoch": assigned,
            "members": len(members),
            "behind": sum(
                1 for each in members.values() if each.get("epoch") is not None and each["epoch"] != assigned
            ),
            "lag": old.get("lag"),
            "rebalancing": rebalancing,
            "since_ms": frame["at_ms"] if began else (old.get("since_ms") if rebalancing else None),
            "rebalanced_ms": times,
            "epoch_or_generation": number if number is not None else old.get("epoch_or_generation"),
        }
        row.facts = self.facts


def waited(some: Iterable[Followed]) -> list[Followed]:
    """Those whose commits waited long enough, the longest first, as many as are stored at once."""
    held = [each for each in some if each.held_first is not None]
    wait_s = min(max(COMMITS_WAIT_S, COMMITS_WAIT_EACH_S * len(held)), COMMITS_WAIT_MOST_S)
    now_s = time.monotonic()
    due = [each for each in held if now_s - each.held_since_s >= wait_s]
    return sorted(due, key=lambda each: each.held_since_s)[:WAITED_AT_ONCE]


def held_from(some: Iterable[Followed]) -> dict[int, int]:
    """By partition the first offset that is folded and not yet stored; partitions of which nothing waits are missing."""
    held: dict[int, int] = {}
    for each in some:
        if each.held_first is not None:
            partition = each.group.partition
            held[partition] = min(held.get(partition, each.held_first), each.held_first)
    return held
