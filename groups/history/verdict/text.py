"""Clauses in the making: words, each with the step that proves it, or the list of its steps, or the time that it contains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, NotRequired, TypedDict

from groups.history.words import CLOCK_LEAST_MS, time_words

DAY_MS = 24 * 3_600_000

Role = Literal["start", "sum"]


class Clause(TypedDict):
    """Words of a verdict. ``sequence`` is the step that proves them, ``None`` for words in between."""

    text: str
    sequence: int | None
    sequences: NotRequired[list[int]]
    """Of a clause that counts n things: where they happened, in order, for stepping through them."""
    at_ms: NotRequired[int]
    """Of a time: the moment, so that a page can show it in another zone."""
    part: NotRequired[Role]
    """Of how the group formed, and of sums: a page shows them with the whole story only."""


class Worst(TypedDict):
    """The worst thing of a log: where it began, what it is."""

    sequence: int
    at_ms: int | None
    kind: str


class Figures(TypedDict):
    """The numbers next to a headline: ``longest_ms`` is the longest wait of its incident, ``longest`` the partition."""

    since_ms: int | None
    unread: int
    """Partitions that have no owner at the end, or one that commits nothing of them."""
    partitions: int | None
    """Of how many; null where the log does not show it."""
    longest_ms: int | None
    longest: str | None
    still: bool | None
    """Null where the log cannot show it, and where nothing is wrong."""
    releases: NotRequired[list[str]]
    """Of the brokers that wrote the records, as far as these show them: ``4.3``, ``4.4 or later``; several, by time, where brokers
    were rolled. Absent of verdicts from before it was kept."""


class Headline(TypedDict):
    """One sentence of at most 25 words; the texts of the clauses, put together, are ``text``."""

    text: str
    clauses: list[Clause]
    severity: str | None
    """``critical``, ``warning``; null where nothing is wrong."""
    certain: bool
    """False where part of it is inferred."""
    figures: Figures


class Verdict(TypedDict):
    """The texts of the clauses, put together, are ``text``; ``worst`` is ``None`` where nothing was wrong."""

    text: str
    clauses: list[Clause]
    worst: Worst | None
    headline: Headline


class Part(NamedTuple):
    """A piece of a sentence."""

    text: str
    sequence: int | None = None
    steps: Sequence[int] = ()
    at_ms: int | None = None


@dataclass(slots=True)
class Event:
    """What happened at a time, as a sentence; ``weight`` is how bad it was, in ms or by its kind."""

    at_ms: int
    sequence: int
    parts: list[Part]
    weight: int = 0
    kind: str = ""
    timed: bool = True
    """Whether the sentence begins with its time."""


class Text:
    """Sentences in the making; ``first_ms`` and ``last_ms`` are the log's: over a day, times contain the day too."""

    def __init__(self, first_ms: int, last_ms: int) -> None:
        self.clauses: list[Clause] = []
        self._dated = last_ms - first_ms > DAY_MS
        self._zoned = False
        self._role: Role | None = None

    def __bool__(self) -> bool:
        return bool(self.clauses)

    def sentence(self, parts: Iterable[Part], role: Role | None = None) -> None:
        """One sentence, ended by a full stop; nothing if there are no parts."""
        known = [part for part in parts if part.text or part.at_ms is not None]
        if not known:
            return
        self._role = role
        if self.clauses:
            self._add(Clause(text=" ", sequence=None))
        for number, part in enumerate(known):
            self._part(part, begins=not number)
        self._add(Clause(text=".", sequence=None))

    def _part(self, part: Part, *, begins: bool) -> None:
        if part.at_ms is not None:
            self._add(Clause(text=self.time(part.at_ms), sequence=None, at_ms=part.at_ms))
            return
        text = part.text[0].upper() + part.text[1:] if begins and part.sequence is None else part.text
        clause = Clause(text=text, sequence=part.sequence)
        steps = sorted(set(part.steps))
        if len(steps) > 1:
            clause["sequences"] = steps
        self._add(clause)

    def time(self, at_ms: int) -> str:
        """The zone is at the first time; others are of the same."""
        said = time_words(at_ms, dated=self._dated)
        if at_ms < CLOCK_LEAST_MS or self._zoned:
            return said
        self._zoned = True
        return f"{said} UTC"

    def _add(self, clause: Clause) -> None:
        if self._role is not None:
            clause["part"] = self._role
        last = self.clauses[-1] if self.clauses else None
        plain = clause["sequence"] is None and "at_ms" not in clause
        same = last is not None and last.get("part") == clause.get("part")
        if last is not None and same and plain and last["sequence"] is None and "at_ms" not in last:
            last["text"] += clause["text"]
        else:
            self.clauses.append(clause)


def text_of(clauses: Iterable[Clause]) -> str:
    return "".join(clause["text"] for clause in clauses)
