"""Entries: the one schema of a timeline's log, whatever its source.

An entry is one line of the log. Entries are the truth and never change: frames, changes, moments and findings
are computed from them by the fold (``replay``) and may be thrown away.

The JSON form is the stable contract (``simulate --format entries``, ``timeline show --format entries``, the API)::

    {"sequence": 12, "at_ms": 5000, "kind": "record", "actor": "coordinator", "cause": 11,
     "provenance": "simulated", "partition": 0, "offset": 4, "batch": 3, "unit": 10, "settled": true,
     "payload": {"type": 3, "key": {"groupId": "orders"}, "version": 0, "value": {"epoch": 2}}}

``partition``, ``offset``, ``batch`` and ``unit`` are there for records only. Payloads by kind:

* ``record``: ``{"type", "key", "version", "value"}`` with Kafka's own JSON field names, uuids in Kafka's base64
  form, bytes in standard base64, tagged fields left out at their default. A tombstone has ``"version": null,
  "value": null``. A record of a type that nobody here knows: ``{"type", "key_bytes", "value_bytes"}`` (base64).
* ``request``: ``{"api": "ConsumerGroupHeartbeat", "version": 1, "body": {…}}``, Kafka's own field names; the
  actor is the member. A steady heartbeat (nothing reported, nothing answered but the same epoch) is one entry
  with ``"steady": true`` and no response entry.
* ``response``: the same form; the actor is ``coordinator``, ``"to"`` names the member, ``cause`` the request.
* ``callback``: ``{"callback": "on_partitions_revoked" | "on_partitions_assigned" | "on_partitions_lost",
  "phase": "start" | "end", "partitions": {"foo": [2]}}``; the actor is the member.
* ``timer``: ``{"timer": "session" | "rebalance" | "assignment", "member": "A" | null,
  "event": "started" | "cancelled" | "fired", "deadline_ms": 50000}``.
* ``fault``: ``{"fault": "kill" | "pause" | "resume" | "cut" | "heal" | "lost_batch" | …, "member": "A" | null, …}``.
  ``invariant`` is no fault of the world: a simulated run broke one, ``{"fault": "invariant", "member", "invariant":
  "one_holder", "says": "…", "sequences": [5, 9], "members": ["A", "B"], "partitions": {"foo": [2]}}``.
* ``observation``: what a poll of a live group described.
* ``commits``: the commits of a followed group between two other entries, ``{"first_ms": 1000, "requests": 12, "records": 36, "thinned": 0,
  "partition": 7, "from_offset": 70, "to_offset": 105, "commits": [{"topic": "foo", "partition": 0, "after_ms": [0, 1900], "offsets": [5, 9],
  "version": 3, "value": {…}}, …]}``: by partition the times (after ``first_ms``) and the offsets, and the last commit's whole value.
  ``at_ms`` is the last one's time; ``partition`` and the two offsets are those of the log. ``thinned`` of the ``records`` are no longer
  in the columns; a partition's ``between`` contains where.
* ``note``: ``{"note": "topics", "topics": {"foo": {"id": "…", "partitions": 3}}, "source": "…"}`` (what topics are
  called and how many partitions they have, from here on; a simulated run adds ``"rate": 100``, records a second of each partition),
  ``{"note": "reads", "partitions": {"foo": [2]}, "fetches": true}`` (what the actor reads from here on, where there are rates),
  ``{"note": "gap", "partition", "from_offset",
  "to_offset", "reason"}`` (with ``"compacted": true``: any record of these offsets may be missing, not all are; ``missing`` of the partition's
  ``offsets`` are gone; with ``"continued": true`` nothing is: the group's earlier timeline was full, and this one begins with the newest
  record of each key), ``{"note": "settings", "settings": {"group.consumer.session.timeout.ms": 6000}}`` (Kafka's, as a
  person gave them; with ``"source": "cluster"`` a live group's own, by their names without ``group.``), ``{"note": "transaction", "producer": 4001, "from_ms", "from_offset", "partition", "partitions": {"in": [0]}, "committed": [70]}`` (commits that are in no force
  as their transaction is open: at the end of an imported log; in a live group's, for ten seconds by then), ``{"note": "aborted", "producer", "from_ms", "of", "partitions", "committed"}`` (commits of one request that
  were aborted with their transaction, one of ``of`` such requests; null in a live group's), ``{"note": "transaction_ended", "producer", "committed": true}`` (a simulated run's transaction,
  or one of a live group that was noted as open, is over from here on; null: its marker was not seen), ``{"note": "log_line", "says": "…"}`` (what a line of a log states beyond what happened to the group), ``{"note": "assignor_call", "says": "…"}`` (a client's own assignor was called, where a run writes that down), ``{"note": "coordinator", "leader_epoch": 4}`` (another broker leads the group's partition from here on), ``{"note": "step", "step": 3, "says": "…"}`` (a row of a proposal's table ends here).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NotRequired, TypedDict

ENTRY_FORMAT = 1
"""Version of the stored form; raised when a reader of the old form would misread the new one."""

FIRST_SEQUENCE = 1
"""Sequences are dense from 1; 0 means the state before the first entry."""


class Kind(StrEnum):
    RECORD = "record"
    REQUEST = "request"
    RESPONSE = "response"
    CALLBACK = "callback"
    TIMER = "timer"
    FAULT = "fault"
    OBSERVATION = "observation"
    COMMITS = "commits"
    NOTE = "note"


class Provenance(StrEnum):
    RECORDED = "recorded"
    SIMULATED = "simulated"
    INFERRED = "inferred"


Payload = Mapping[str, Any]
"""What an entry contains, by its kind. ``Any``, since entries of logs from outside hold anything there: the fold reads fields with
``groups.history.replay.fields``, and refuses what is of another type. Who writes payloads writes the types below."""


class RecordKey(TypedDict, total=False):
    """Each type of record has some of these."""

    groupId: str
    memberId: str
    regularExpression: str
    group: str
    """Of a classic group and of an offset in the place of ``groupId``."""
    topic: str
    partition: int


class RecordPayload(TypedDict):
    """``key`` and ``value`` by Kafka's own field names; a tombstone has neither ``version`` nor ``value``.

    ``producer`` is the id of the producer in whose transaction it was written. Entries have none: they hold when the
    transaction has ended.
    """

    type: int
    key: RecordKey
    version: int | None
    value: Payload | None
    producer: NotRequired[int]


class NotedTopic(TypedDict):
    """A topic in a note; what a source does not report is ``None``."""

    id: str | None
    partitions: int | None
    rate: NotRequired[int]
    """Records a second that each of its partitions gets; a simulated run reports it if its scenario has it."""


class ReadsNote(TypedDict):
    """``note`` is ``reads``: from here on the actor has these partitions at hand, by topic name, and no others.

    ``fetches``: whether its ``poll()`` returns records of them, but for the topics ``denied`` to it by ACLs. ``busy`` is there where it changes: whether the application works
    on what it has, and does not poll. ``former`` is the id by which the same process was known before.
    """

    note: str
    partitions: Mapping[str, list[int]]
    fetches: bool
    denied: NotRequired[list[str]]
    busy: NotRequired[bool]
    former: NotRequired[str]


class TopicsNote(TypedDict):
    """``note`` is ``topics``; a topic that is gone is ``None``.

    The first one of a run states the coordinator's ``release``, unless that is ``groups.releases.EARLIER``.
    """

    note: str
    topics: Mapping[str, NotedTopic | None]
    source: str
    release: NotRequired[str]


class CommitLine(TypedDict):
    """The commits of one partition within a ``commits`` entry; ``version`` and ``value`` are the last one's."""

    topic: str
    partition: int
    after_ms: list[int]
    offsets: list[int]
    version: int
    value: Payload
    between: NotRequired[list[int]]
    """Where commits were thinned: how many before each one that is left."""


