"""The rhythm of commits: how each partition's went on, where they stopped, and which members were silent meanwhile.

A consumer that reads commits again and again. Where *all* partitions of a member that were committed stop, while those of
others go on or until the member is removed, it was assigned and read nothing: it was **silent**. That is inferred, never known.
A topic that gets no records stops too, and so does a client that commits only what moved. So a silence is believed on evidence,
and taken back where the next commit shows that nothing had come (``Silence.is_believed``).

An incremental fold: ``step`` and ``commit`` in the order of the log, or ``commits`` for a run of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from groups.history.evidence.paces import (
    DEVIATION_TIMES,
    INTERVAL_MOST_MS,
    NUMBER_MOST,
    SILENCE_LEAST_MS,
    SMOOTHING,
    TYPICAL_TIMES,
    UNMOVED_LEAST,
    Flow,
    Pace,
    Silence,
    Stop,
    bounded,
)
from groups.history.evidence.positions import Back, Positions
from groups.history.replay.commit_runs import Place
from groups.history.state.declared import As, document

SILENCES_KEPT_MAX: Final = 200
"""Silences that are listed one by one, the first ones."""

STOPS_KEPT_MAX: Final = 100
"""Stops of a partition's commits that are kept, the longest ones."""


def _in_order(paces: Mapping[Place, Pace]) -> list[Pace]:
    return [pace for _, pace in sorted(paces.items())]


def _by_place(paces: Iterable[Pace]) -> dict[Place, Pace]:
    return {(pace.topic, pace.partition): pace for pace in paces}


def _longest(stops: Iterable[Stop]) -> list[Stop]:
    return sorted(stops, key=lambda one: one.order)[:STOPS_KEPT_MAX]


def _by_topic(flows: Mapping[str, Flow]) -> dict[str, Flow]:
    return dict(sorted(flows.items()))


def _back(pace: Pace, at_ms: int, sequence: int, offset: int) -> Back:
    """Why a partition's offset is lower than before: deleted in between, another owner, or the same one."""
    holder, giver, since = pace.holder, pace.holder, 0
    if pace.gone_sequence > pace.last_sequence:
        why, since = "deleted", pace.gone_sequence
    elif holder is None:
        why, giver = "unknown", pace.giver
    elif pace.taken_sequence > pace.last_sequence and pace.giver != holder:
        why, giver, since = ("unknown" if pace.giver is None else "handover"), pace.giver, pace.taken_sequence
    else:
        why = "owner"
    return Back(
        pace.topic, pace.partition, at_ms, sequence, offset, pace.last_offset, pace.last_ms, pace.last_sequence,
        why, holder, giver, since,
    )  # fmt: skip


