"""Names as people see them."""

from __future__ import annotations

import shlex
from typing import Final

EMPTY_NAME: Final = "(empty name)"

LETTERS_SHOWN_MAX: Final = 4
"""Letters without ink that a mark names by their numbers."""


def shown_name(name: str) -> str:
    """A group's name, or a mark in its place if it has no visible character: Kafka allows "" and " ".

    >>> shown_name("orders"), shown_name(""), shown_name(" ")
    ('orders', '(empty name)', '(blank name: U+0020)')
    """
    if any(letter.isprintable() and not letter.isspace() for letter in name):
        return name
    return f"(blank name: {_letters(name)})" if name else EMPTY_NAME


def nameless_advice(name: str) -> str:
    """How to delete a group whose name has no visible character, and where it comes from; empty for any other name."""
    if shown_name(name) == name:
        return ""
    quoted = shlex.quote(name)
    if not name.isprintable():
        escapes = "".join(f"\\U{ord(one):08x}" for one in name)
        quoted = f"$'{escapes}'"
    deletes = f"kafka-consumer-groups.sh --delete --group {quoted} deletes it once it has no members"
    if name:
        return f"The id of this group has no visible character: {_letters(name)}. {deletes}. It comes back as long as a client has that group.id."
    return (
        f"The id of this group is the empty string. {deletes}; --describe refuses an empty id (INVALID_GROUP_ID). "
        'It comes back as long as a client commits with group.id="" (KIP-289): give that client an id, or none.'
    )


def or_title(group: str, title: str) -> str:
    """A group's name as a heading, or a timeline's title if the group has no visible name."""
    return group if shown_name(group) == group else shown_name(title)


def _letters(name: str) -> str:
    """``U+0020 U+000A``; of many the first ones."""
    more = " …" if len(name) > LETTERS_SHOWN_MAX else ""
    return " ".join(f"U+{ord(one):04X}" for one in name[:LETTERS_SHOWN_MAX]) + more
