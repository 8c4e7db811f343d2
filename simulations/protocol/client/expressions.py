"""A client's own expression, as a classic consumer has one: the topics of its metadata that it matches.

Java's ``Pattern`` tries one way after the other, and some short expressions take it longer than anybody waits. RE2 does not, but
lacks look-around and references back: such an expression is refused where the scenario is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import re2

EXPRESSIONS_KEPT: Final = 256
"""Compiled ones; a group has few, and a run few groups."""


def matched(expression: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that the expression matches in full, ascending; none if it does not compile."""
    try:
        pattern = _compiled(expression)
    except re2.error:
        return ()
    return tuple(sorted(name for name in names if pattern.fullmatch(name)))


def fault(expression: str) -> str | None:
    """What is wrong with an expression, in RE2's words; ``None`` if nothing is."""
    try:
        _compiled(expression)
    except re2.error as error:
        reason = error.args[0] if error.args else b""
        return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    return None


@lru_cache(maxsize=EXPRESSIONS_KEPT)
def _compiled(expression: str) -> re2._Regexp:
    options = re2.Options()
    # What is refused would go to standard error.
    options.log_errors = False
    return re2.compile(expression, options)