class CommitsPayload(TypedDict):
    """The payload of a ``commits`` entry. ``from_offset`` and ``to_offset`` are offsets of the log's ``partition``."""

    first_ms: int
    requests: int
    records: int
    thinned: int
    partition: int
    from_offset: int
    to_offset: int
    commits: list[CommitLine]


class EntryLine(TypedDict):
    """The contract's JSON form of an entry."""

    sequence: int
    at_ms: int
    kind: str
    actor: str
    cause: int | None
    provenance: str
    partition: NotRequired[int | None]
    """This and the next three of records alone."""
    offset: NotRequired[int | None]
    batch: NotRequired[int | None]
    unit: NotRequired[int | None]
    settled: bool
    payload: Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a timeline's log.

    ``sequence`` is dense and never renumbered; ``at_ms`` is milliseconds of the source's clock and may run
    backwards. ``unit`` is the sequence of the first record of the same request; ``settled`` is false on every
    record of a unit but its last, and true on everything else: states in between never existed.
    """

    sequence: int
    at_ms: int
    kind: Kind
    actor: str
    provenance: Provenance
    payload: Payload
    cause: int | None = None
    settled: bool = True
    partition: int | None = None
    offset: int | None = None
    batch: int | None = None
    unit: int | None = None

    def to_json(self) -> EntryLine:
        """The contract's JSON form, keys in a fixed order."""
        if self.kind is not Kind.RECORD:
            return {
                "sequence": self.sequence,
                "at_ms": self.at_ms,
                "kind": self.kind.value,
                "actor": self.actor,
                "cause": self.cause,
                "provenance": self.provenance.value,
                "settled": self.settled,
                "payload": dict(self.payload),
            }
        return {
            "sequence": self.sequence,
            "at_ms": self.at_ms,
            "kind": self.kind.value,
            "actor": self.actor,
            "cause": self.cause,
            "provenance": self.provenance.value,
            "partition": self.partition,
            "offset": self.offset,
            "batch": self.batch,
            "unit": self.unit,
            "settled": self.settled,
            "payload": dict(self.payload),
        }

    @classmethod
    def from_json(cls, data: EntryLine) -> Entry:
        """The inverse of ``to_json``; ``KeyError`` or ``ValueError`` on another shape."""
        return cls(
            sequence=data["sequence"],
            at_ms=data["at_ms"],
            kind=Kind(data["kind"]),
            actor=data["actor"],
            cause=data["cause"],
            provenance=Provenance(data["provenance"]),
            settled=data["settled"],
            partition=data.get("partition"),
            offset=data.get("offset"),
            batch=data.get("batch"),
            unit=data.get("unit"),
            payload=data["payload"],
        )


class _Unwritten(Entry):
    """An entry whose fields are still being set."""

    __slots__ = ()
    __setattr__ = object.__setattr__


def written(
    sequence: int,
    at_ms: int,
    kind: Kind,
    actor: str,
    provenance: Provenance,
    payload: Payload,
    *,
    cause: int | None = None,
    settled: bool = True,
    partition: int | None = None,
    offset: int | None = None,
    batch: int | None = None,
    unit: int | None = None,
) -> Entry:
    """``Entry`` of the same fields, in a third of the time: for where a million are made.

    The library sets each field of a frozen object by a call. Here they are set plainly, and then it is frozen.
    """
    # ``Any``: to a type checker the fields of the class that it extends stay frozen.
    new: Any = _NEW(_Unwritten)
    new.sequence = sequence
    new.at_ms = at_ms
    new.kind = kind
    new.actor = actor
    new.provenance = provenance
    new.payload = payload
    new.cause = cause
    new.settled = settled
    new.partition = partition
    new.offset = offset
    new.batch = batch
    new.unit = unit
    new.__class__ = Entry
    made: Entry = new
    return made


_NEW: Final = object.__new__
