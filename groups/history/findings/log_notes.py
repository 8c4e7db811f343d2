"""What single entries of a log report apart from the group: anomalies, gaps, settings, commits, topics that grew, clients that overlap.

An incremental fold over steps; the findings are made of it at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final, NotRequired, TypedDict, cast

from groups.history.entries import Entry, Kind
from groups.history.evidence.holes import is_gap
from groups.history.evidence.lives import COMINGS_KEPT_MAX
from groups.history.evidence.steps import Step
from groups.history.replay.fields import mapping
from groups.history.state.declared import Named, document
from groups.history.story.events import gap_words, still_had

GAPS_MAX: Final = 100
"""Gaps of a log that are listed one by one: a log with more of them is better read again from its source."""

TRANSACTION: Final = "transaction"
ENDED: Final = "transaction_ended"
ABORTED: Final = "aborted"

ABORTED_MOST: Final = 100
"""Requests with aborted commits that are kept of a group: each becomes an entry."""

SETTINGS_MAX: Final = 1_000
"""Settings that are remembered; Kafka has fewer."""


class Gap(TypedDict, total=False):
    """Records that are not there: the payload of the note that reports it, ``sequence`` of its step, what it ``says``."""

    note: str
    sequence: int
    says: str
    partition: int
    from_offset: int
    to_offset: int
    missing: int
    offsets: int
    compacted: bool
    continued: bool
    reason: str


class Overlap(TypedDict):
    """A client that began with partitions which others still had: these with what each had."""

    member: str
    had: list[tuple[str, list[tuple[str, int]]]]
    sequence: int
    at_ms: int


class KnownAnomaly(TypedDict):
    """The first anomaly of its kind, how many there were, and the last one's step."""

    says: str
    member: str | None
    count: int
    first: int
    at_ms: int
    last: NotRequired[int]


class OpenTransaction(TypedDict):
    """Commits that a producer's transaction holds back: partitions by topic, their offsets in that order.

    ``log_partition`` and ``from_offset`` are the partition of ``__consumer_offsets`` and the transaction's first offset in it. Without
    ``to_ms`` it is still open.
    """

    producer: int
    from_ms: int
    log_partition: int | None
    from_offset: int | None
    partitions: dict[str, list[int]]
    committed: list[int]
    sequence: int
    to_ms: NotRequired[int]
    ended: NotRequired[int]
    """The step of its end."""
    is_committed: NotRequired[bool | None]
    """Null where its marker was not seen."""


class AbortedCommits(TypedDict):
    """Requests of one producer whose commits were aborted with their transactions, and what they would have committed."""

    producer: int
    count: int
    from_ms: int
    to_ms: int
    partitions: dict[str, list[int]]
    sequences: list[int]


class Growth(TypedDict):
    """A topic that got more partitions: how many it had, and has."""

    topic: str
    before: int
    after: int
    sequence: int
    at_ms: int


