"""What all our commands share: what they print reaches a terminal as text alone, and wrong words on their line are refused in one
line, where argparse would print the whole usage."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser, OutputWrapper
from django.dispatch import Signal

from groups.address_space import bound_memory
from groups.terminal import terminal_name, terminal_text

command_ended: Final = Signal()
"""Sent with the ``name`` of a command, its ``options`` and whether it ``failed``; some of it may be done all the same."""

BAD_USAGE = 2
"""Exit code of bad usage and of bad input."""


class TerminalOutput(OutputWrapper):
    """Standard output or error, on which no name can move the cursor, ring or change a title (``groups.terminal``)."""

    def __init__(self, out: TextIO, ending: str = "\n", *, one_line: bool = False) -> None:
        super().__init__(out, ending)
        self.one_line = one_line

    def write(self, msg: str = "", style_func: Any = None, ending: str | None = None) -> None:  # type: ignore[override]
        # Only Django's own messages about its settings have several lines, and a style of their own.
        as_text = terminal_name if self.one_line and style_func is None else terminal_text
        super().write(as_text(msg.removesuffix("\n")) + "\n" * msg.endswith("\n"), style_func, ending)


class TerminalCommand(BaseCommand):
    """A command of ours: it writes to ``TerminalOutput``, and to nothing else but files."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._write_to(options.get("stdout") or sys.stdout, options.get("stderr") or sys.stderr)

    address_bytes_most: int | None = None
    """Bound on the memory of a command that reads what is not trusted; it is set where the command has a process of its own."""

    def run_from_argv(self, argv: list[str]) -> None:
        if self.address_bytes_most is None:
            super().run_from_argv(argv)
            return
        bound_memory(self.address_bytes_most)
        try:
            super().run_from_argv(argv)
        except MemoryError:
            gib = self.address_bytes_most / 1024**3
            self.stderr.write(f"It needs more than the {gib:g} GiB of memory that this command may have.")
            sys.exit(1)

    def execute(self, *args: Any, **options: Any) -> Any:
        # Django would take the streams that a caller gives as they are.
        given = options.pop("stdout", None), options.pop("stderr", None)
        self._write_to(given[0] or self.stdout._out, given[1] or self.stderr._out)
        name, failed = type(self).__module__.rpartition(".")[2], True
        try:
            result = super().execute(*args, **options)
            failed = False
            return result
        finally:
            command_ended.send(type(self), name=name, options=options, failed=failed)

    def _write_to(self, out: Any, error: Any) -> None:
        self.stdout = TerminalOutput(out)
        self.stderr = TerminalOutput(error, one_line=True)
        self.stderr.style_func = self.style.ERROR


class OneLineParser(CommandParser):
    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            super().error(message)
        self.exit(
            BAD_USAGE, f"{self.prog}: {terminal_name(message)} (`{self.prog} --help` tells what it takes)\n"
        )


def in_one_line(parser: CommandParser) -> None:
    """Make a command's parser, and those of verbs that are added to it later, refuse in one line.

    Django makes the parser before a command sees it, so the command can only change what it is.
    """
    parser.__class__ = OneLineParser


def usage(message: str) -> CommandError:
    """The error of bad usage or bad input, to be raised. What is only not found is a plain ``CommandError``, whose exit code is 1."""
    return CommandError(message, returncode=BAD_USAGE)


def chosen(option: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise usage(f"{option} {value}: there are {', '.join(choices)}")
    return value


@contextlib.contextmanager
def file_named(name: object) -> Iterator[None]:
    """Inside, a file that cannot be read or written is bad usage. ``name`` begins the sentence: the file, or its option with it."""
    try:
        yield
    except OSError as error:
        raise usage(f"{name}: {error.strerror or error}") from None


def text_of_file(name: str) -> str:
    """The file's text in UTF-8; ``-`` is standard input."""
    try:
        with file_named(name):
            return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise usage(f"{name}: not text in UTF-8, byte {error.start} is wrong") from None


def number(option: str, text: str | None, usual: int, most: int, *, least: int = 1) -> int:
    if text is None:
        return usual
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most:
        return int(text)
    raise usage(f"{option} {text}: expected a whole number from {least} to {most}")


def whole_number(word: str) -> int:
    """For ``add_argument(type=…)``: argparse's own words name Python's types."""
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {word!r}") from None
