"""Text for a terminal and for pages. Names come from logs, brokers and files; a terminal obeys what it reads, and a page can be
made to show a name in another order, or two names as one."""

from __future__ import annotations

import re
from typing import Final

LINES: Final = "\t\n"
"""What lays out a text of several lines."""

HIDDEN: Final = r"\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
"""Characters without ink that turn the direction of writing, end lines, or only hide: the inside of a class of ``re`` and of the
browser's ``RegExp``. What joins letters (U+200C, U+200D) is not among them: Persian and emoji need it."""

_HIDDEN: Final = re.compile(f"[{HIDDEN}]")

_COMMANDS: Final = re.compile(
    # C0, DEL and C1; what hides; halves of characters.
    rf"[\x00-\x1f\x7f-\x9f{HIDDEN}\ud800-\udfff]"
)


def terminal_text(text: str, kept: str = LINES) -> str:
    r"""The text with each character that a terminal would obey as ``\u001b``, but for those in ``kept``. JSON stays the same JSON."""
    if text.isascii() and text.isprintable():
        return text
    return _COMMANDS.sub(lambda found: found[0] if found[0] in kept else f"\\u{ord(found[0]):04x}", text)


def page_text(text: str) -> str:
    r"""The text with each hidden character as ``\u202e``, which its reader sees. Other text is the same."""
    return text if text.isascii() else _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def page_json(text: str) -> str:
    """The same of the strings in JSON."""
    return text if text.isascii() else _HIDDEN.sub(lambda found: f"\\\\u{ord(found[0]):04x}", text)


def terminal_name(text: str) -> str:
    """The same of a name, which begins no line of its own."""
    return terminal_text(text, kept="")


def terminal_line(line: bytes) -> bytes:
    """The same of a line of JSON in UTF-8."""
    if line.isascii() and b"\x7f" not in line:
        return line
    return terminal_text(line.decode()).encode()