@document
@dataclass(slots=True)
class LogNotes:
    """``commits`` counts requests; ``anomalies`` are by kind, the first of each with its count; the rest are lists, bounded."""

    gaps: list[Gap] = field(default_factory=list)
    settings: dict[str, int] = field(default_factory=dict)
    compacted_to: int | None = None
    """Up to this offset any record may be missing that a later one of the same key has replaced."""
    overlaps: list[Overlap] = field(default_factory=list)
    commits: int = 0
    commits_sequence: Annotated[int, Named("commits")] = 0
    anomalies: dict[str, KnownAnomaly] = field(default_factory=dict)
    grown: list[Growth] = field(default_factory=list)
    transactions: list[OpenTransaction] = field(default_factory=list)
    aborted: list[AbortedCommits] = field(default_factory=list)
    aborted_of: int = 0
    """How many requests with aborted commits the log has, of which the first are among ``aborted``."""

    def add(self, step: Step) -> None:
        """Fold one settled step."""
        self._grew(step)
        for anomaly in step.anomalies:
            known = self.anomalies.setdefault(
                anomaly.kind,
                {
                    "says": anomaly.says,
                    "member": anomaly.member,
                    "count": 0,
                    "first": step.sequence,
                    "at_ms": step.after.at_ms,
                },
            )
            known["count"] += 1
            known["last"] = step.sequence
        self._read(step, step.entries[-1])

    def is_compacted(self, step: Step, last: Entry) -> bool:
        """Whether records may be missing before this step that compaction took; so too before the first one beyond."""
        if self.compacted_to is None or last.offset is None:
            return False
        if last.offset > self.compacted_to:
            self.compacted_to = None
        return True

    def _grew(self, step: Step) -> None:
        before, after = step.before.topics, step.after.topics
        if before is after:
            return
        for name, topic in after.items():
            old = before.get(name)
            same = old is not None and old.topic_id == topic.topic_id
            if old is None or not same or old.partitions is None or topic.partitions is None:
                continue
            if topic.partitions > old.partitions and len(self.grown) < COMINGS_KEPT_MAX:
                self.grown.append(
                    {
                        "topic": name,
                        "before": old.partitions,
                        "after": topic.partitions,
                        "sequence": step.sequence,
                        "at_ms": step.after.at_ms,
                    }
                )

    def _holds(self, step: Step, last: Entry) -> None:
        """A note of an open transaction; one that is not as it should be is passed over."""
        noted = last.payload
        producer, from_ms, partitions, committed = (
            noted.get(name) for name in ("producer", "from_ms", "partitions", "committed")
        )
        if not isinstance(producer, int) or not isinstance(from_ms, int):
            return
        if not isinstance(partitions, dict) or not isinstance(committed, list):
            return
        held = {
            str(topic): [number for number in numbers if isinstance(number, int)]
            for topic, numbers in partitions.items()
            if isinstance(numbers, list)
        }
        offsets = [offset for offset in committed if isinstance(offset, int)]
        known = self._open_of(producer)
        if known is not None:
            # It holds more partitions than before.
            known["partitions"], known["committed"] = held, offsets
            return
        if len(self.transactions) >= GAPS_MAX:
            return
        self.transactions.append(
            {
                "producer": producer,
                "from_ms": from_ms,
                "log_partition": _number(noted.get("partition")),
                "from_offset": _number(noted.get("from_offset")),
                "partitions": held,
                "committed": offsets,
                "sequence": step.sequence,
            }
        )

    def _open_of(self, producer: object) -> OpenTransaction | None:
        """The transaction of a producer that has no end so far."""
        some = (one for one in self.transactions if one["producer"] == producer and "to_ms" not in one)
        return next(some, None)

    def _ends(self, step: Step, last: Entry) -> None:
        """A note that a producer's transaction ended; of one that was not noted as open nothing is kept."""
        known = self._open_of(last.payload.get("producer"))
        if known is not None:
            committed = last.payload.get("committed")
            known["to_ms"], known["ended"] = last.at_ms, step.sequence
            known["is_committed"] = committed if isinstance(committed, bool) else None

    def _aborts(self, step: Step, last: Entry) -> None:
        """A note of aborted commits; one that is not as it should be is passed over."""
        producer, partitions, of = (last.payload.get(name) for name in ("producer", "partitions", "of"))
        if not isinstance(producer, int) or not isinstance(partitions, dict):
            return
        self.aborted_of = max(self.aborted_of, of if isinstance(of, int) else 0)
        known = next((one for one in self.aborted if one["producer"] == producer), None)
        if known is None:
            if len(self.aborted) >= GAPS_MAX:
                return
            at_ms = last.at_ms
            known = AbortedCommits(
                producer=producer, count=0, from_ms=at_ms, to_ms=at_ms, partitions={}, sequences=[]
            )
            self.aborted.append(known)
        known["count"] += 1
        known["to_ms"] = max(known["to_ms"], last.at_ms)
        if len(known["sequences"]) < GAPS_MAX:
            known["sequences"].append(step.sequence)
        for topic, numbers in partitions.items():
            if isinstance(numbers, list):
                had = known["partitions"].setdefault(str(topic), [])
                had += [number for number in numbers if isinstance(number, int) and number not in had]

    def _read(self, step: Step, last: Entry) -> None:
        """What the last entry itself reports: callbacks, commits, gaps, settings."""
        if last.kind is Kind.CALLBACK and not step.anomalies and len(self.overlaps) < COMINGS_KEPT_MAX:
            both = still_had(step, last)
            if both:
                self.overlaps.append(
                    {
                        "member": last.actor,
                        "had": list(both.items()),
                        "sequence": step.sequence,
                        "at_ms": last.at_ms,
                    }
                )
        if last.kind is Kind.RECORD and last.payload.get("type") == 1 and last.payload.get("value"):
            self.commits += 1
            self.commits_sequence = step.sequence
        elif last.kind is Kind.NOTE and last.payload.get("note") == TRANSACTION:
            self._holds(step, last)
        elif last.kind is Kind.NOTE and last.payload.get("note") == ENDED:
            self._ends(step, last)
        elif last.kind is Kind.NOTE and last.payload.get("note") == ABORTED:
            self._aborts(step, last)
        elif is_gap(last):
            if last.payload.get("compacted"):
                self.compacted_to = last.payload.get("to_offset")
            if len(self.gaps) < GAPS_MAX:
                noted = {**last.payload, "sequence": step.sequence, "says": gap_words(last.payload)}
                self.gaps.append(cast(Gap, noted))
        elif last.kind is Kind.NOTE and last.payload.get("note") == "settings":
            given = mapping(last.payload.get("settings"))
            for name, value in list(given.items())[:SETTINGS_MAX]:
                if isinstance(value, int) and value > 0:
                    self.settings[str(name)] = value


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
