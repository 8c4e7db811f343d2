"""What happened to one group: requests, answers and records, with times in milliseconds of one machine's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Fields = Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Sent:
    """A request, and its answer if there was one. ``ticket`` is its number in the transcript."""

    ticket: int
    at_ms: int
    api: str
    version: int
    client: str
    body: Fields
    answer: Fields | None = None
    done_ms: int | None = None


@dataclass(slots=True, kw_only=True)
class Restarted:
    """Another coordinator had loaded the log by ``at_ms``; whatever was parked is lost with its connection.

    ``stopped_ms`` is when the last coordinator was told to stop.
    """

    at_ms: int
    stopped_ms: int


@dataclass(slots=True, kw_only=True)
class Written:
    """A record of the group in the broker's log."""

    at_ms: int
    payload: Fields


@dataclass(slots=True, kw_only=True)
class Transcript:
    """``topics`` is name → (id, partitions), the same from the start; ``settings`` are Kafka's names of the broker's."""

    group: str
    settings: dict[str, str]
    topics: dict[str, tuple[str, int]]
    events: list[Sent | Restarted] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)
    end_ms: int = 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Transcript:
        return cls(
            group=told["group"],
            settings=dict(told["settings"]),
            topics={name: (each[0], each[1]) for name, each in told["topics"].items()},
            events=[Sent(**each) if "api" in each else Restarted(**each) for each in told["events"]],
            written=[Written(**each) for each in told["written"]],
            end_ms=told["end_ms"],
        )
