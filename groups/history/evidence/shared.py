"""Partitions that two members have at once, by the log's own records: since when, until when, and whether a gap could explain it.

Part of ``Ownership``. The earlier owner's release may be missing where records are missing since the last one of that member.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple

from groups.history.evidence.steps import Key, Step
from groups.history.state.declared import ROWS, As, Named, document
from groups.history.state.group import EPOCH_JUMP, Protocol, State

SHARED_KEPT_MAX: Final = 200
"""Partitions of which such a time is kept, the first ones; all are counted. As many may be shared at the same time."""

SEEN_MAX: Final = 2_000
"""Members that are remembered to have records after the last gap; as many as have names."""


class Shared(NamedTuple):
    """``first`` had the partition, ``second`` got it, too. ``gap``: a release of ``first`` may be missing in the log."""

    first: str
    second: str
    from_ms: int
    from_sequence: int
    gap: bool


@dataclass(slots=True)
class SharedTime:
    """A time of two owners that is over."""

    topic: str
    partition: int
    first: str
    second: str
    from_ms: int
    from_sequence: int
    to_ms: int
    to_sequence: int
    gap: bool


@document
@dataclass(slots=True)
class SharedOwners:
    """See the module."""

    open: Annotated[dict[Key, Shared], ROWS] = field(default_factory=dict)
    kept: list[SharedTime] = field(default_factory=list)
    count: int = 0
    _gapped: bool = False
    _seen: Annotated[set[str], Named("heard"), As(list[str], sorted, set)] = field(default_factory=set)
    """Members with a record since the last gap."""

    def begins(self, step: Step, *, gap: bool) -> None:
        """Before what a step's members got and released."""
        if gap or any(one.kind == EPOCH_JUMP for one in step.anomalies):
            self._gapped = True
            self._seen.clear()

    def ends(self, step: Step) -> None:
        """After it."""
        if self._gapped and len(self._seen) < SEEN_MAX:
            self._seen.update(change.member_id for change in step.members)

    def takes(self, step: Step, key: Key, owner: str, member_id: str) -> None:
        """A member got a partition that another had: shared if that one still has it."""
        if not _has(step.after, owner, key):
            return
        self._over(step, key)
        self.count += 1
        if len(self.open) < SHARED_KEPT_MAX:
            gap = self._gapped and owner not in self._seen
            self.open[key] = Shared(owner, member_id, step.after.at_ms, step.sequence, gap)

    def releases(self, step: Step, key: Key, member_id: str) -> str | None:
        """A member gave a shared partition up: the other one, who still has it."""
        one = self.open.get(key)
        if one is None or member_id not in (one.first, one.second):
            return None
        self._over(step, key)
        other = one.second if member_id == one.first else one.first
        return other if _has(step.after, other, key) else None

    def forget(self, step: Step) -> None:
        """The group's partitions have other keys from here on, or no owners."""
        for key in list(self.open):
            self._over(step, key)

    def _over(self, step: Step, key: Key) -> None:
        one = self.open.pop(key, None)
        if one is not None and len(self.kept) < SHARED_KEPT_MAX:
            self.kept.append(
                SharedTime(
                    *key,
                    one.first,
                    one.second,
                    one.from_ms,
                    one.from_sequence,
                    max(step.after.at_ms, one.from_ms),
                    step.sequence,
                    one.gap,
                )
            )

    def all(self) -> Iterable[tuple[Key, Shared, SharedTime | None]]:
        """Those that are over and those that are not."""
        for one in self.kept:
            began = Shared(one.first, one.second, one.from_ms, one.from_sequence, one.gap)
            yield (one.topic, one.partition), began, one
        for key, began in self.open.items():
            yield key, began, None


def _has(state: State, member_id: str, key: Key) -> bool:
    topic, partition = key
    if state.protocol is Protocol.CLASSIC:
        classic = state.classic.members.get(member_id)
        return classic is not None and partition in classic.assigned.get(topic, ())
    member = state.modern.members.get(member_id)
    return member is not None and member.holds(topic, partition)
