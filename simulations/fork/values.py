"""A fork as values: what it changes, what it assumes, why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypedDict

from groups.history.evidence.display_names import NamedMember
from groups.history.frames.shapes import Frame
from groups.history.state.group import Semantics
from simulations.world.scenario import Scenario, Verb

FAULTS_MOST: Final = 50
"""Faults of one branch, each given by hand; more is a scenario, which has a page of its own."""

MEMBERS_MOST: Final = 500
"""Members of a group that is taken over: the first step of a larger one takes seconds, which a reader waits for."""

PARTITIONS_MOST: Final = 5_000
"""Partitions of a group that is taken over; see ``MEMBERS_MOST``."""

TAIL_MS: Final = 120_000
"""A branch continues this long after the moment, or after its last fault: two session timeouts, and the rebalance after them."""

Document = dict[str, Any]
"""A part of a scenario's document, as YAML gives it. ``Any``: the scenario's reader checks it when the branch is loaded."""

CONSUMER: Final = "consumer"
CLASSIC: Final = "classic"


class Mark(StrEnum):
    """Where a value comes from."""

    IN_LOG = "in the log"
    ASSUMED = "assumed"
    CHANGED = "changed by you"
    UNKNOWN = "unknown"


class Assumption(TypedDict):
    """One value that a fork starts from. ``value`` is ``None`` if unknown; ``key`` is its name in a fork's settings."""

    key: str
    name: str
    mark: str
    value: str | int | bool | None
    reason: str
    can_change: bool
    choices: list[str]
    """Values that the key takes; empty for a number or a text."""


class How(StrEnum):
    """``SAME_RUN``: the scenario is simulated from its beginning, with more lines. ``TAKEN_OVER``: it starts at the moment."""

    SAME_RUN = "same run"
    TAKEN_OVER = "taken over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that happens ``after_ms`` after the moment. ``for_ms`` is its length, ``to`` a topic's new number of partitions."""

    after_ms: int
    verb: Verb
    who: str
    for_ms: int | None = None
    to: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What a branch changes: settings by their keys, and faults."""

    settings: Mapping[str, str | int | bool | list[str]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A moment of a timeline.

    ``metadata``: the newest ``ConsumerGroupMemberMetadata`` of each member, as far as the log has one. ``scenario``: of a simulated
    run alone, with the release that it ran with; ``release`` and ``seed`` likewise.
    """

    frame: Frame
    cast: Sequence[NamedMember] = ()
    metadata: Mapping[str, Document] = field(default_factory=dict)
    scenario: Scenario | None = None
    semantics: Semantics = Semantics.KAFKA
    seed: int = 1
    later: Sequence[Mapping[str, object]] = ()
    """Of a log: what its members do after the moment, as lines of a script whose times are from the moment on."""

    @property
    def at_ms(self) -> int:
        return self.frame["at_ms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A branch to be run: the text of its scenario, and how it came about.

    ``left_out``: later lines of the parent's script that cannot happen after the edits, each with its reason.
    """

    text: str
    semantics: Semantics
    seed: int
    how: How
    members: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    left_out: tuple[str, ...] = ()


class ForkError(ValueError):
    """Why a moment cannot be forked, or an edit cannot be made: one sentence. ``field`` is its place in the request."""

    def __init__(self, message: str, field: str = "at", assumptions: Sequence[Assumption] = ()) -> None:
        super().__init__(message)
        self.field = field
        self.assumptions = tuple(assumptions)
        """Of a moment that lacks something: its rows, in which the missing values can be given."""