@document
@dataclass(slots=True)
class Rhythm:
    """See the module."""

    paces: Annotated[dict[Place, Pace], As(list[Pace], _in_order, _by_place)] = field(default_factory=dict)
    silences: list[Silence] = field(default_factory=list)
    silences_count: int = 0
    stops: Annotated[list[Stop], As(list[Stop], _longest, list)] = field(default_factory=list)
    flows: Annotated[dict[str, Flow], As(dict[str, Flow], _by_topic, dict)] = field(default_factory=dict)
    positions: Positions = field(default_factory=Positions)
    is_empty: bool = field(init=False, default=False)
    """Whether the group is one with members, and has none now: set before commits are folded."""
    _held: dict[str, dict[Place, None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for place, pace in self.paces.items():
            if pace.holder is not None:
                self._held.setdefault(pace.holder, {})[place] = None

    # -- who holds what

    def takes(self, member_id: str, place: Place, at_ms: int, sequence: int) -> None:
        """A member holds a partition from now on."""
        pace = self.paces.get(place)
        if pace is None:
            return
        self._releases(place, pace)
        pace.holder, pace.taken_ms, pace.taken_sequence, pace.unmoved = member_id, at_ms, sequence, 0
        self._held.setdefault(member_id, {})[place] = None

    def releases(self, place: Place, member_id: str) -> None:
        """A member holds a partition no longer."""
        pace = self.paces.get(place)
        if pace is not None and pace.holder == member_id:
            self._releases(place, pace)

    def _releases(self, place: Place, pace: Pace) -> None:
        if pace.holder is None:
            return
        if pace.last_sequence > pace.taken_sequence:
            pace.giver = pace.holder
        pace.gives_up()
        held = self._held.get(pace.holder)
        if held is not None:
            held.pop(place, None)
            if not held:
                del self._held[pace.holder]
        pace.holder = None

    def restarts(self) -> None:
        """What is known of holders holds no longer: the log has a hole, or partitions have other keys from here on."""
        for pace in self.paces.values():
            pace.holder = None
        self._held.clear()

    def holds(self, member_id: str) -> bool:
        return member_id in self._held

    def deleted(self, place: Place, at_ms: int, sequence: int) -> None:
        """A partition's offset was deleted."""
        pace = self.paces.get(place)
        before = None if pace is None else pace.last_offset
        self.positions.deleted(place, at_ms, sequence, before, is_empty=self.is_empty)
        if pace is not None:
            pace.gone_sequence = sequence

    # -- commits

    def commit(
        self,
        place: Place,
        at_ms: int,
        offset: int,
        sequence: int,
        holder_of: Callable[[Place], str | None],
        between: int = 0,
    ) -> None:
        """One committed offset; ``holder_of`` gives the holder of a partition without earlier commits. ``between``: commits since the last one
        that were thinned; intervals and steps are then the mean of them."""
        pace = self.paces.get(place)
        if pace is None:
            pace = Pace(*place, 1, at_ms, offset, at_ms, offset, sequence)
            pace.moved_ms, pace.moved_sequence = at_ms, sequence
            self.paces[place] = pace
            holder = holder_of(place)
            if holder is not None:
                pace.holder, pace.taken_ms, pace.taken_sequence = holder, at_ms, sequence
                self._held.setdefault(holder, {})[place] = None
            self._flows(place[0], at_ms)
            if self.is_empty:
                self.positions.without_member(place, at_ms, sequence, None, offset)
            return
        gap, moved = at_ms - pace.last_ms, offset - pace.last_offset
        if self.is_empty:
            self.positions.without_member(place, at_ms, sequence, pace.last_offset, offset)
        elif moved < 0:
            self.positions.went_back(_back(pace, at_ms, sequence, offset))
        if between:
            gap, moved = gap // (between + 1), moved // (between + 1)
        if not -NUMBER_MOST < moved < NUMBER_MOST:
            moved = bounded(moved)
        if pace.stop is not None and gap > 0:
            self._settles(pace, gap, moved)
        if pace.silence is not None or (gap > SILENCE_LEAST_MS and pace.is_broken_by(gap)):
            self._stopped(pace, at_ms, moved, sequence)
        self._flows(place[0], at_ms, goes_on=between > 0)
        pace.count += 1 + between
        if moved:
            pace.moved_ms, pace.moved_sequence = at_ms, sequence
        if gap > 0:
            self._learns(pace, gap, moved if moved > 0 else 0)
            if not moved:
                pace.unmoved += 1
            pace.last_ms = at_ms
        pace.last_offset, pace.last_sequence = offset, sequence

    def commits(
        self,
        places: Sequence[Place],
        times_ms: Sequence[int],
        offsets: Sequence[int],
        sequences: Sequence[int],
        holder_of: Callable[[Place], str | None],
    ) -> None:
        """The same for many.

        Nearly all of them follow the one before within seconds, where nothing had stopped: ``commit`` without a call for each.
        """
        paces, flows, commit, is_empty = self.paces, self.flows, self.commit, self.is_empty
        for place, at_ms, offset, sequence in zip(places, times_ms, offsets, sequences, strict=True):
            pace = paces.get(place)
            if (
                is_empty
                or pace is None
                or pace.stop is not None
                or pace.silence is not None
                or not pace.intervals
            ):
                commit(place, at_ms, offset, sequence, holder_of)
                continue
            flow = flows[place[0]]
            last_ms, usual, spread = pace.last_ms, pace.usual, pace.deviation
            gap, moved, passed = at_ms - last_ms, offset - pace.last_offset, at_ms - flow.last_ms
            typical = usual // SMOOTHING
            if (
                not 0 < gap <= INTERVAL_MOST_MS
                or (
                    gap > SILENCE_LEAST_MS
                    and gap > TYPICAL_TIMES * typical
                    and gap > typical + DEVIATION_TIMES * (spread // SMOOTHING)
                )
                or passed > SILENCE_LEAST_MS
                or not 0 <= moved < NUMBER_MOST
            ):
                commit(place, at_ms, offset, sequence, holder_of)
                continue
            if passed > 0:
                flow.last_ms = at_ms
            pace.count += 1
            off = gap - typical
            pace.usual = usual + off
            pace.deviation = spread + (off if off > 0 else -off) - spread // SMOOTHING
            pace.moved += moved - pace.moved // SMOOTHING
            if moved:
                pace.moved_ms, pace.moved_sequence = at_ms, sequence
            else:
                pace.unmoved += 1
            pace.intervals += 1
            pace.last_ms, pace.last_offset, pace.last_sequence = at_ms, offset, sequence

    def _learns(self, pace: Pace, gap: int, moved: int) -> None:
        if not pace.intervals:
            gap = min(gap, INTERVAL_MOST_MS)
            pace.usual, pace.deviation, pace.moved = gap * SMOOTHING, gap * SMOOTHING // 2, moved * SMOOTHING
            pace.intervals = 1
            return
        if gap > SILENCE_LEAST_MS and pace.is_broken_by(gap):
            # A stop is not what is usual, and never becomes so.
            usual = max(2 * pace.usual // SMOOTHING, 1)
            moved = moved * usual // gap
            gap = usual
        elif gap > INTERVAL_MOST_MS:
            gap = INTERVAL_MOST_MS
        typical = pace.usual // SMOOTHING
        pace.deviation += (gap - typical if gap > typical else typical - gap) - pace.deviation // SMOOTHING
        pace.usual += gap - typical
        pace.moved += moved - pace.moved // SMOOTHING
        pace.intervals += 1

    def _flows(self, topic: str, at_ms: int, *, goes_on: bool = False) -> None:
        flow = self.flows.get(topic)
        if flow is None:
            self.flows[topic] = Flow(at_ms, at_ms)
            return
        if at_ms - flow.last_ms > SILENCE_LEAST_MS and not goes_on:
            flow.since_ms = at_ms
        if at_ms > flow.last_ms:
            flow.last_ms = at_ms

    # -- silences

    def _stopped(self, pace: Pace, at_ms: int, moved: int, sequence: int) -> None:
        """A partition is committed again after a pause."""
        gap = at_ms - pace.last_ms
        if pace.stop is not None:
            # It is committed a first time, and at once a second time after another pause.
            pace.stop = pace.silence = None
        if pace.silence is None and pace.holder is not None and pace.taken_ms <= pace.last_ms:
            self._silent(pace.holder, at_ms, sequence, "resumed", (pace.topic, pace.partition))
        pace.stop = Stop(
            pace.topic,
            pace.partition,
            pace.last_ms,
            pace.last_sequence,
            pace.expected(gap),
            at_ms,
            sequence,
            moved,
        )
        self._note_stop(pace, pace.stop)

    def _settles(self, pace: Pace, gap: int, moved: int) -> None:
        """The second commit after a stop shows what had come meanwhile."""
        stop = pace.stop
        assert stop is not None
        stop.moved = bounded((stop.moved or 0) + moved)
        stop.expected = bounded(stop.expected + pace.expected(gap))
        self._note_stop(pace, stop)
        if stop.moved * 10 < stop.expected and pace.unmoved < UNMOVED_LEAST:
            pace.sparse = True
        self.stops.append(stop)
        pace.stop = pace.silence = None
        if len(self.stops) >= 2 * STOPS_KEPT_MAX:
            self._keep_longest()

    def _note_stop(self, pace: Pace, stop: Stop) -> None:
        """The silence in which a partition stopped learns how it went on."""
        if pace.silence is None:
            return
        for one in self.silences[pace.silence].stops:
            if (one.topic, one.partition) == (pace.topic, pace.partition):
                one.to_ms, one.to_sequence = stop.to_ms, stop.to_sequence
                one.moved, one.expected = stop.moved, stop.expected

    def _keep_longest(self) -> None:
        self.stops = _longest(self.stops)

    def ends(self, member_id: str, at_ms: int, sequence: int, ended: str) -> Silence | None:
        """A member is removed or replaced; called before its partitions are released. Its silence up to here, if it is one."""
        return self._silent(member_id, at_ms, sequence, ended)

    def still_silent(self, at_ms: int, sequence: int) -> list[Silence]:
        """Members that are silent at the log's end, while others go on."""
        found = [self._silence(member_id, at_ms, sequence, "open") for member_id in sorted(self._held)]
        return [one for one in found if one is not None and (one.others or one.repeats)]

    def since_last_commit(self, member_id: str, at_ms: int) -> tuple[int, int] | None:
        """How long a member has not committed, and the longest pause of its rhythm; ``None`` if it has none."""
        paces = [self.paces[place] for place in self._held.get(member_id, ())]
        known = [pace for pace in paces if pace.has_rhythm]
        if not known:
            return None
        return at_ms - max(pace.last_seen_ms for pace in paces), min(pace.limit_ms for pace in known)

    def last_commit_ms(self, member_id: str) -> int | None:
        """When a member last committed what it holds, with a rhythm or without."""
        paces = [self.paces[place] for place in self._held.get(member_id, ())]
        return max((pace.last_ms for pace in paces if pace.last_ms >= pace.taken_ms), default=None)

    def _silent(
        self, member_id: str, at_ms: int, sequence: int, ended: str, place: Place | None = None
    ) -> Silence | None:
        found = self._silence(member_id, at_ms, sequence, ended, place)
        if found is None:
            return None
        self.silences_count += 1
        if len(self.silences) < SILENCES_KEPT_MAX:
            for stop in found.stops:
                self.paces[stop.topic, stop.partition].silence = len(self.silences)
            self.silences.append(found)
        return found

    def _silence(
        self, member_id: str, at_ms: int, sequence: int, ended: str, place: Place | None = None
    ) -> Silence | None:
        paces = [self.paces[held] for held in self._held.get(member_id, ())]
        if not paces:
            return None
        since_ms, since = max(pace.last_seen for pace in paces)
        # A partition that had stopped long before the others is of an idle topic.
        stopped = sorted(
            (pace for pace in paces if pace.has_rhythm and pace.last_seen_ms >= since_ms - pace.limit_ms),
            key=lambda pace: (pace.topic, pace.partition),
        )
        if not stopped or (place is not None and all((p.topic, p.partition) != place for p in stopped)):
            return None
        limit_ms = min(pace.limit_ms for pace in stopped)
        if at_ms - since_ms <= limit_ms:
            return None
        flows = [self.flows[topic] for topic in {pace.topic for pace in stopped}]
        return Silence(
            member=member_id,
            from_ms=since_ms,
            to_ms=at_ms,
            from_sequence=since,
            to_sequence=sequence,
            ended=ended,
            others=not all(pace.sparse for pace in stopped)
            and any(flow.since_ms <= since_ms and flow.last_ms >= since_ms + limit_ms for flow in flows),
            repeats=any(pace.unmoved >= UNMOVED_LEAST for pace in paces),
            stops=[Stop(pace.topic, pace.partition, pace.last_ms, pace.last_sequence, 0) for pace in stopped],
        )

    def is_idle(self, place: Place, after_ms: int) -> bool:
        """Whether somebody took a partition after a time and commits nothing of it, while commits of its topic go on."""
        pace, flow = self.paces.get(place), self.flows.get(place[0])
        if pace is None or flow is None or pace.holder is None or pace.taken_ms < after_ms:
            return False
        return flow.last_ms > pace.taken_ms + TYPICAL_TIMES * SILENCE_LEAST_MS

    def longest_stops(self) -> list[Stop]:
        """The longest first, with those after which there was one commit so far."""
        self._keep_longest()
        late = [pace.stop for pace in self.paces.values() if pace.stop is not None]
        return _longest([*self.stops, *late])
