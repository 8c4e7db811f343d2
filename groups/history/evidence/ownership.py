"""Who owned what and when, seen by the coordinator: moves, times without an owner, and who was waited for.

A partition is owned by the member that has it assigned or is still giving it up. While the group is empty, and where no target
holds it (its topic is gone, nobody subscribes), nobody was meant to own it, so that time is not counted. A partition that waits
for its first owner is unassigned from the change on that asked for its target: the group epoch's, or that of its topic's size.
Of a log that begins in the middle, owners from before may not have been seen yet, so only new partitions are counted so.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from groups.history.evidence.holdings import holdings
from groups.history.evidence.holes import is_hole
from groups.history.evidence.intervals import (
    WAITS_KEPT_MAX,
    Free,
    Ownerless,
    Wait,
    Waited,
    ownerless_by_length,
    wait_began,
    waits_by_length,
)
from groups.history.evidence.lives import EAGER
from groups.history.evidence.shared import SharedOwners
from groups.history.evidence.steps import Key, Step, keys
from groups.history.state.declared import ROWS, As, Named, document
from groups.history.state.group import Protocol

_CLASSIC: Final = Protocol.CLASSIC
_SHARE: Final = Protocol.SHARE

MOVES_KEPT_MAX: Final = 200
"""Moves that are listed one by one; all are counted. The first ones: they are what the reader sees begin."""


LANES_MAX: Final = 2_000
"""Processes of which is counted how many moves followed their coming and going; as many as have names."""

GAPS_KEPT_MAX: Final = 100
"""The longest times without an owner that are kept; all are counted."""


Move = tuple[str, int, str, str, int, int, int]
"""Topic (its id, or its name), partition, who had it, who has it, the steps of its release and of its taking, and the time of that."""


def _of_members(owner: Mapping[Key, str]) -> dict[str, dict[str, list[int]]]:
    """Sorted: in which order they were taken is nobody's concern, and is not the same after a checkpoint."""
    owners: dict[str, dict[str, list[int]]] = {}
    for (topic, partition), member_id in owner.items():
        owners.setdefault(member_id, {}).setdefault(topic, []).append(partition)
    return {
        member_id: {topic: sorted(numbers) for topic, numbers in sorted(topics.items())}
        for member_id, topics in sorted(owners.items())
    }


def by_partition(owners: Mapping[str, Mapping[str, Sequence[int]]]) -> dict[Key, str]:
    """Topic and partition → the member that has it."""
    return {
        (topic, partition): member_id
        for member_id, topics in owners.items()
        for topic, partitions in topics.items()
        for partition in partitions
    }


