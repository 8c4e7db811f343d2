"""Times that a partition spends between owners: without one, and with one that somebody else waits for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from groups.history.evidence.steps import Key

WAITS_KEPT_MAX: Final = 100
"""The longest waits that are kept; all are counted. Each names at most as many partitions."""


class Ownerless(NamedTuple):
    """A time without an owner; ordered by length, longest last."""

    length_ms: int
    topic: str
    partition: int
    from_ms: int
    from_sequence: int
    to_sequence: int
    before: str | None
    """``None`` where it had no owner before."""
    after: str


@dataclass(slots=True)
class Waited:
    """A time in which ``waiter`` waited for ``holder``; ``given_up``: the holder released, and was not removed."""

    length_ms: int
    from_ms: int
    holder: str
    waiter: str
    from_sequence: int
    to_sequence: int
    given_up: bool
    places: list[Key]

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Longest first."""
        return (-self.length_ms, self.from_sequence, self.holder, self.waiter)


class Free(NamedTuple):
    """A partition that is free now: since when, and whose it was. ``given_up``: its owner acknowledged, or left."""

    since_ms: int
    sequence: int
    owner: str | None
    given_up: bool


class Wait(NamedTuple):
    """A partition that somebody else should have: ``waiter`` waits for ``holder``."""

    since_ms: int
    sequence: int
    holder: str
    waiter: str


def ownerless_by_length(ownerless: Iterable[Ownerless]) -> list[Ownerless]:
    return sorted(ownerless, key=lambda one: (-one.length_ms, one.from_sequence, one.topic, one.partition))


def waits_by_length(waited: Iterable[Waited]) -> list[Waited]:
    return sorted(waited, key=lambda one: one.order)[:WAITS_KEPT_MAX]


def wait_began(wait: Wait) -> tuple[int, int]:
    return wait.since_ms, wait.sequence
