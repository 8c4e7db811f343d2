"""Fills a lesson's sentences in from its run, and notes each thing that the run does not bear out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, Protocol

from simulations.lessons import frames
from simulations.lessons.classic_facts import is_classic
from simulations.lessons.document import Fact, Place
from simulations.lessons.explaining import Explainer
from simulations.lessons.playing import Run
from simulations.lessons.references import BadReference, Context, value_of
from simulations.lessons.texts import Code, Reference, Term, Text, Words
from simulations.lessons.values import (
    Duration,
    Members,
    Number,
    Partitions,
    Said,
    TextPart,
    Value,
    equals,
    parts,
    plain,
)
from simulations.world.scenario import ScenarioError

EPOCHS_AROUND: Final = 1
"""Next to the epochs that the frame has, the next one up: what a reader may expect from a confirmation."""

GROUP_STATES: Final = ("Empty", "Assigning", "Reconciling", "Stable")
CLASSIC_STATES: Final = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable")
MEMBER_STATES: Final = ("STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """What is wrong in a lesson, where, and what would be right."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.field}: {self.message}"


class Filler(Protocol):
    """What sentences, facts and questions need of a run, or of a case of the laboratory."""

    problems: list[Problem]

    def index(self, place: Place, otherwise: int) -> int: ...

    def sequence(self, index: int) -> int: ...

    def value(self, path: str, index: int, line: int, field: str) -> Value | None: ...

    def holds(self, fact: Fact, index: int) -> bool: ...

    def fill(self, text: Text, index: int) -> list[TextPart]: ...

    def candidates(self, value: Value, path: str, index: int, reveal: int) -> list[str]: ...

    def explainer(self, path: str, index: int, before: int) -> Explainer | None: ...

    def explained(self, candidate: str, path: str, *, right: bool) -> list[TextPart]: ...

    def is_member(self, name: str) -> bool: ...


class Filling(ABC):
    """What a run and a case of the laboratory have in common; ``_value`` is each one's own."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    @abstractmethod
    def _value(self, path: str, index: int) -> Value: ...

    def value(self, path: str, index: int, line: int, field: str) -> Value | None:
        try:
            return self._value(path, index)
        except BadReference as error:
            self.problems.append(Problem(line, field, f"{{{path}}}: {error}"))
            return None

    def fact(self, fact: Fact, index: int) -> None:
        """Notes a fact that does not hold."""
        value = self.value(fact.reference, index, fact.line, fact.field)
        if value is not None and not equals(value, fact.expected):
            self.problems.append(
                Problem(
                    fact.line,
                    fact.field,
                    f"the run says that {fact.reference} is {plain(value)}, not {fact.expected}",
                )
            )

    def holds(self, fact: Fact, index: int) -> bool:
        value = self.value(fact.reference, index, fact.line, fact.field)
        return value is not None and equals(value, fact.expected)

    def fill(self, text: Text, index: int) -> list[TextPart]:
        filled: list[TextPart] = []
        for part in text.parts:
            match part:
                case Words(words):
                    filled.append({"kind": "text", "text": words})
                case Code(code):
                    filled.append({"kind": "code", "text": code})
                case Term(shown, word):
                    filled.append({"kind": "term", "text": shown, "word": word})
                case Reference(path):
                    value = self.value(path, index, text.line, text.field)
                    filled += parts(value, path) if value is not None else []
        return filled


class RunFilling(Filling):
    """Of a run that is played."""

    def __init__(self, run: Run, context: Context) -> None:
        super().__init__()
        self.run, self.context = run, context

    def _value(self, path: str, index: int) -> Value:
        return value_of(path, index, self.context)

    def index(self, place: Place, otherwise: int) -> int:
        try:
            return self.run.place(place, self.context.marks)
        except ScenarioError as error:
            self.problems.append(Problem(error.line, error.field, error.message))
            return otherwise

    def sequence(self, index: int) -> int:
        return int(self.run.moments[index]["sequence"])

    def is_member(self, name: str) -> bool:
        return name in self.run.ids

    def explainer(self, path: str, index: int, before: int) -> Explainer:
        return Explainer(self.run, path, self.run.frames[index], self.run.frames[before])

    def explained(self, candidate: str, path: str, *, right: bool) -> list[TextPart]:
        return []

    def candidates(self, value: Value, path: str, index: int, reveal: int) -> list[str]:
        """Every answer that one could think of, the right one among them."""
        frame, before = self.run.frames[reveal], self.run.frames[index]
        match value:
            case Partitions(names):
                known = dict.fromkeys([*frames.existing(before), *frames.existing(frame), *names])
                return sorted(known, key=lambda name: (name.rpartition("-")[0], int(name.rpartition("-")[2])))
            case Members(names, single):
                here = {
                    self.run.names.get(member, member)
                    for each in (before, frame)
                    for member in each["members"]
                }
                return [*sorted(here | set(names)), *(["nobody"] if single else [])]
            case Number(number):
                epochs = {
                    number,
                    number + 1,
                    frames.group_epoch(before),
                    frames.group_epoch(before) + EPOCHS_AROUND,
                }
                member_epochs = (member.get("epoch") for member in before["members"].values())
                epochs |= {int(epoch) for epoch in member_epochs if epoch is not None}
                return [str(each) for each in sorted(each for each in epochs if each >= min(0, number))]
            case Said(text):
                of_groups = CLASSIC_STATES if is_classic(frame) else GROUP_STATES
                states = of_groups if path.startswith("group.") else MEMBER_STATES
                return [*states, *([] if text in states else [text])]
            case Duration():
                return []
