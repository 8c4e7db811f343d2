"""An error's text for a sentence or a line of a log."""

from __future__ import annotations


def one_line(error: BaseException) -> str:
    """The text without a full stop. A database's has several lines."""
    return " ".join(str(error).split()).rstrip(".")
