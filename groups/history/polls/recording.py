"""Polls of one group in, entries of its timeline out.

A poll that differs from the one before becomes an ``observation``, which has the time of the poll before it, and the
records that explain the difference, in one unit and inferred. What could not be seen is said where it happened, as a gap:
a group that may not be described now, a coordinator that is away, epochs that went back. Nothing is folded of an
answer that a zombie may have given: a resumed broker answers from its old memory for a moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Provenance, RecordPayload
from groups.history.polls.description import (
    GROUP_AUTHORIZATION_FAILED,
    GROUP_ID_NOT_FOUND,
    MOVING,
    TOPIC_AUTHORIZATION_FAILED,
    DescribedGroup,
    GroupDescription,
    Undescribed,
)
from groups.history.polls.inferring import records_between, records_of_end
from groups.history.polls.phases import Phases
from groups.history.polls.settings import changed_settings, settings_note
from groups.history.state.classic_group import BETWEEN

WATCHER: Final = "watcher"
"""The actor of what is said about the watching itself."""

BELIEVED_AFTER_MS: Final = 5_000
"""An epoch that went back is believed when it stays so for so long. A resumed zombie answered from old memory for 0.4 s
(measured); one that is cut off does until it is fenced. Truncation stays."""

MOVING_SHOWN_AFTER_MS: Final = 5_000
"""A clean move takes a second, a dead broker's groups 5 s; what is away for longer is reported."""


class Condition(StrEnum):
    """Whether a group can be seen: what the lists show next to its state."""

    SEEN = "seen"
    UNREADABLE = "unreadable"
    FORBIDDEN = "forbidden"
    MOVING = "moving"
    EPOCH_BACK = "epoch_back"
    DELETED = "deleted"


_TEXTS: Final[Mapping[Condition, str]] = {
    Condition.UNREADABLE: "Unreadable from here: a topic of the assignment lacks the right DESCRIBE",
    Condition.FORBIDDEN: "Unreadable from here: the group lacks the right DESCRIBE",
    Condition.MOVING: "Not seen from here: the group's coordinator does not answer",
    Condition.EPOCH_BACK: "Epochs went back: an old coordinator answered, or the log was truncated",
}


