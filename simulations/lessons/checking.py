"""Holds a lesson against its run: every reference resolves, every fact holds, every answer is the run's."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from simulations.lessons.document import Lesson
from simulations.lessons.filling import Problem
from simulations.lessons.sheets import Made, sheet_of
from simulations.lessons.source import Source
from simulations.lessons.texts import Text
from simulations.world.scenario import ScenarioError
from simulations.world.scenario.errors import nearest


def problems(lesson: Lesson, source: Source, words: Collection[str] = ()) -> tuple[Problem, ...]:
    """All that is wrong, by line. ``words`` are the glossary's, which terms must be of."""
    return checked(lesson, source, words)[1]


def checked(
    lesson: Lesson, source: Source, words: Collection[str] = ()
) -> tuple[Made | None, tuple[Problem, ...]]:
    """The lesson as it is played, None where it cannot be, and all that is wrong with it."""
    unknown = tuple(_unknown_words(lesson, words)) if words else ()
    try:
        made = sheet_of(lesson, source)
    except ScenarioError as error:
        return None, tuple(sorted((*unknown, Problem(error.line, error.field, error.message))))
    return made, tuple(sorted((*unknown, *made.problems)))


def _unknown_words(lesson: Lesson, words: Collection[str]) -> Iterator[Problem]:
    for text in _texts(lesson):
        for term in text.terms:
            if term not in words:
                yield Problem(text.line, text.field, f"the glossary has no {term!r}; {nearest(term, words)}")
    for beat in lesson.beats:
        for term in beat.terms:
            if term not in words:
                yield Problem(
                    beat.line, f"{beat.field}.terms", f"the glossary has no {term!r}; {nearest(term, words)}"
                )


def _texts(lesson: Lesson) -> Iterator[Text]:
    yield lesson.goal
    if lesson.table is not None:
        yield from (row.text for row in lesson.table.rows)
        if lesson.table.slip is not None:
            yield lesson.table.slip
    for beat in lesson.beats:
        yield from beat.text
        yield from (text for text in (beat.notes, beat.cite) if text is not None)
        if (ask := beat.ask) is not None:
            yield ask.question
            yield from (text for text in (ask.hint, ask.then) if text is not None)
            yield from ask.because.values()
            for option in ask.options:
                yield option.text
                if option.because is not None:
                    yield option.because
