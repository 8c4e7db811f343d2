"""Steps: what one settled step altered, member by member and partition by partition.

A step goes from one settled state to the next: all records of a request at once, since states in between never
existed. Sentences and findings are made from steps, never from single records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from groups.history.entries import Entry
from groups.history.state.group import Anomaly, Protocol, State

Key = tuple[str, int]
"""A partition by topic id (consumer and share protocol) or topic name (classic protocol), or a task by subtopology."""

Copy = tuple[str, str, int]
"""A copy of a task, which no member owns alone: ``("standby", "0", 2)``."""

_NOBODY: Final[Mapping[str, str]] = {}


class MemberStep(NamedTuple):
    """What happened to one member. ``released`` left its hands, ``gained`` came into them, ``to_revoke`` is newly to go.

    ``copies_gained`` and ``copies_released`` are standby and warm-up tasks, of a streams group's member.
    """

    member_id: str
    epoch_before: int | None
    epoch: int | None
    gained: frozenset[Key] = frozenset()
    released: frozenset[Key] = frozenset()
    to_revoke: frozenset[Key] = frozenset()
    acknowledged: bool = False
    copies_gained: frozenset[Copy] = frozenset()
    copies_released: frozenset[Copy] = frozenset()


class Retarget(NamedTuple):
    """A partition whose target changed, from whom to whom; ``None`` is nobody."""

    partition: Key
    before: str | None
    after: str | None


class Step(NamedTuple):
    """One settled step; ``entries`` are those of it, in order (a unit of records, or one entry)."""

    entries: tuple[Entry, ...]
    before: State
    after: State
    joined: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    """Members that this step is the first to speak of, though they were there before: the log does not hold their
    joining."""
    removed: tuple[str, ...] = ()
    replaced: Mapping[str, str] = _NOBODY
    members: tuple[MemberStep, ...] = ()
    retargets: tuple[Retarget, ...] = ()
    aims_found: tuple[Key, ...] = ()
    """Partitions that came into some member's target, and those that left one: a partition may be of several."""
    aims_lost: tuple[Key, ...] = ()
    target_computed: bool = False
    epoch_changed: bool = False
    anomalies: tuple[Anomaly, ...] = ()
    same_group: bool = False
    """Whether no group of any protocol is another one: members, targets and epochs are as they were."""
    moves_only: bool = False
    """Whether all that changed is what members of a consumer group hold who were there and stay, as after most heartbeats:
    nobody came or went, no rule was broken, and epochs, target, topics, expressions and commits are as they were."""

    @property
    def sequence(self) -> int:
        return self.after.sequence

    @property
    def migrates(self) -> bool:
        """Whether the group went over from one protocol to the other, in which partitions have other keys."""
        return self.before.protocol is not None and self.before.protocol is not self.after.protocol

    @property
    def epoch(self) -> int:
        return epoch_of(self.after)


def epoch_of(state: State) -> int:
    """The group epoch, or the generation of a classic group."""
    return state.classic.generation if state.protocol is Protocol.CLASSIC else state.modern.group_epoch


def keys(partitions: Mapping[str, Iterable[int]]) -> frozenset[Key]:
    """``{"foo": [0, 1]}`` as ``{("foo", 0), ("foo", 1)}``."""
    return frozenset((topic, number) for topic, numbers in partitions.items() for number in numbers)