@document
@dataclass(slots=True)
class Ownership:
    """An incremental fold over steps."""

    owner: Annotated[dict[Key, str], Named("owners"), As(object, _of_members, by_partition)] = field(
        default_factory=dict
    )
    free: Annotated[dict[Key, Free], ROWS] = field(default_factory=dict)
    extents: dict[str, int] = field(default_factory=dict)
    """Topics (by id, or name), and how many partitions each has at least: one more than the highest that had an owner or a
    target owner."""
    waits: Annotated[dict[Key, Wait], ROWS] = field(default_factory=dict)
    ownerless: Annotated[list[Ownerless], As(list[Ownerless], ownerless_by_length, sorted)] = field(
        default_factory=list
    )
    """A heap; a sorted list is one, too."""
    ownerless_count: int = 0
    moves: list[Move] = field(default_factory=list)
    moves_count: int = 0
    moves_last_sequence: int = 0
    overlapped: bool = False
    """Whether a partition was taken before its owner had given it up, as far as the log reports: in the same step,
    earlier, or after its owner was removed, who may not know of that for a while."""
    waited: Annotated[list[Waited], As(list[Waited], waits_by_length, list)] = field(default_factory=list)
    waited_count: int = 0
    moved: Annotated[dict[Key, None], As(list[Key], sorted, dict.fromkeys)] = field(default_factory=dict)
    """Partitions that moved after the group had formed, and how often; whose coming or going the moves followed."""
    moved_count: int = 0
    followed: dict[str, int] = field(default_factory=dict)
    shared: SharedOwners = field(default_factory=SharedOwners)
    _unowned_are_new: bool = True
    """Whether a partition without an owner never had one: none was forgotten that had been released."""
    _asked: tuple[int, int] = (0, 0)
    """When, and by which entry, the group epoch became what it is: a target was asked for."""
    _grown: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Topics that grew: partitions before, when, by which entry."""
    _aims: dict[Key, int] | None = field(init=False, default=None)
    """How many members' targets hold a partition, counted once that is asked."""
    _doubtful: set[Key] = field(init=False)
    """Which of the free ones nobody may be meant to have any more."""
    _forming: bool = field(init=False, default=False)
    _stirred: Sequence[str] = field(init=False, default=())
    _waited_now: dict[tuple[str, str, int], Waited] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._doubtful = set(self.free)

    def add(
        self,
        step: Step,
        *,
        left: Collection[str] = (),
        hole: bool = False,
        forming: bool = False,
        stirred: Sequence[str] = (),
    ) -> None:
        """Fold one step. ``left``: members removed in it that left by themselves. ``hole``: something is missing before it.

        ``forming``: the group forms; ``stirred``: the lanes of the members that joined or left last. A share group has none: its partitions have readers, and no owner.
        """
        self._forming, self._stirred = forming, stirred
        if step.after.protocol is Protocol.SHARE:
            for key in (key for change in step.members for key in change.gained):
                self._reach(key)
            self.owner.clear()
            self.free.clear()
            self.waits.clear()
            self._aims = None
            return
        self.shared.begins(step, gap=hole or is_hole(step))
        if hole or is_hole(step):
            # The owners in between are not known, so no time is measured over it.
            self._forget_all()
        if step.migrates:
            self.shared.forget(step)
            self.owner = holdings(step.after)
            for key in self.owner:
                self._reach(key)
            self._forget_all()
            self._aims = None
            return
        if step.epoch_changed:
            self._asked = (step.after.at_ms, step.sequence)
        self._grows(step)
        self._aim(step)
        self._moves(step, left)
        for retarget in step.retargets:
            self._reach(retarget.partition)
            self._retarget(step, retarget.partition, retarget.after)
            if retarget.before is None and retarget.after is not None:
                self._awaits_first(step, retarget.partition)
        if self._doubtful and self._has_target(step):
            self._forget_unmeant(step)
        if step.after.protocol is Protocol.CLASSIC and step.epoch_changed:
            self._forget_unassigned(step)
        if _is_empty(step) and step.removed:
            # An empty group has no owners by nature.
            self._forget_all()
            self.shared.forget(step)
        self.shared.ends(step)

    def add_moves(self, step: Step, *, hole: bool, forming: bool, stirred: Sequence[str]) -> None:
        """``add`` of a step that ``moves_only``."""
        self._forming, self._stirred = forming, stirred
        self.shared.begins(step, gap=hole)
        if hole:
            self._forget_all()
        if step.members:
            self._moves(step, ())
            self.shared.ends(step)
        if self._doubtful and self._has_target(step):
            self._forget_unmeant(step)

    def add_commits(self, step: Step) -> None:
        """``add`` of a step of commits alone, which changes no group unless it begins one."""
        if step.migrates or step.after.protocol is _SHARE or step.before.topics is not step.after.topics:
            self.add(step)
        elif self._doubtful and self._has_target(step):
            self._forget_unmeant(step)

    def _moves(self, step: Step, left: Collection[str]) -> None:
        taken: dict[Key, str] = {}
        for change in step.members:
            for key in sorted(change.gained):
                if key in taken:
                    self.shared.takes(step, key, taken[key], change.member_id)
                taken[key] = change.member_id
        for change in step.members:
            for key in sorted(change.released):
                other = self.shared.releases(step, key, change.member_id) if self.shared.open else None
                if self.owner.get(key) == change.member_id:
                    if other is not None:
                        self.owner[key] = other
                        continue
                    given_up = change.member_id in left or change.member_id not in step.removed
                    self._release(step, key, change.member_id, taken, given_up=given_up)
        self._keep_waits()
        for key, member_id in taken.items():
            self._reach(key)
            self._take(step, key, member_id)

    def _reach(self, key: Key) -> None:
        topic, partition = key
        if partition >= self.extents.get(topic, 0):
            self.extents[topic] = partition + 1

    @staticmethod
    def _has_target(step: Step) -> bool:
        """Whether the target is that of the group's epoch, and not one that is still to be computed."""
        group = step.after.modern
        current = group.epoch_recorded and group.group_epoch == group.assignment_epoch
        return step.target_computed or (current and step.after.protocol is not _CLASSIC)

    def _forget_unassigned(self, step: Step) -> None:
        """A generation assigns everything that it means to: what it left out has no owner by design.

        A cooperative assignor withholds what moves, for the next generation alone.
        """
        eager = step.after.classic.protocol_name in EAGER
        for key in [key for key, free in self.free.items() if eager or free.sequence != step.sequence]:
            del self.free[key]

    def _aim(self, step: Step) -> None:
        """Keeps count of the targets that hold each partition."""
        aims = self._aims
        if aims is None:
            return
        for key in step.aims_found:
            aims[key] = aims.get(key, 0) + 1
        for key in step.aims_lost:
            left = aims[key] - 1
            if left:
                aims[key] = left
                continue
            del aims[key]
            if key in self.free:
                self._doubtful.add(key)

    def _forget_unmeant(self, step: Step) -> None:
        """Partitions that are free because nobody is meant to have them are without an owner by design."""
        if self._aims is None:
            self._aims = Counter(key for target in step.after.modern.target.values() for key in keys(target))
            self._doubtful = set(self.free)
        for key in self._doubtful:
            if key not in self._aims:
                self.free.pop(key, None)
                self._unowned_are_new = False
        self._doubtful.clear()

    def _release(
        self, step: Step, key: Key, member_id: str, taken: Mapping[Key, str], *, given_up: bool
    ) -> None:
        wait = self.waits.pop(key, None)
        if wait is not None and wait.holder == member_id:
            self._waited(step, key, wait, given_up=given_up)
        if key in taken:
            return
        del self.owner[key]
        self.free[key] = Free(step.after.at_ms, step.sequence, member_id, given_up)
        self._doubtful.add(key)

    def _take(self, step: Step, key: Key, member_id: str) -> None:
        free, before = self.free.pop(key, None), self.owner.get(key)
        self.owner[key] = member_id
        if free is None and before is not None and before != member_id:
            self.shared.takes(step, key, before, member_id)
            self.waits.pop(key, None)
        if free is not None:
            before = free.owner
            self.ownerless_count += 1
            length = max(step.after.at_ms - free.since_ms, 0)
            interval = Ownerless(
                length, *key, free.since_ms, free.sequence, step.sequence, free.owner, member_id
            )
            heapq.heappush(self.ownerless, interval)
            if len(self.ownerless) > GAPS_KEPT_MAX:
                heapq.heappop(self.ownerless)
        if before is None or before == member_id or step.replaced.get(before) == member_id:
            return
        self.moves_count += 1
        if not self._forming:
            # By name: a group that migrates has other keys for the same partitions.
            self.moved[step.after.names.get(key[0], key[0]), key[1]] = None
            self.moved_count += 1
            for lane in self._stirred:
                if lane in self.followed or len(self.followed) < LANES_MAX:
                    self.followed[lane] = self.followed.get(lane, 0) + 1
        self.moves_last_sequence = step.sequence
        self.overlapped = self.overlapped or free is None or not free.given_up
        if len(self.moves) < MOVES_KEPT_MAX:
            released = free.sequence if free is not None else step.sequence
            self.moves.append((*key, before, member_id, released, step.sequence, step.after.at_ms))

    def _forget_all(self) -> None:
        self.free.clear()
        self.waits.clear()
        self._unowned_are_new = False

    def _grows(self, step: Step) -> None:
        before, after = step.before.topics, step.after.topics
        if before is after:
            return
        for name, topic in after.items():
            old = before.get(name)
            if old is None or old is topic or old.topic_id != topic.topic_id or topic.topic_id is None:
                continue
            known = old.partitions is not None and topic.partitions is not None
            room = topic.topic_id in self._grown or len(self._grown) < GAPS_KEPT_MAX
            if known and room and (topic.partitions or 0) > (old.partitions or 0):
                self._grown[topic.topic_id] = (old.partitions or 0, step.after.at_ms, step.sequence)

    def _awaits_first(self, step: Step, key: Key) -> None:
        """A partition comes into a target that nobody has, and that nobody was seen to have."""
        if key in self.owner or key in self.free:
            return
        old, since_ms, sequence = self._grown.get(key[0], (None, 0, 0))
        if old is not None and key[1] >= old:
            self.free[key] = Free(since_ms, sequence, None, given_up=False)
        elif self._unowned_are_new and not step.after.partial and step.after.protocol is not Protocol.CLASSIC:
            self.free[key] = Free(*self._asked, None, given_up=False)
        else:
            return
        self._doubtful.add(key)

    def _retarget(self, step: Step, key: Key, after: str | None) -> None:
        holder = self.owner.get(key)
        if after is None or holder is None or holder == after:
            self.waits.pop(key, None)
            return
        old = self.waits.get(key)
        if old is None or old.holder != holder:
            self.waits[key] = Wait(step.after.at_ms, step.sequence, holder, after)
        else:
            self.waits[key] = Wait(old.since_ms, old.sequence, holder, after)

    def _waited(self, step: Step, key: Key, wait: Wait, *, given_up: bool) -> None:
        length = max(step.after.at_ms - wait.since_ms, 0)
        of = (wait.holder, wait.waiter, wait.sequence)
        known = self._waited_now.get(of)
        if known is None:
            self._waited_now[of] = Waited(
                length, wait.since_ms, *of[:2], wait.sequence, step.sequence, given_up, [key]
            )
        elif len(known.places) < WAITS_KEPT_MAX:
            known.places.append(key)

    def _keep_waits(self) -> None:
        """What ended in one step is kept together."""
        if self._waited_now:
            self.waited_count += len(self._waited_now)
            self.waited += self._waited_now.values()
            self._waited_now = {}
            if len(self.waited) >= 2 * WAITS_KEPT_MAX:
                self.longest_waits()

    def longest_waits(self) -> list[Waited]:
        """The longest first."""
        self.waited = waits_by_length(self.waited)
        return self.waited

    def still_waited(self) -> dict[str, tuple[Key, Wait]]:
        """Holder → the longest of the waits for it that are not over."""
        longest: dict[str, tuple[Key, Wait]] = {}
        for key, wait in self.waits.items():
            known = longest.get(wait.holder)
            if known is None or (wait.since_ms, wait.sequence, key) < (*wait_began(known[1]), known[0]):
                longest[wait.holder] = (key, wait)
        return longest

    def longest_first(self) -> list[Ownerless]:
        return ownerless_by_length(self.ownerless)


def _is_empty(step: Step) -> bool:
    after = step.after
    return not (after.classic.members if after.protocol is Protocol.CLASSIC else after.modern.members)
