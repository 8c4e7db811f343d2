"""Assignors by hand: a lesson about a case of the laboratory, where the reader is the leader and then sees the answers.

``{uniform.A}`` is what an assignor gives to A, ``{before.A}`` what A had, ``{uniform.moved}`` how many partitions move.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

from simulations.laboratory import Case, CaseError, answers
from simulations.laboratory.assignor_answers import Answer
from simulations.laboratory.cases import NOBODY
from simulations.laboratory.links import case_of
from simulations.lessons.document import Lesson, Place
from simulations.lessons.explaining import Explainer
from simulations.lessons.filling import Filling, Problem
from simulations.lessons.references import BadReference
from simulations.lessons.values import Members, Number, Partitions, TextPart, Value, partitions, parts
from simulations.world.scenario.errors import ScenarioError, nearest

ASSIGNORS: Final = ("range", "roundrobin", "sticky", "cooperative-sticky", "consumer-range", "uniform")
"""The six of the laboratory in its order; the consumer protocol's range has a name of its own here."""

MEASURES: Final[Mapping[str, str]] = {
    "moved": "partitions that change their owner",
    "revoked": "partitions that an owner loses",
    "least": "the fewest partitions of one member",
    "most": "the most partitions of one member",
    "paused": "partitions that nobody reads for a while",
    "interrupted": "members that stop reading something",
    "rebalances": "rounds until the end",
}

PARTITIONS_MAX: Final = 24
"""More partitions are not placed by hand."""

MEMBERS_MAX: Final = 6


class MemberSheet(TypedDict):
    name: str
    topics: list[str]
    joins: bool
    leaves: bool


class AnswerSheet(TypedDict):
    """``after``: the owner of each partition, in their order, or None; ``sent`` where the first round gives less."""

    name: str
    after: list[str | None]
    sent: list[str | None] | None
    measures: dict[str, int]


class HandsSheet(TypedDict):
    """A case as a page shows it: who had what, who may have it, and what the assignors answer."""

    query: str
    members: list[MemberSheet]
    partitions: list[str]
    before: list[str | None]
    answers: list[AnswerSheet]


class Hands(Filling):
    """References, facts and questions over a case."""

    def __init__(self, lesson: Lesson) -> None:
        super().__init__()
        try:
            self.case: Case = case_of(lesson.of)
        except CaseError as error:
            raise ScenarioError(lesson.of_line, "case", str(error)) from None
        total = sum(self.case.sizes)
        if total > PARTITIONS_MAX or len(self.case.everybody) > MEMBERS_MAX:
            raise ScenarioError(
                lesson.of_line,
                "case",
                f"by hand one places {PARTITIONS_MAX} partitions among {MEMBERS_MAX} members at most",
            )
        self.query = lesson.of
        self.names = self.case.names
        self.columns = [
            f"{topic}-{number}"
            for topic, size in zip(self.case.topic_names, self.case.sizes, strict=True)
            for number in range(size)
        ]
        self.answers: dict[str, Answer] = dict(zip(ASSIGNORS, answers(self.case), strict=True))
        for name, answer in self.answers.items():
            if answer.error is not None:
                raise ScenarioError(lesson.of_line, "case", f"{name} has no answer: {answer.error}")

    def index(self, place: Place, otherwise: int) -> int:
        if place.mark in ("start", "end"):
            return 0
        self.problems.append(Problem(place.line, place.field, "a case has one moment: at: start"))
        return otherwise

    def sequence(self, index: int) -> int:
        return 0

    def is_member(self, name: str) -> bool:
        return name in self.names

    def explainer(self, path: str, index: int, before: int) -> Explainer | None:
        return None

    def _value(self, path: str, index: int) -> Value:
        head, _, asked = path.rpartition(".")
        if path in self.names:
            return Members((path,), single=True)
        if path in self.columns:
            return Partitions((path,))
        if head == "before" and asked in self.names:
            return self._owned(next(iter(self.answers.values())).before, asked)
        if head == "group" and asked == "count":
            return Number(len(self.columns))
        if head == "group" and asked == "size":
            return Number(len(self.names))
        answer = self.answers.get(head)
        if answer is None:
            known = (*self.names, *self.columns, *ASSIGNORS, "before", "group")
            raise BadReference(
                f"nothing in this case is called {head or asked}; {nearest(head or asked, known)}"
            )
        if asked in self.names:
            return self._owned(answer.after, asked)
        if asked in MEASURES:
            return Number(int(getattr(answer.measures, asked)))
        if asked == "withheld":
            sent = answer.sent or answer.after
            return partitions(
                name
                for name, now, after in zip(self.columns, sent, answer.after, strict=True)
                if now != after
            )
        raise BadReference(
            f"an answer has no {asked}; {nearest(asked, (*self.names, *MEASURES, 'withheld'))}"
        )

    def _owned(self, owners: tuple[int, ...], name: str) -> Partitions:
        place = self.names.index(name)
        return partitions(
            column for column, owner in zip(self.columns, owners, strict=False) if owner == place
        )

    def candidates(self, value: Value, path: str, index: int, reveal: int) -> list[str]:
        match value:
            case Partitions():
                return self.columns
            case Members():
                return list(self.names)
            case Number(number):
                return [str(each) for each in range(max(0, number - 2), number + 3)]
        return []

    def explained(self, candidate: str, path: str, *, right: bool) -> list[TextPart]:
        """Where an assignor puts a partition, in place of what the reader thought."""
        head, _, asked = path.rpartition(".")
        answer = self.answers.get(head)
        if answer is None:
            return []
        if candidate in self.columns and asked == "withheld":
            words = (
                " moves, so it is withheld in the first round."
                if right
                else " does not move, so it is sent at once."
            )
            return [*parts(Partitions((candidate,)), path), {"kind": "text", "text": words}]
        if candidate in self.columns:
            owner = answer.after[self.columns.index(candidate)]
            return [
                {"kind": "code", "text": head},
                {"kind": "text", "text": " gives "},
                *parts(Partitions((candidate,)), path),
                {"kind": "text", "text": " to "},
                *parts(Members((self.names[owner],) if owner != NOBODY else ()), path),
                {"kind": "text", "text": "."},
            ]
        if candidate.isdecimal() and not right and asked in MEASURES:
            value = getattr(answer.measures, asked)
            return [
                {"kind": "text", "text": f"Count the {MEASURES[asked]} in the row of "},
                {"kind": "code", "text": head},
                {"kind": "text", "text": f": {value}."},
            ]
        return []

    def sheet(self) -> HandsSheet:
        first = next(iter(self.answers.values()))
        case = self.case
        joining = len(case.members)
        return {
            "query": self.query,
            "members": [
                {
                    "name": name,
                    "topics": [case.topic_names[topic] for topic in member.topics],
                    "joins": place >= joining,
                    "leaves": place in case.leaving,
                }
                for place, (name, member) in enumerate(zip(self.names, case.everybody, strict=True))
            ],
            "partitions": self.columns,
            "before": [self._name(owner) for owner in first.before]
            + [None] * (len(self.columns) - len(first.before)),
            "answers": [
                {
                    "name": name,
                    "after": [self._name(owner) for owner in answer.after],
                    "sent": None if answer.sent is None else [self._name(owner) for owner in answer.sent],
                    "measures": {measure: int(getattr(answer.measures, measure)) for measure in MEASURES},
                }
                for name, answer in self.answers.items()
            ],
        }

    def _name(self, owner: int) -> str | None:
        return None if owner == NOBODY else self.names[owner]
