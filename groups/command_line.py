"""What our commands say of wrong words on their line: one line, where argparse would print the whole usage."""

from __future__ import annotations

import argparse
from typing import NoReturn

from django.core.management.base import CommandParser

BAD_USAGE = 2
"""Exit code of bad usage and of bad input."""


class OneLineParser(CommandParser):
    def error(self, message: str) -> NoReturn:
        if not self.called_from_command_line:
            super().error(message)
        self.exit(BAD_USAGE, f"{self.prog}: {message} (`{self.prog} --help` tells what it takes)\n")


def in_one_line(parser: CommandParser) -> None:
    """Make a command's parser, and those of verbs that are added to it later, refuse in one line.

    Django makes the parser before a command sees it, so the command can only change what it is.
    """
    parser.__class__ = OneLineParser


def whole_number(word: str) -> int:
    """For ``add_argument(type=…)``: argparse's own words name Python's types."""
    try:
        return int(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, found {word!r}") from None
