"""``manage.py assign [FILE|-]``: what an assignor answers to an assignment spec, as JSON Lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from django.conf import settings
from django.core.management.base import CommandParser

from groups.command_line import TerminalCommand, in_one_line, usage
from simulations.assignor_files import AssignorFileError, client_assignors
from simulations.protocol.assignors.spec_document import ORDERS, SpecError, answer_to

Ask = Callable[[object], Mapping[str, object]]

NO = 1
"""Exit code where the answer is "no": the assignor throws, as Kafka's does."""


class Command(TerminalCommand):
    help = "Answer assignment specs (a JSON document, or JSON Lines of them); JSON Lines on standard output."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        in_one_line(parser)
        parser.add_argument(
            "file",
            metavar="FILE",
            nargs="?",
            default="-",
            help="assignment specs; - (default) reads standard input",
        )
        parser.add_argument(
            "--stream",
            action="store_true",
            help="answer each line at once and in order; a line that is refused answers with an error",
        )
        parser.add_argument(
            "--order",
            choices=ORDERS,
            default="document",
            help="whose order of members and topics: the document's (default) or a real broker's",
        )
        parser.add_argument("--explain", action="store_true", help="add the steps of the algorithm")
        parser.add_argument(
            "--assignor-file",
            metavar="F",
            action="append",
            default=[],
            help="a Python file with a client-side assignor; it is run with all your rights, so it must be trusted",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        named = options["file"]
        try:
            clients = client_assignors((*settings.ASSIGNOR_FILES, *options["assignor_file"]))
        except AssignorFileError as error:
            raise usage(str(error)) from None
        ask = partial(answer_to, order=options["order"], explain=options["explain"], clients=clients)
        try:
            if named == "-":
                self.answer(sys.stdin.buffer, named, ask, stream=options["stream"])
            else:
                with Path(named).open("rb") as file:
                    self.answer(file, named, ask, stream=options["stream"])
        except BrokenPipeError:
            # The reader of the output has closed it (head, a closed pager); Python would complain again at its own end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            raise usage(f"{named}: {error.strerror}") from None

    def answer(self, source: BinaryIO, named: str, ask: Ask, *, stream: bool) -> None:
        if stream:
            for line in source:
                if line.strip():
                    self.write(answer_or_error(line, ask))
            return
        refused = False
        for place, line in documents(source.read()):
            try:
                answer = ask(parsed(line))
            except SpecError as error:
                raise usage(f"{named}{place}: {error}") from None
            refused = refused or "error" in answer
            self.write(answer)
        if refused:
            raise SystemExit(NO)

    def write(self, answer: Mapping[str, object]) -> None:
        self.stdout.write(orjson.dumps(answer).decode())
        self.stdout.flush()


def answer_or_error(line: bytes, ask: Ask) -> Mapping[str, object]:
    try:
        return ask(parsed(line))
    except SpecError as error:
        return {"error": str(error)}


def documents(text: bytes) -> Iterator[tuple[str, bytes]]:
    """One document that may span lines, or JSON Lines; each with its place in words."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise usage("no assignment spec: the input is empty")
    if len(lines) > 1 and not all_whole(line for _, line in lines[:1]):
        yield "", text
    else:
        for number, line in lines:
            yield f" line {number}" if len(lines) > 1 else "", line


def all_whole(lines: Iterable[bytes]) -> bool:
    """Whether each line is a JSON document for itself."""
    for line in lines:
        try:
            orjson.loads(line)
        except orjson.JSONDecodeError:
            return False
    return True


def parsed(text: bytes) -> object:
    try:
        document: object = orjson.loads(text.rstrip())
    except orjson.JSONDecodeError as error:
        raise SpecError(f"not JSON: {error}") from None
    # The fast reader takes the last of two fields of one name; a member would be gone without a word. What is nested too
    # deep for the other is no spec, and the message shows what it is.
    with suppress(RecursionError):
        json.loads(text, object_pairs_hook=each_once)
    return document


def each_once(fields: list[tuple[str, object]]) -> None:
    """Refuses an object that has two fields of one name."""
    names = [name for name, _ in fields]
    if len(set(names)) < len(names):
        twice = next(name for index, name in enumerate(names) if name in names[:index])
        raise SpecError(f"{twice}: stands twice in one object; expected each topic, member and field once")
