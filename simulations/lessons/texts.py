"""The sentences of a lesson: words, ``{references}``, ``[terms]`` and ```code```.

What a run fills in may not be written by hand, since it would go stale: digits, partitions and members stand in braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from simulations.world.scenario import ScenarioError

TEXT_MAX: Final = 1_500
"""Characters of a paragraph: a beat holds one idea, and a page next to a board some hundred words."""

_PART: Final = re.compile(
    r"\{(?P<reference>[^{}]*)\}|\[(?P<term>[^\[\]|]+)(?:\|(?P<word>[^\[\]|]+))?\]|`(?P<code>[^`]+)`"
)

_PROPOSAL: Final = re.compile(r"\b(?:KIP|KAFKA)-\d+\b")
_PARTITION: Final = re.compile(r"\b[A-Za-z][\w.]*-\d+\b")
_DIGITS: Final = re.compile(r"\d+")
_LETTER: Final = re.compile(r"(?<![\w'’.])[B-HJ-Z](?![\w'’-]|\.\w)|(?<=[a-z,;:] )A(?![\w'’-])|\bA(?=['’]s\b)")
"""A capital letter that is alone is a member; an A may be the article where a sentence begins, an I a pronoun."""


@dataclass(frozen=True, slots=True)
class Words:
    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    path: str


@dataclass(frozen=True, slots=True)
class Term:
    """``shown`` is in the sentence, ``word`` is the glossary's."""

    shown: str
    word: str


@dataclass(frozen=True, slots=True)
class Code:
    text: str


Part = Words | Reference | Term | Code


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A sentence or a few, and where they stand."""

    parts: tuple[Part, ...]
    line: int
    field: str

    @property
    def terms(self) -> Iterator[str]:
        return (part.word for part in self.parts if isinstance(part, Term))


def read_text(written: str, line: int, field: str) -> Text:
    """``ScenarioError`` for what is written by hand and should be a reference."""
    if len(written) > TEXT_MAX:
        raise ScenarioError(
            line, field, f"a paragraph has at most {TEXT_MAX} characters, this has {len(written)}"
        )
    parts: list[Part] = []
    at = 0
    plain = " ".join(written.split())
    for found in _PART.finditer(plain):
        parts += _words(plain[at : found.start()], line, field)
        at = found.end()
        if found["code"] is not None:
            parts.append(Code(found["code"]))
        elif found["term"] is not None:
            parts.append(Term(found["term"], (found["word"] or found["term"]).lower()))
        else:
            parts.append(_reference(found["reference"], line, field))
    parts += _words(plain[at:], line, field)
    return Text(parts=tuple(parts), line=line, field=field)


def _words(text: str, line: int, field: str) -> Iterator[Words]:
    if not text:
        return
    for mark, name in (("{", "brace"), ("}", "brace"), ("`", "backtick"), ("[", "bracket"), ("]", "bracket")):
        if mark in text:
            raise ScenarioError(
                line, field, f"a {name} {mark} that has no partner, near {text.strip()[:40]!r}"
            )
    plain = _PROPOSAL.sub("KIP", text)
    if found := _PARTITION.search(plain):
        raise ScenarioError(
            line, field, f"the partition {found[0]} is written by hand; write {{{found[0]}}} or a reference"
        )
    if found := _DIGITS.search(plain):
        raise ScenarioError(
            line,
            field,
            f"the number {found[0]} is written by hand and may go stale; write a reference, such as {{A.epoch}}",
        )
    if found := _LETTER.search(plain):
        raise ScenarioError(
            line, field, f"the member {found[0]} is written by hand; write {{{found[0]}}} or a reference"
        )
    yield Words(text)


def _reference(written: str, line: int, field: str) -> Reference:
    path = " ".join(written.split())
    if not path:
        raise ScenarioError(line, field, "the braces are empty; write a reference, such as {A.epoch}")
    return Reference(path)
