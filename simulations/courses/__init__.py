"""The bundled courses and their lessons: a YAML file each, and the recorded logs that some are about."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import orjson

from groups.history.entries import EntryLine
from simulations.lessons.document import Lesson
from simulations.lessons.lesson_yaml import read_lesson
from simulations.world import studies
from simulations.world.scenario import Scenario
from simulations.world.scenario.nodes import parse

SUFFIX: Final = ".yaml"
INDEX: Final = "courses.yaml"
LOG_SUFFIX: Final = ".jsonl.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """``lessons`` are ids, in the order in which they are understood."""

    id: str
    title: str
    text: str
    lessons: tuple[str, ...]


@cache
def courses() -> tuple[Course, ...]:
    """All courses, the first one first."""
    root = parse(
        (resources.files(__package__) / INDEX).read_text(encoding="utf-8"), "list of courses", "courses"
    )
    found = []
    for name, node in root.mapping().items():
        keys = node.mapping(("title", "says", "lessons"))
        found.append(
            Course(
                id=name,
                title=keys["title"].text(),
                text=keys["says"].text(),
                lessons=tuple(item.text() for item in keys["lessons"].items()),
            )
        )
    return tuple(found)


def files() -> list[Traversable]:
    """The files of this folder."""
    return list(resources.files(__package__).iterdir())


def names() -> tuple[str, ...]:
    """The ids of all lessons, in the order of the courses."""
    return tuple(lesson for course in courses() for lesson in course.lessons)


def text(name: str) -> str:
    """The YAML of a lesson; ``KeyError`` if there is none of that id."""
    if name not in names():
        raise KeyError(name)
    return resources.files(__package__).joinpath(name + SUFFIX).read_text(encoding="utf-8")


@cache
def load(name: str) -> Lesson:
    """The lesson; ``KeyError`` if there is none of that id."""
    return read_lesson(text(name), name)


def course_of(name: str) -> Course | None:
    return next((course for course in courses() if name in course.lessons), None)


def after(name: str) -> str | None:
    """The lesson that follows in the courses' order, or None after the last."""
    ordered = names()
    if name not in ordered or name == ordered[-1]:
        return None
    return ordered[ordered.index(name) + 1]


class Bundled:
    """What lessons are about: the case studies, and the logs in this folder."""

    def study(self, name: str) -> Scenario:
        return studies.load(name)

    def studies(self) -> Sequence[str]:
        return studies.names()

    def log(self, name: str) -> Sequence[EntryLine]:
        if name not in self.logs():
            raise KeyError(name)
        packed = resources.files(__package__).joinpath("logs", name + LOG_SUFFIX).read_bytes()
        return [orjson.loads(line) for line in gzip.decompress(packed).splitlines()]

    def logs(self) -> Sequence[str]:
        files = resources.files(__package__).joinpath("logs").iterdir()
        return sorted(file.name.removesuffix(LOG_SUFFIX) for file in files if file.name.endswith(LOG_SUFFIX))
