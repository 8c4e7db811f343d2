"""Names as people see them."""

from __future__ import annotations

from typing import Final

EMPTY_NAME: Final = "(empty name)"


def shown_name(name: str) -> str:
    """A group's name, or a mark in its place if it has no visible character: Kafka allows "" and " ".

    >>> shown_name("orders"), shown_name(" "), shown_name("")
    ('orders', '(empty name)', '(empty name)')
    """
    has_ink = any(letter.isprintable() and not letter.isspace() for letter in name)
    return name if has_ink else EMPTY_NAME


def or_title(group: str, title: str) -> str:
    """A group's name as a heading, or a timeline's title if the group has no visible name."""
    return group if shown_name(group) == group else shown_name(title)
