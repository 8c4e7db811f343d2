"""The shapes of what the laboratory answers, as the API and the page have them (docs/reference/api.md describes each part)."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from simulations.protocol.assignors.measures import FiguresSheet


class Part(TypedDict):
    """Words of a sentence; ``board`` is the place of the answer that proves them."""

    text: str
    board: NotRequired[int]


class MemberDocument(TypedDict):
    topics: list[int]
    rack: str | None
    name: str | None
    id: str | None


class TopicDocument(TypedDict):
    partitions: int
    name: str | None


class GrownDocument(TypedDict):
    topic: int
    by: int


class CaseDocument(TypedDict):
    """A case, as ``simulations.laboratory.documents`` reads and writes it."""

    members: list[MemberDocument]
    joining: list[MemberDocument]
    leaving: list[int]
    grown: GrownDocument | None
    topics: list[TopicDocument]
    event: str
    before: str
    given: list[list[int]] | None
    seed: int


class AxesSheet(TypedDict):
    """Where the case is along the laboratory's choices; ``None`` where it is none of them."""

    sizes: str | None
    subscriptions: str | None
    racks: str | None
    before: str
    event: str


class MemberSheet(TypedDict):
    name: str
    rack: str | None
    topics: list[int]
    joins: bool
    leaves: bool


class TopicSheet(TypedDict):
    name: str
    partitions: int
    added: int


class StepSheet(TypedDict):
    """A step of an algorithm. ``columns`` are places of partitions."""

    says: str
    columns: NotRequired[list[int]]
    strip: NotRequired[list[list[int]]]
    """``[member, partitions, partitions before the step]`` of everybody who is there."""
    chips: NotRequired[list[list[int]]]
    """``[column, member]``, with −1 where a partition is free."""


class CountsSheet(TypedDict):
    before: list[int]
    after: list[int]


class FaultSheet(TypedDict):
    name: str
    says: str


class AnswerFigures(FiguresSheet):
    """``assigned`` are all partitions that have an owner; ``placed`` was its name before."""

    assigned: int


class AnswerSheet(TypedDict):
    """What one assignor answers. Owners are places of members by column, −1 for nobody."""

    protocol: str
    assignor: str
    rebalance: str
    before: list[int]
    after: list[int]
    sent: list[int] | None
    counts: CountsSheet
    measures: AnswerFigures | None
    faults: list[FaultSheet]
    error: str | None
    says: str
    changed: list[int]
    steps: list[StepSheet]
    play: str | None
    """Why it cannot be played on the board; ``None`` where it can."""


class ScorecardRow(TypedDict):
    key: str
    label: str
    title: str
    values: list[int | None]
    best: list[int]
    """Places of the boards with the best value, none where all are equal."""


class Sheet(TypedDict):
    """Everything that the laboratory answers about a case."""

    query: str
    title: str
    says: list[Part]
    case: CaseDocument
    axes: AxesSheet
    members: list[MemberSheet]
    topics: list[TopicSheet]
    answers: list[AnswerSheet]
    scorecard: list[ScorecardRow]