@dataclass(slots=True, kw_only=True)
class PolledGroup:
    """The polls of one group so far. ``next`` is the sequence of its next entry."""

    group: str
    next: int = FIRST_SEQUENCE
    last: GroupDescription | None = None
    """What the entries lead to: the last description that was taken."""

    shown: GroupDescription | None = None
    """The last description that came, of a state that leaves no record, too (a classic group that is joining)."""

    condition: Condition = Condition.SEEN
    polled_ms: int | None = None
    since_ms: int | None = None
    """Since when the condition is what it is."""

    topics: dict[str, tuple[str | None, int | None]] = field(default_factory=dict)
    """Topics in the timeline, with id and partitions."""

    settings: dict[str, int] = field(default_factory=dict)
    """The group's settings that the timeline contains."""

    told: bool = True
    """Whether the condition is in the timeline."""

    phases: Phases = field(default_factory=Phases)
    """Of a classic group between two generations."""

    def take(
        self,
        described: DescribedGroup,
        at_ms: int,
        *,
        partitions: Mapping[str, int] | None = None,
        settings: Mapping[str, int] | None = None,
    ) -> list[Entry]:
        """The entries that this answer makes; most make none. ``partitions``: counts of topics, ``settings``: the group's, if known."""
        if self.condition is Condition.DELETED:
            return []
        entries = self._taken(described, at_ms, partitions or {})
        changed = changed_settings(self.settings, settings or {})
        if changed and self.last is not None:
            self.settings |= changed
            entries.append(self._entry(Kind.NOTE, at_ms, WATCHER, settings_note(changed)))
        self.polled_ms = at_ms
        return entries

    def is_set_otherwise(self, settings: Mapping[str, int] | None) -> bool:
        """Whether the cluster reports other settings of the group than its timeline contains."""
        return self.last is not None and bool(changed_settings(self.settings, settings or {}))

    def interrupted(self, at_ms: int, text: str) -> list[Entry]:
        """Notes that nobody watched until now."""
        return [self._note(at_ms, text)]

    def _taken(self, known: DescribedGroup, at_ms: int, partitions: Mapping[str, int]) -> list[Entry]:
        if isinstance(known, Undescribed):
            return self._undescribed(known, at_ms)
        self.shown = known
        if self._went_back(known) and not self._is_old(Condition.EPOCH_BACK, at_ms):
            return self._becomes(Condition.EPOCH_BACK, at_ms)
        entries = self._becomes(Condition.SEEN, at_ms)
        records = records_between(self.last, known)
        topics = self._topics(known, at_ms, partitions) if records or known.state in BETWEEN else []
        if not records:
            phase = self.phases.take(known, self.next, self.polled_ms)
            if phase is not None:
                entries += [*topics, self._entry(Kind.OBSERVATION, at_ms, WATCHER, phase)]
            return entries
        self.phases.end()
        observed = self._entry(
            Kind.OBSERVATION,
            at_ms,
            WATCHER,
            {"observation": "described", "state": known.state, "polled_before_ms": self.polled_ms},
        )
        self.last = known
        return [*entries, *topics, observed, *self._unit(records, at_ms, observed.sequence)]

    def _undescribed(self, known: Undescribed, at_ms: int) -> list[Entry]:
        if known.code == GROUP_ID_NOT_FOUND:
            return self._deleted(at_ms)
        if known.code == TOPIC_AUTHORIZATION_FAILED:
            return self._becomes(Condition.UNREADABLE, at_ms)
        if known.code == GROUP_AUTHORIZATION_FAILED:
            return self._becomes(Condition.FORBIDDEN, at_ms)
        if known.code in MOVING:
            return self._becomes(Condition.MOVING, at_ms)
        return []

    def away(self, at_ms: int) -> list[Entry]:
        """Nobody could be asked: its coordinator is silent, or no broker lists it."""
        if self.condition in (Condition.DELETED, Condition.UNREADABLE, Condition.FORBIDDEN):
            return []
        return self._becomes(Condition.MOVING, at_ms)

    def _deleted(self, at_ms: int) -> list[Entry]:
        """Its coordinator has no such group: this incarnation ends."""
        ended = records_of_end(self.last) if self.last is not None else []
        self.condition, self.shown = Condition.DELETED, None
        if not ended:
            return []
        observed = self._entry(
            Kind.OBSERVATION, at_ms, WATCHER, {"observation": "deleted", "polled_before_ms": self.polled_ms}
        )
        return [observed, *self._unit(ended, at_ms, observed.sequence)]

    def _went_back(self, known: GroupDescription) -> bool:
        last = self.last
        if (
            last is None
            or last.kind is not known.kind
            or last.group_epoch is None
            or known.group_epoch is None
        ):
            return False
        return known.group_epoch < last.group_epoch

    def _is_old(self, condition: Condition, at_ms: int) -> bool:
        return (
            self.condition is condition
            and self.since_ms is not None
            and at_ms - self.since_ms >= BELIEVED_AFTER_MS
        )

    def _becomes(self, condition: Condition, at_ms: int) -> list[Entry]:
        """The entries that say that the group can, or cannot, be seen from now on."""
        if condition is not self.condition:
            ended = self.told
            since_ms, self.since_ms, self.condition = self.since_ms, at_ms, condition
            if condition is Condition.SEEN:
                self.told = True
                length_s = (at_ms - (since_ms or at_ms)) / 1000
                return [self._note(at_ms, f"Seen again after {length_s:.1f} s")] if ended else []
            self.told = False
        if self.told or condition is Condition.SEEN:
            return []
        # A condition that usually passes by itself is shown only if it lasts.
        waits = condition is Condition.MOVING and at_ms - (self.since_ms or at_ms) < MOVING_SHOWN_AFTER_MS
        if waits or self.last is None:
            return []
        self.told = True
        return [self._note(at_ms, _TEXTS[condition])]

    def _note(self, at_ms: int, text: str) -> Entry:
        gap = {"note": "gap", "partition": None, "from_offset": None, "to_offset": None}
        return self._entry(Kind.NOTE, at_ms, WATCHER, {**gap, "says": text})

    def _topics(self, known: GroupDescription, at_ms: int, partitions: Mapping[str, int]) -> list[Entry]:
        """A note of topics that are not in the timeline yet, or changed: names of ids, and counts."""
        names = {name for member in known.members for name in (*member.subscribed, *member.assignment)}
        new = {
            name: (known.topic_ids.get(name), partitions.get(name))
            for name in sorted(names | set(known.topic_ids))
            if name in known.topic_ids or name in partitions
        }
        changed = {name: facts for name, facts in new.items() if self.topics.get(name) != facts}
        if not changed:
            return []
        self.topics |= changed
        topics = {name: {"id": topic_id, "partitions": count} for name, (topic_id, count) in changed.items()}
        return [
            self._entry(Kind.NOTE, at_ms, WATCHER, {"note": "topics", "topics": topics, "source": "cluster"})
        ]

    def _unit(self, records: list[RecordPayload], at_ms: int, cause: int) -> list[Entry]:
        first = self.next
        return [
            self._entry(
                Kind.RECORD,
                at_ms,
                "coordinator",
                record,
                cause=cause,
                unit=first,
                settled=number == len(records),
            )
            for number, record in enumerate(records, 1)
        ]

    def _entry(
        self,
        kind: Kind,
        at_ms: int,
        actor: str,
        payload: Mapping[str, object],
        *,
        cause: int | None = None,
        unit: int | None = None,
        settled: bool = True,
    ) -> Entry:
        entry = Entry(
            sequence=self.next,
            at_ms=at_ms,
            kind=kind,
            actor=actor,
            cause=cause,
            # A poll is what happened; what it shows of the group between two polls is inferred.
            provenance=Provenance.INFERRED if kind is Kind.RECORD else Provenance.RECORDED,
            payload=payload,
            unit=unit,
            settled=settled,
        )
        self.next += 1
        return entry
