"""The courses as a page lists them, and the ways from other pages into lessons."""

from __future__ import annotations

from functools import cache
from typing import TypedDict

from django.urls import reverse

from simulations import courses
from simulations.lessons.document import Kind
from simulations.lessons.texts import Code, Reference, Term, Text, Words
from simulations.world import studies


class LessonLine(TypedDict):
    id: str
    title: str
    goal: str
    minutes: int
    beats: int
    pattern: str
    url: str


class CourseLine(TypedDict):
    id: str
    title: str
    says: str
    minutes: int
    lessons: list[LessonLine]


def listed() -> list[CourseLine]:
    """Every course with its lessons, in order."""
    found: list[CourseLine] = []
    for course in courses.courses():
        lines = [line_of(name) for name in course.lessons]
        found.append(
            {
                "id": course.id,
                "title": course.title,
                "says": course.text,
                "minutes": sum(line["minutes"] for line in lines),
                "lessons": lines,
            }
        )
    return found


def line_of(name: str) -> LessonLine:
    lesson = courses.load(name)
    return {
        "id": name,
        "title": lesson.title,
        "goal": plain(lesson.goal),
        "minutes": lesson.minutes,
        "beats": len(lesson.beats),
        "pattern": lesson.pattern or "",
        "url": reverse("lesson", args=[name]),
    }


def plain(text: Text) -> str:
    """A sentence that names nothing of its run, as text."""
    lessons = []
    for part in text.parts:
        match part:
            case Words(words):
                lessons.append(words)
            case Term(shown, _):
                lessons.append(shown)
            case Code(code):
                lessons.append(code)
            case Reference(path):
                lessons.append(path)
    return "".join(lessons)


PROPOSED, RELEASED = "kip848-", "released-"
"""A case of the proposal, and the same case as released brokers play it."""


@cache
def of_studies() -> dict[str, str]:
    """Case study → the first lesson about it, or about the same case by the proposal's rules."""
    found: dict[str, str] = {}
    for name in courses.names():
        if (known := study_of(name)) is not None:
            found.setdefault(known, name)
    for study in studies.names():
        twin = PROPOSED + study.removeprefix(RELEASED)
        if study.startswith(RELEASED) and twin in found:
            found.setdefault(study, found[twin])
    return found


def study_of(name: str) -> str | None:
    """The case study that a lesson is about."""
    lesson = courses.load(name)
    return lesson.of if lesson.kind is Kind.STUDY else None


@cache
def of_terms() -> dict[str, str]:
    """A word of the glossary → the address of the beat that shows it."""
    found: dict[str, str] = {}
    for name in courses.names():
        for number, beat in enumerate(courses.load(name).beats, 1):
            for term in beat.terms:
                found.setdefault(term, f"{reverse('lesson', args=[name])}?beat={number}")
    return found
