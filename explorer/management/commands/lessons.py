"""``manage.py lessons``: the bundled lessons, and whether a lesson that somebody writes is right."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandParser

from explorer.web.glossary import terms
from groups.command_line import TerminalCommand, file_named, in_one_line, usage
from simulations import courses
from simulations.lessons.checking import checked
from simulations.lessons.lesson_yaml import read_lesson
from simulations.world.scenario import ScenarioError

NO = 1
"""Exit code where the answer is "no": a lesson states what its run does not bear out."""

BYTES_MOST = 1024 * 1024
"""A lesson is some pages of text; what is larger is another file."""


class Command(TerminalCommand):
    help = "List the lessons, show one as it is played, or check lesson files against their runs."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        verbs.add_parser("list", help="a line for each lesson: its id, course, title and minutes")
        show = verbs.add_parser("show", help="a lesson as a page plays it, in a line")
        show.add_argument("id", metavar="ID", help="as `lessons list` names it")
        check = verbs.add_parser(
            "check", help="a line for each file: what is wrong in it; exit 1 if anything is"
        )
        check.add_argument("files", metavar="FILE", nargs="+", help="lessons (YAML); - reads standard input")
        for verb in (show, check):
            in_one_line(verb)

    def handle(self, *args: Any, **options: Any) -> None:
        match options["verb"]:
            case "list":
                self._list()
            case "show":
                self._show(options["id"])
            case "check":
                self._check(options["files"])

    def _list(self) -> None:
        for course in courses.courses():
            for name in course.lessons:
                lesson = courses.load(name)
                self._line(
                    {"id": name, "course": course.id, "title": lesson.title, "minutes": lesson.minutes}
                )

    def _show(self, name: str) -> None:
        if name not in courses.names():
            raise usage(f"There is no lesson {name!r}; `manage.py lessons list` names them.")
        made, _ = checked(courses.load(name), courses.Bundled())
        assert made is not None
        self._line(made.sheet)

    def _check(self, files: list[str]) -> None:
        wrong = False
        for file in files:
            found = _problems(_text(file))
            wrong = wrong or bool(found)
            self._line({"file": file, "problems": found})
            for each in found:
                self.stderr.write(f"{file}, line {each['line']}, {each['field']}: {each['message']}")
        if wrong:
            sys.exit(NO)

    def _line(self, value: Any) -> None:
        self.stdout.write(orjson.dumps(value).decode())


def _text(file: str) -> str:
    with file_named(file):
        raw = sys.stdin.buffer.read(BYTES_MOST + 1) if file == "-" else Path(file).read_bytes()
    if len(raw) > BYTES_MOST:
        raise usage(f"{file}: a lesson has at most {BYTES_MOST // 1024} KB")
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise usage(f"{file}: byte {error.start} is no UTF-8") from None


def _problems(text: str) -> list[dict[str, Any]]:
    try:
        lesson = read_lesson(text)
    except ScenarioError as error:
        return [{"line": error.line, "field": error.field, "message": error.message}]
    _, found = checked(lesson, courses.Bundled(), terms())
    return [{"line": each.line, "field": each.field, "message": each.message} for each in found]
