"""What was recorded of one group: who asked what, what the broker wrote, and what its cluster looked like meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from groups.history.entries import RecordPayload
from groups.history.state.declared import document
from groups.wire.codecs.values import Value
from simulations.protocol.coordinator.image import Image, ImageTopic

Fields = Mapping[str, Value]
"""A struct as the request log has it, by the names of Kafka's schemas."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One group's part of a request and of its answer.

    ``api`` is Kafka's constant. The coordinator handled it some time from ``arrived_ms`` to ``latest_ms``, which is
    ``handled_ms`` where the answer may have waited for other members, and else when it had been sent.
    """

    group: str
    api: str
    version: int
    client: str
    host: str
    request: Fields
    response: Fields
    arrived_ms: int
    done_ms: int
    line: int
    handled_ms: int | None = None

    @property
    def latest_ms(self) -> int:
        return self.done_ms if self.handled_ms is None else self.handled_ms

    @property
    def member(self) -> str:
        """The member that asks, empty where it has no id yet. A LeaveGroup may have one in a list."""
        if known := self.request.get("memberId"):
            return str(known)
        leaving: Sequence[Fields] = self.request.get("members") or ()
        return str(leaving[0].get("memberId") or "") if len(leaving) == 1 else ""

    @property
    def sender(self) -> tuple[str, str]:
        """A sender of one request after another: the client and its member."""
        return self.client, self.member


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One record as it is in the log, or the end of a transaction with records of the group. ``at_ms`` is its timestamp: the broker's clock a moment after the handling."""

    partition: int
    offset: int
    batch: int
    at_ms: int
    payload: RecordPayload


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChange:
    """The cluster's metadata from a moment on. ``names``: topics that were created, changed or deleted by it.

    ``version`` is the offset of its last record; ``deleted`` the topics that it removed; ``configs`` has the dynamic settings of groups that were set
    (``None``: removed), by group and setting. ``elected``: partitions of the offsets topic that got another leader, which
    is then another coordinator.
    """

    at_ms: int
    version: int
    image: Image
    names: tuple[str, ...] = ()
    deleted: tuple[ImageTopic, ...] = ()
    configs: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    elected: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """Everything of one group, each list in the broker's order."""

    group: str
    asked: tuple[RecordedRequest, ...]
    written: tuple[Written, ...]
    images: tuple[ImageChange, ...]
    slowest_ms: int = 0
    """The slowest request of all groups in the log: how slow the machine was, which one group's few may not show."""


def loads_of(recording: Recording) -> tuple[int, ...]:
    """When other coordinators took the group over."""
    partitions = {written.partition for written in recording.written}
    return tuple(change.at_ms for change in recording.images if not partitions.isdisjoint(change.elected))


@document
@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that the simulated coordinator would have said or written otherwise.

    ``recorded`` or ``simulated`` is null where one side has nothing. ``rules`` of the table of releases, the fewest: where the
    simulated coordinator follows another release in them, it does what is recorded.
    """

    at_ms: int
    group: str
    what: str
    recorded: object
    simulated: object
    rules: tuple[str, ...] = ()
