"""Regular expressions of a group: which topics they match, and the message for a broken one.

Theory of operation. A heartbeat that brings an expression compiles it, and a bad one is refused. What it matches is
found by a task in the background, for all expressions of the group at once (``resolve``); the result comes back as an
operation of its own, which writes a type 16 record for each and, if the topics changed, the next group epoch. The
next heartbeat of anybody then computes a target.

A broker compiles with RE2J, here RE2 itself does, of which RE2J is a translation to Java. They match alike, and accept
the same expressions but for a few: what RE2J refuses and RE2 does not is looked for (``description``); what RE2 alone
refuses is refused here, too: repetitions within repetitions of more than 1,000 in all, and a backslash before a letter
beyond ASCII. Their words for a broken one differ; ``description`` gives RE2J's.

Kafka: ``GroupMetadataManager.maybeUpdateRegularExpressions``, ``refreshRegularExpressions`` and
``handleRegularExpressionsResult``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import re2

from simulations.protocol.assignors.java_orders import utf16
from simulations.protocol.coordinator.consumer.outcome import Resolution, ResolveRegexes
from simulations.protocol.coordinator.image import Image

EXPRESSIONS_KEPT: Final = 256
"""Compiled ones; a group has few, and a run few groups."""

INVALID_ESCAPE: Final = "invalid escape sequence"
INVALID_NAME: Final = "invalid named capture"
DUPLICATE_NAME: Final = "duplicate capture group name"

_WORDS: Final = (
    ("no argument for repetition operator", "missing argument to repetition operator"),
    ("invalid repetition size", "invalid repeat count"),
    ("bad repetition operator", "invalid nested repetition operator"),
    ("missing ]", "missing closing ]"),
    ("missing )", "missing closing )"),
    ("unexpected )", "regexp/syntax: internal error"),
    ("trailing \\", "trailing backslash at end of expression"),
    ("invalid perl operator: (?<", INVALID_NAME),
    ("invalid perl operator", "invalid or unsupported Perl syntax"),
    ("invalid character class range", "invalid character class range"),
    ("invalid escape sequence", INVALID_ESCAPE),
    ("invalid named capture group", INVALID_NAME),
)
"""How RE2's words begin, and RE2J's for the same fault (``com.google.re2j.Parser``, measured on 1.8)."""

_TOKEN: Final = re.compile(
    r"\\Q.*?(?:\\E|$)|\\(?P<escaped>.)|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]|\(\?P?<(?P<name>[^>]*)>|.",
    re.DOTALL,
)
"""What an expression that RE2 takes is made of, as far as RE2J is stricter: escapes and names of groups."""

_NAME: Final = re.compile(r"[A-Za-z0-9_]+")


def resolve(task: ResolveRegexes, image: Image, started_ms: int) -> Resolution:
    """The topics of the image, internal ones too, that each expression matches in full.

    One that does not compile matches nothing. A broker leaves topics out that the member may not describe; here all
    may be described.
    """
    topics: dict[str, tuple[str, ...]] = {}
    for regex in task.regexes:
        pattern = _compiled(regex)
        matched = [] if pattern is None else [name for name in image.topics if pattern.fullmatch(name)]
        topics[regex] = tuple(sorted(matched, key=utf16))
    return Resolution(topics=topics, version=image.version, timestamp_ms=started_ms)


def description(regex: str) -> str | None:
    """What is wrong with an expression, in RE2J's words; ``None`` if nothing is."""
    try:
        re2.compile(regex, _QUIET)
    except re2.error as error:
        return _translated(regex, _message(error))
    return _stricter(regex)


def _stricter(regex: str) -> str | None:
    """What RE2 takes and RE2J does not: ``\\C``, and names of groups that are not plain or stand twice."""
    names: set[str] = set()
    for token in _TOKEN.finditer(regex):
        name = token["name"]
        if token["escaped"] == "C":
            return INVALID_ESCAPE
        if name is None:
            continue
        if not _NAME.fullmatch(name):
            return INVALID_NAME
        if name in names:
            return DUPLICATE_NAME
        names.add(name)
    return None


@lru_cache(maxsize=EXPRESSIONS_KEPT)
def _compiled(regex: str) -> re2._Regexp | None:
    return None if description(regex) is not None else re2.compile(regex, _QUIET)


def _quiet() -> re2.Options:
    """RE2 would write what it refuses to standard error."""
    options = re2.Options()
    options.log_errors = False
    return options


_QUIET: Final = _quiet()


def _message(error: Exception) -> str:
    known = error.args[0] if error.args else b""
    return known.decode("utf-8", "replace") if isinstance(known, bytes) else str(known)


def _translated(regex: str, known: str) -> str:
    """``missing closing ]`` from RE2's ``missing ]: [a``; the part of the expression is left out."""
    if known.startswith("invalid perl operator") and regex.endswith("(?P<"):
        return INVALID_NAME
    return next((of_java for words, of_java in _WORDS if known.startswith(words)), known)
