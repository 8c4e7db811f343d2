"""What a reference means, and how it is written: a number, a duration, partitions, members, or words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NotRequired, TypedDict

from groups.history.words import THIN_SPACE, duration, listed

PARTITIONS_NAMED_MAX: Final = 12
"""More partitions than this are counted in a sentence, not named."""

NOTHING: Final = "nothing"
NOBODY: Final = "nobody"


@dataclass(frozen=True, slots=True)
class Number:
    number: int


@dataclass(frozen=True, slots=True)
class Duration:
    length_ms: int


@dataclass(frozen=True, slots=True)
class Partitions:
    """In the order of their topics and numbers; ``unreadable`` is what else a log calls them."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Members:
    names: tuple[str, ...]
    single: bool = False
    """Whether it is one member at most by its nature, as an owner is."""


@dataclass(frozen=True, slots=True)
class Said:
    text: str


Value = Number | Duration | Partitions | Members | Said


class TextPart(TypedDict):
    """A piece of a sentence as a page shows it. ``reference``: the run has filled it in."""

    kind: Literal["text", "value", "partition", "member", "term", "code"]
    text: str
    word: NotRequired[str]
    reference: NotRequired[str]


def by_number(name: str) -> tuple[str, int]:
    """``foo-10`` behind ``foo-9``."""
    topic, _, number = name.rpartition("-")
    return topic, int(number) if number.isdecimal() else -1


def partitions(owned: Iterable[str]) -> Partitions:
    return Partitions(tuple(sorted(owned, key=by_number)))


def plain(value: Value) -> str:
    """As a sentence has it: ``22``, ``12.7 s``, ``foo-2 and foo-5``, ``nothing``, ``nobody``."""
    match value:
        case Number(number):
            return str(number)
        case Duration(length_ms):
            return duration(length_ms).replace(THIN_SPACE, " ")
        case Partitions(names):
            if len(names) > PARTITIONS_NAMED_MAX:
                return f"{len(names)} partitions"
            return listed(names, PARTITIONS_NAMED_MAX) if names else NOTHING
        case Members(names):
            return listed(names, len(names)) if names else NOBODY
        case Said(text):
            return text


def parts(value: Value, reference: str) -> list[TextPart]:
    """The same in pieces, so that a page can show members in their colours and partitions as what they are."""
    kind: Literal["partition", "member"]
    match value:
        case Partitions(names) if 0 < len(names) <= PARTITIONS_NAMED_MAX:
            kind = "partition"
        case Members(names) if names:
            kind = "member"
        case _:
            return [{"kind": "value", "text": plain(value), "reference": reference}]
    return [
        piece
        for place, name in enumerate(names)
        for piece in (
            *_joint(place, names),
            TextPart(kind=kind, text=name, reference=reference),
        )
    ]


def _joint(place: int, names: Sequence[str]) -> tuple[TextPart, ...]:
    if place == 0:
        return ()
    return (TextPart(kind="text", text=" and " if place == len(names) - 1 else ", "),)


def equals(value: Value, expected: str) -> bool:
    """Whether an author's words are this value. Sets are compared as sets, in whatever order they are written."""
    wanted = " ".join(expected.replace(THIN_SPACE, " ").split())
    if isinstance(value, Partitions | Members):
        empty = NOTHING if isinstance(value, Partitions) else NOBODY
        names = [] if wanted == empty else [name for name in re.split(r",\s*|\s+and\s+", wanted) if name]
        return sorted(names) == sorted(value.names)
    return wanted == plain(value)
