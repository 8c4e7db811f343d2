"""Text for a terminal. Names come from logs, brokers and files, and a terminal obeys what it reads."""

from __future__ import annotations

import re
from typing import Final

LINES: Final = "\t\n"
"""What lays out a text of several lines."""

_COMMANDS: Final = re.compile(
    # C0, DEL and C1; what turns the direction of writing; separators of lines and paragraphs; halves of characters.
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def terminal_text(text: str, kept: str = LINES) -> str:
    r"""The text with each character that a terminal would obey as ``\u001b``, but for those in ``kept``. JSON stays the same JSON."""
    if text.isascii() and text.isprintable():
        return text
    return _COMMANDS.sub(lambda found: found[0] if found[0] in kept else f"\\u{ord(found[0]):04x}", text)


def terminal_name(text: str) -> str:
    """The same of a name, which begins no line of its own."""
    return terminal_text(text, kept="")


def terminal_line(line: bytes) -> bytes:
    """The same of a line of JSON in UTF-8."""
    if line.isascii() and b"\x7f" not in line:
        return line
    return terminal_text(line.decode()).encode()
