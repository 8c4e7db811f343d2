"""The child process that plays lessons: a line of JSON in, a line out, one after the other.

A question is ``{"lesson": id}`` (a bundled one) or ``{"text": YAML}``, with ``words`` (the glossary's) to have it checked,
with ``logs`` (entries by name) that are stored elsewhere, and with ``take_over`` (``{"at_ms", "acts"}``) to have its run
played on. The answer is ``{"sheet", "problems"}``, or
``{"run", "scenario"}``, or ``{"error", "field"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from groups.child_side import answer_lines
from groups.history.entries import EntryLine
from simulations import courses
from simulations.lessons.checking import checked
from simulations.lessons.document import Kind, Lesson
from simulations.lessons.lesson_yaml import read_lesson
from simulations.lessons.playing import scenario_of
from simulations.lessons.sheets import played
from simulations.lessons.taking_over import ActError, played_on
from simulations.world.scenario import Scenario, ScenarioError

SOURCE: Final = courses.Bundled()


class Given(courses.Bundled):
    """What is bundled, and logs that came with the question."""

    def __init__(self, given: Mapping[str, Sequence[EntryLine]]) -> None:
        self.given = given

    def log(self, name: str) -> Sequence[EntryLine]:
        return self.given[name] if name in self.given else super().log(name)


def answered(question: Mapping[str, Any]) -> bytes:
    try:
        lesson = (
            courses.load(question["lesson"])
            if "lesson" in question
            else read_lesson(question["text"], "draft")
        )
    except KeyError:
        return orjson.dumps({"error": f"there is no lesson {question['lesson']}", "field": "lesson"})
    except ScenarioError as error:
        if "take_over" in question:
            return refused(error)
        return orjson.dumps({"sheet": None, "problems": [problem(error.line, error.field, error.message)]})
    if (asked := question.get("take_over")) is not None:
        return _played_on(lesson, asked)
    source = Given(question.get("logs") or {})
    made, problems = checked(lesson, source, question.get("words") or ())
    return orjson.dumps(
        {
            "sheet": made.sheet if made is not None else None,
            "problems": [problem(each.line, each.field, each.message) for each in problems],
        }
    )


def problem(line: int, field: str, message: str) -> dict[str, Any]:
    return {"line": line, "field": field, "message": message}


def refused(error: ActError | ScenarioError) -> bytes:
    return orjson.dumps(
        {"error": error.message if isinstance(error, ScenarioError) else str(error), "field": error.field}
    )


def _played_on(lesson: Lesson, asked: Mapping[str, Any]) -> bytes:
    try:
        run, text = played_on(_scenario(lesson), asked["at_ms"], asked["acts"])
    except (ActError, ScenarioError) as error:
        return refused(error)
    return orjson.dumps({"run": played(run), "scenario": text})


def _scenario(lesson: Lesson) -> Scenario:
    if lesson.kind is Kind.STUDY:
        try:
            return SOURCE.study(lesson.of)
        except KeyError:
            raise ActError(f"there is no case study {lesson.of}", "text") from None
    if lesson.kind is Kind.SCENARIO:
        return scenario_of(lesson)
    raise ActError("a recording, or a case of the laboratory, cannot be played on", "lesson")


if __name__ == "__main__":
    answer_lines(answered)
