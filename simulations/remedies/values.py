"""Values of a search for remedies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypedDict

from groups.history.state.group import Semantics
from simulations.fork.values import Assumption, Document

SEEDS_USUAL: Final = 20
SEEDS_MOST: Final = 50
"""Seeds of one remedy: a median does not get surer by more."""

MEMBERS_MOST: Final = 100
"""Members of an incident: one run of a larger group takes several seconds, and a search has hundreds."""

PARTITIONS_MOST: Final = 1_000
"""Partitions of an incident; see ``MEMBERS_MOST``."""

LENGTH_MOST_MS: Final = 1_800_000
"""Half an hour after the moment; an incident that is longer is looked at in parts."""

WORK_MOST: Final = 30_000
"""Runs times members of one search: some ten minutes of one processor."""

Change = Callable[[Document], Document]
"""A scenario's document with something changed; the given one stays as it is."""


class Measures(NamedTuple):
    """Of one run. ``unassigned_ms``: partition-milliseconds without an owner; ``not_read_ms``: in which nobody fetched, also while the
    owner is in a callback, does not poll or is gone; ``interrupted``: members that ran and had to stop reading everything."""

    not_read_ms: int
    unassigned_ms: int
    interrupted: int
    read_twice: int


class Spread(TypedDict):
    """A measure over all seeds."""

    least: int
    median: int
    most: int
    seeds: list[int]
    """In the order of the seeds."""


class Outcome(StrEnum):
    """What a remedy did to the partition-seconds not read, seed by seed."""

    LESS = "less"
    NONE = "no difference"
    MORE = "more"


class Otherwise(TypedDict):
    """The assumption on which a remedy's answer depends most: its value, another one, and the answer with it."""

    name: str
    value: str
    other: str
    outcome: str
    not_read_ms: int
    replay_ms: int


class Row(TypedDict):
    """A remedy with its figures. ``problem``: why it could not run, ``None`` if it did."""

    key: str
    name: str
    setting: str
    not_read_ms: Spread | None
    unassigned_ms: Spread | None
    interrupted: Spread | None
    read_twice: Spread | None
    outcome: str | None
    fewer: int
    """Seeds in which less was not read than in the replay with the same seed."""
    depends_on: Otherwise | None
    problem: str | None


class Recorded(TypedDict):
    """What the recording measured from the moment on; ``None``: it does not contain that."""

    not_read_ms: int | None
    unassigned_ms: int
    epochs: int
    """Group epochs or generations that began."""


class Answer(TypedDict):
    """A search that ended. ``why``: why nothing is ranked, ``None`` if something is. The first row is the replay."""

    why: str | None
    seeds: int
    recorded: Recorded
    replay_epochs: Spread | None
    rows: list[Row]
    assumptions: list[Assumption]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """A change of the incident that somebody could have made before it."""

    key: str
    name: str
    setting: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """A value that the replay assumes, with another one that it could have."""

    name: str
    value: str
    other: str
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """The replay with nothing changed, from the moment to the recording's end."""

    document: Document
    semantics: Semantics
    seed: int
    recorded: Recorded
    assumptions: tuple[Assumption, ...]
    of_records: bool = False
    """Of a log, which shows when members are removed, and not how they ended."""


class RemediesError(ValueError):
    """Why there is no search: one sentence. ``field`` is its place in the request."""

    def __init__(self, message: str, field: str = "at") -> None:
        super().__init__(message)
        self.field = field
