"""Where nothing agrees: whether it does by the rules of another release, and which of them it takes.

Only the place counts: the walk goes from it, or from a step shortly before it, until it is beyond the place. So a difference is
one of the table of releases, or of none, whatever else the recording has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import chain, islice
from typing import Final

from groups.history.state.group import Semantics, State
from groups.releases import Release, Rules
from simulations.proof.conformance.candidates import agreeing
from simulations.proof.conformance.differing import differing, differing_request, take_recorded
from simulations.proof.conformance.position import LOG_DELAY_MOST_MS, LOG_DELAY_MS, Position
from simulations.proof.conformance.steps import SearchStep, Unexplained
from simulations.protocol.coordinator.shard import Shard

STARTS_MOST: Final = 8
"""So many places are gone on from: a record that is one too many belongs to a request some steps before it."""

STEPS_MOST: Final = 5_000
"""Places and steps tried in vain for one group: what differs by no rule may do so at each request, and is not to take hours."""

Names = tuple[str, ...]
"""Of rules that are the other way round."""


class OtherRules:
    """Of one group's walk by the rules of its ``own`` release; ``explained`` is asked wherever it finds a difference."""

    def __init__(self, own: Release) -> None:
        self._own = own
        self._releases = [
            names for each in reversed(Release) if (names := differing_rules(own.rules, each.rules))
        ]
        self._found: list[Names] = []
        self._replayed: dict[Names, tuple[int, State | None]] = {}
        """By rules, how many records were replayed by them, and the state since then."""
        self._steps_left = STEPS_MOST

    @property
    def is_over(self) -> bool:
        """Whether no rule is looked for any more."""
        return self._steps_left <= 0

    def explained(
        self, place: Position, earlier: Iterable[SearchStep], *, known: bool = False
    ) -> SearchStep | None:
        """What differs at the place with the rules that it differs by, if it is by some; ``earlier``: what led to it, the last first.

        ``known``: by such alone as explained another difference of the group.
        """
        if self.is_over:
            return None
        steps_left = self._steps_left
        starts = list(islice(chain([place], (each.before for each in earlier)), STARTS_MOST))
        for names in (*self._found, *(() if known else self._releases)):
            if (end := self._end(starts, names)) is None:
                continue
            names, end = self._fewest(starts, names, end)
            if names not in self._found:
                self._found = sorted([*self._found, names], key=len)
            self._steps_left = steps_left
            return _explained(place, names, end)
        return None

    def _fewest(self, starts: Sequence[Position], names: Names, end: Position) -> tuple[Names, Position]:
        for name in names:
            fewer = tuple(each for each in names if each != name)
            if fewer and (other_end := self._end(starts, fewer)) is not None:
                names, end = fewer, other_end
        return names, end

    def _end(self, starts: Sequence[Position], names: Names) -> Position | None:
        """Where the walk is beyond the place by these rules; the first of the ``starts`` is the place."""
        own = self._own.rules
        release = self._own.by(replace(own, **{name: not getattr(own, name) for name in names}))
        positions: dict[int, Position] = {}
        replayed = self._replayed.get(names, (0, None))
        if replayed[0] > starts[-1].at:
            # The walk went back to try another order.
            replayed = 0, None
        for start in reversed(starts):
            positions[id(start)] = found = self._by(start, release, replayed)
            replayed = start.at, found.shard.state
            self._steps_left -= 1
        self._replayed[names] = starts[-1].at, positions[id(starts[-1])].shard.state
        for start in starts:
            for delay_ms in (LOG_DELAY_MS, LOG_DELAY_MOST_MS):
                position = positions[id(start)]
                while not _is_beyond(position, starts[0]):
                    self._steps_left -= 1
                    step = next(agreeing(position, delay_ms), None) if self._steps_left > 0 else None
                    if step is None:
                        break
                    position = step.after
                else:
                    return position
        return None

    @staticmethod
    def _by(position: Position, release: Release, replayed: tuple[int, State | None]) -> Position:
        """The position of a coordinator that replayed the records by the rules of this release; ``replayed``: so many, and the state since then."""
        log, known = position.log, position.shard
        at, state = replayed
        settings = replace(known.settings, release=release)
        shard = Shard(
            log.group, Semantics.KAFKA, settings, known.image, state=state, config=known.group_config
        )
        take_recorded(shard, log.written[at : position.at])
        shard.memory = known.memory
        return replace(position, shard=shard)


def differing_rules(own: Rules, other: Rules) -> Names:
    return tuple(each.name for each in fields(own) if getattr(own, each.name) != getattr(other, each.name))


def _explained(place: Position, names: Names, end: Position) -> SearchStep:
    """The walk goes on from where that coordinator is: it has the timers, the tasks and the memory of who did what is recorded."""
    shard, known = end.shard.copy(), place.shard.copy()
    records = place.log.written[place.at : end.at]
    take_recorded(known, records)
    shard.settings, shard.state = known.settings, known.state
    numbers = _newly_used(end, place)
    if not numbers and end.parked == place.parked:
        after = replace(end, shard=shard, earlier=place.earlier)
        return Unexplained(before=place, after=after, now_ms=records[0].at_ms, refused=(), rules=names)
    if len(numbers) == 1 and end.parked == place.parked:
        # Of the next records, those that it wrote by its rules are no guess.
        step = differing_request(place, numbers[0], len(records))
    else:
        step = differing(place)
    if not _covers(end, step.after) or end.parked != step.after.parked:
        return replace(step, rules=names)
    along = tuple(place.log.asked[number] for number in _newly_used(end, step.after))
    after = replace(end, shard=shard, earlier=step.after.earlier)
    return replace(step, rules=names, after=after, along=along)


def _newly_used(position: Position, before: Position) -> list[int]:
    """The places of the requests that are used up, and were not before."""
    last = max(position.taken, *position.ahead, 0)
    return [
        number
        for number in range(before.taken, last + 1)
        if _has_used(position, number) and not _has_used(before, number)
    ]


def _is_beyond(position: Position, place: Position) -> bool:
    """Whether all is used up that is at the place, and more."""
    return position.progress > place.progress and _covers(position, place)


def _covers(position: Position, place: Position) -> bool:
    return (
        position.at >= place.at
        and position.taken >= place.taken
        and all(_has_used(position, number) for number in place.ahead)
    )


def _has_used(position: Position, number: int) -> bool:
    return number < position.taken or number in position.ahead
