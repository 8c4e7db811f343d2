"""Like events, shown as one: "995 members move to epoch 12", which opens into its list.

A rebalance of a thousand members is thousands of moments of a handful of kinds, one among the other. Those of one kind
are one line as long as they follow each other within ``APART_MS``; what is rare (a fault, a fail-over, the row of a
proposal's table) stays a line of its own and ends the lines before it, so that causes stand between their effects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from groups.history.digests.part import EventGroup
from groups.history.story.moment import Moment

APART_MS: Final = 10_000
"""Longer than a heartbeat interval of the default consumer (5 s): members that receive one epoch are one crowd."""

OPEN_MOST: Final = 32
"""Lines that may still grow: a handful of kinds, in a handful of epochs."""

TOGETHER: Final[Mapping[str, str]] = {
    "join": "{n} members join",
    "leave": "{n} members leave",
    "remove": "{n} members are removed",
    "advance": "{n} members move to epoch {epoch}",
    "revoke": "{n} requests to revoke partitions",
    "acknowledge": "{n} confirmed revocations",
    "gain": "{n} assignments received",
    "target": "{n} target assignments",
    "commit": "{n} commits",
    "replace": "{n} replacements of static members",
    "fence": "{n} members are fenced",
    "note": "{n} notes",
    "metadata": "{n} changes of metadata",
    "regex": "{n} expressions are resolved",
}
"""Shapes of moments whose like are shown together, and the sentence."""

BY_EPOCH: Final = frozenset({"advance"})
"""Shapes that are alike only within one epoch, which their sentence names."""

PROBLEMS: Final = frozenset({"remove", "fault", "fence", "fail_over", "violation", "gap"})


class Collapsing:
    """Takes moments in order; ``groups`` is what they come to, by the first moment of each."""

    def __init__(self) -> None:
        self.groups: list[EventGroup] = []
        self._open: dict[tuple[str, int | None], EventGroup] = {}

    def add(self, moment: Moment) -> None:
        self.take(event_of(moment))

    def take(self, event: EventGroup) -> None:
        """``event`` may be several already, as when digests are put together. It is kept, and may grow."""
        if event.alone:
            self._open.clear()
            self.groups.append(event)
            return
        key = (event.shape, event.epoch if event.shape in BY_EPOCH else None)
        held = self._open.get(key)
        if held is None or event.from_ms - held.to_ms > APART_MS:
            self.groups.append(event)
            self._open.pop(key, None)
            self._open[key] = event
            if len(self._open) > OPEN_MOST:
                del self._open[next(iter(self._open))]
            return
        held.last, held.to_ms = max(held.last, event.last), max(held.to_ms, event.to_ms)
        held.count += event.count
        held.epoch = held.epoch if held.epoch == event.epoch else None
        held.actor = held.actor if held.actor == event.actor else None
        held.cause = None
        held.text = TOGETHER[held.shape].format(n=f"{held.count:,}", epoch=held.epoch)


def event_of(moment: Moment) -> EventGroup:
    """One moment as a line of its own."""
    return EventGroup(
        first=moment["sequence"],
        last=moment["sequence"],
        from_ms=moment["at_ms"],
        to_ms=moment["at_ms"],
        count=1,
        shape=moment["shape"],
        epoch=moment["epoch"],
        actor=moment["actor"],
        text=moment["says"],
        cause=moment["cause"],
        problem=moment["shape"] in PROBLEMS,
        alone=moment["shape"] not in TOGETHER or moment.get("step") is not None,
    )


def collapsed(moments: Iterable[Moment]) -> list[EventGroup]:
    """The lines of moments in order."""
    collapsing = Collapsing()
    for moment in moments:
        collapsing.add(moment)
    return collapsing.groups


def joined(parts: Iterable[Iterable[EventGroup]]) -> list[EventGroup]:
    """The lines of parts that follow each other, with those that go on across a border made one."""
    collapsing = Collapsing()
    for part in parts:
        for event in part:
            collapsing.take(replace(event))
    return collapsing.groups
