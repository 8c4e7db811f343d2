"""What finders look at: the folds of one timeline, as they stand at its last entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple, TypedDict, TypeVar

from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.group_stops import GroupStop, split
from groups.history.evidence.incidents import Incidents
from groups.history.evidence.lives import Going, Lives
from groups.history.evidence.ownership import Ownership
from groups.history.evidence.paces import Silence
from groups.history.evidence.positions import Positions
from groups.history.evidence.rhythm import Rhythm
from groups.history.evidence.unread_partitions import Reading
from groups.history.findings.log_notes import KnownAnomaly, LogNotes
from groups.history.frames.shapes import Frame, MemberFrame
from groups.history.state.group import TWO_OWNERS, Protocol, wording
from groups.history.story.epochs import Epochs
from groups.history.words import Wording, partition_name

W = TypeVar("W")

SESSION_TIMEOUT_MS: Final = 45_000
"""Kafka's default of ``group.consumer.session.timeout.ms`` and of ``session.timeout.ms``."""

SESSION_SETTING: Final = "group.consumer.session.timeout.ms"
"""The broker's, as somebody gave it."""

GROUP_SESSION_SETTINGS: Final = {
    Protocol.CONSUMER.value: "consumer.session.timeout.ms",
    Protocol.SHARE.value: "share.session.timeout.ms",
    Protocol.STREAMS.value: "streams.session.timeout.ms",
}
"""A group's own setting, by protocol. Classic clients bring theirs."""

POLL_SETTING: Final = "max.poll.interval.ms"

POLLS: Final = "polls"
"""The source of a group that has no log."""

POLL_INTERVAL_MS: Final = 300_000
"""Kafka's default of ``max.poll.interval.ms``."""


class Began(TypedDict):
    """Members that were there before the log: the first of them, the step that first shows one, and how many they are."""

    members: list[str]
    sequence: int
    count: int
    at_ms: int


class Timeout(NamedTuple):
    """``source``: ``record`` (the member's own), ``group`` (the group's setting), ``given`` (by a person), ``assumed`` (Kafka's default)."""

    length_ms: int
    source: str


@dataclass(frozen=True, kw_only=True)
class Facts:
    """``frame`` is the last one. ``sources`` is what the log has entries of; ``watches`` are the finders' own evidence.

    ``began`` are members that were there before the log, ``midway`` is where that shows, ``deleted`` where the group ended.
    """

    frame: Frame
    cast: DisplayNames
    epochs: Epochs
    ownership: Ownership
    lives: Lives
    rhythm: Rhythm
    reading: Reading
    troubles: Incidents
    notes: LogNotes
    watches: Mapping[type, object] = field(default_factory=dict)
    sources: frozenset[str] = frozenset()
    began: Began | None = None
    midway: int | None = None
    deleted: int | None = None
    last_ms: int = 0
    last_sequence: int = 0

    def watch(self, of: type[W]) -> W:
        """The evidence that a finder declared."""
        found = self.watches[of]
        assert isinstance(found, of)
        return found

    @property
    def positions(self) -> Positions:
        """Committed offsets that did not simply advance."""
        return self.rhythm.positions

    @property
    def settings(self) -> Mapping[str, int]:
        """Kafka's settings, by name, if they were given."""
        return self.notes.settings

    @property
    def anomalies(self) -> Mapping[str, KnownAnomaly]:
        return self.notes.anomalies

    @property
    def members(self) -> Mapping[str, MemberFrame]:
        """Those that are there at the end."""
        return self.frame["members"]

    @property
    def wording(self) -> Wording:
        return wording(self.frame["protocol"], self.frame.get("protocol_type"))

    @property
    def is_polled(self) -> bool:
        """Whether the group is polled: its records are what explains a difference between two polls."""
        return POLLS in self.sources

    @property
    def contradicted(self) -> bool:
        """Whether the log has two owners of one partition."""
        return TWO_OWNERS in self.anomalies

    @cached_property
    def topic_names(self) -> Mapping[str, str]:
        """Topic id → name, of those that have one."""
        topics = self.frame["topics"].items()
        return {topic["id"]: name for name, topic in topics if topic["id"] is not None}

    def partition(self, topic: str, number: int) -> str:
        """A partition by its topic's id or name, as sentences name it."""
        return partition_name((self.topic_names.get(topic, topic), number), self.wording)

    def partitions(self, places: Iterable[tuple[str, int]]) -> list[str]:
        named = sorted((self.topic_names.get(topic, topic), number) for topic, number in places)
        return [partition_name(place, self.wording) for place in named]

    def name(self, member_id: str) -> str:
        return self.cast.name(member_id)

    def process(self, member_id: str) -> str:
        """The name of a process, whatever its member id is now."""
        return self.cast.name(self.cast.lane(member_id))

    def session_timeout(self, going: Going) -> Timeout:
        if going.session_timeout_ms is not None:
            return Timeout(going.session_timeout_ms, "record")
        own = self.settings.get(GROUP_SESSION_SETTINGS.get(self.frame["protocol"] or "", ""))
        if own is not None and not going.classic:
            return Timeout(own, "group")
        given = self.settings.get(SESSION_SETTING)
        return Timeout(given, "given") if given is not None else Timeout(SESSION_TIMEOUT_MS, "assumed")

    def poll_interval(self, going: Going) -> Timeout:
        """Kafka's clients send ``max.poll.interval.ms`` as their rebalance timeout."""
        if going.rebalance_timeout_ms is not None:
            return Timeout(going.rebalance_timeout_ms, "record")
        given = self.settings.get(POLL_SETTING)
        return Timeout(given, "given") if given is not None else Timeout(POLL_INTERVAL_MS, "assumed")

    @property
    def silences(self) -> list[Silence]:
        """Members' own: those that the evidence supports, with those that last to the end."""
        return self._silences[0]

    @property
    def group_stops(self) -> list[GroupStop]:
        """Silences of all members at once, for an eager rebalance."""
        return self._silences[1]

    @cached_property
    def _silences(self) -> tuple[list[Silence], list[GroupStop]]:
        by_silence = {going.silence: going for going in self.lives.goings if going.silence is not None}
        believed = []
        for number, one in enumerate(self.rhythm.silences):
            timeouts = self._timeouts(by_silence[number]) if number in by_silence else []
            if one.is_believed(timeouts, self.rhythm.is_idle):
                believed.append(one)
        # Commits that an open transaction holds are no silence.
        held = {
            (topic, number)
            for one in self.notes.transactions
            if "to_ms" not in one
            for topic, numbers in one["partitions"].items()
            for number in numbers
        }
        still = self.rhythm.still_silent(self.last_ms, self.last_sequence)
        still = [one for one in still if not all((stop.topic, stop.partition) in held for stop in one.stops)]
        return split([*believed, *still], self.lives.eager)

    def _timeouts(self, going: Going) -> list[int]:
        return [self.session_timeout(going).length_ms, self.poll_interval(going).length_ms]

    def silence_of(self, going: Going) -> Silence | None:
        """The silence that a removal ended, if it is believed."""
        if going.silence is None:
            return None
        one = self.rhythm.silences[going.silence]
        return one if one.is_believed(self._timeouts(going), self.rhythm.is_idle) else None
