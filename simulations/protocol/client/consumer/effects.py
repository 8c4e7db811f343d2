"""What a consumer wants done: requests sent, callbacks run, an alarm set, the application notified. The engine does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from groups.history.words import counted
from simulations.protocol.client.consumer.errors import JAVA_EXCEPTIONS
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.messages.groups import Partitions


class Callback(StrEnum):
    """``ConsumerRebalanceListener``'s callbacks."""

    REVOKED = "on_partitions_revoked"
    ASSIGNED = "on_partitions_assigned"
    LOST = "on_partitions_lost"


class Operation(StrEnum):
    """Calls of the application that return, or throw, some time after they began."""

    POLL = "poll"
    UNSUBSCRIBE = "unsubscribe"
    CLOSE = "close"
    COMMIT_SYNC = "commit_sync"
    COMMIT_ASYNC = "commit_async"


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """A request for the coordinator; FindCoordinator is for any broker."""

    request: Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A callback that takes ``length_ms``; the consumer's ``called`` is to be called when it has returned."""

    callback: Callback
    partitions: Partitions
    length_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """The consumer's one alarm: call ``ring`` at ``at_ms``. A later one replaces it; ``None`` stops it."""

    at_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What the application gets: ``operation`` is over. With an ``exception``, Java's name of it, it has failed.

    ``poll`` is shown only when it throws; ``commit_async`` when its callback runs.
    """

    operation: Operation
    error_code: int = 0
    exception: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskMetadata:
    """Topics were assigned whose names the consumer does not know; pass them by ``metadata`` once it may."""

    topic_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A leader's assignor keeps partitions back for a round: member id → topic → partitions that it is to get then."""

    withheld: Mapping[str, dict[str, list[int]]]


Effect = Planned | Send | Call | Alarm | Returned | AskMetadata


def in_words(parts: Iterable[Mapping[str, Sequence[int]]]) -> str:
    """How many partitions all of these are."""
    return counted(sum(len(numbers) for each in parts for numbers in each.values()), "partition")


def minus(left: Partitions, right: Partitions) -> dict[str, tuple[int, ...]]:
    """``left`` without ``right``; topics without a partition fall out."""
    rest = {
        topic_id: tuple(p for p in numbers if p not in right.get(topic_id, ()))
        for topic_id, numbers in left.items()
    }
    return {topic_id: numbers for topic_id, numbers in rest.items() if numbers}


def tidy(partitions: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Partitions ascending, topics without any left out: as clients report and compare them."""
    return {topic_id: tuple(sorted(numbers)) for topic_id, numbers in partitions.items() if numbers}


def frozen(partitions: Partitions) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The same as a value that can be hashed, whatever the order of its topics."""
    return tuple(sorted(partitions.items()))


def thrown(code: int) -> Returned:
    """``poll()`` throws what means an error of a heartbeat."""
    exception = JAVA_EXCEPTIONS.get(code, "UnknownServerException")
    return Returned(operation=Operation.POLL, error_code=code, exception=exception)
