"""The lines of a script that begins at the moment, each as a line of a document with its time in milliseconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.fork.continuing import Line
from simulations.fork.values import Document
from simulations.world.scenario import Verb
from simulations.world.scenario.verbs import FORMS, Who

DOWN: Final = (str(Verb.KILL), str(Verb.LEAVE))
RESTARTS: Final = (str(Verb.RESTART), str(Verb.BOUNCE))


def at_of(line: Line) -> int:
    return int(str(line["at"]).removesuffix("ms"))


def moved(line: Line, at_ms: int) -> Line:
    return line | {"at": f"{max(1, at_ms)}ms"}


def until_of(document: Document) -> int:
    return int(str(document["until"]).removesuffix("ms"))


def with_script(document: Document, script: Sequence[Line]) -> Document:
    """The document with this script, and as long as it needs."""
    last = max(map(at_of, script), default=0)
    return {
        **document,
        "script": sorted(script, key=at_of),
        "until": f"{max(until_of(document), last + TAIL_MS if last > until_of(document) else 0)}ms",
    }


TAIL_MS: Final = 60_000
"""A script that a remedy makes longer is followed for as long as a session timeout and the rebalance after it take."""


def verb_of(line: Line) -> str:
    return next(key for key in line if key in FORMS)


def member_of(line: Line) -> str | None:
    """The one member that a line is about."""
    verb = verb_of(line)
    who = line[verb]
    return who if FORMS[Verb(verb)].who is Who.MEMBER and isinstance(who, str) else None


def split(script: Sequence[Line]) -> list[Line]:
    """A line for each member of a list."""
    lines: list[Line] = []
    for line in script:
        verb = verb_of(line)
        who = line[verb]
        several = who if FORMS[Verb(verb)].who is Who.MEMBER and isinstance(who, list) else [who]
        lines += [line | {verb: each} for each in several]
    return sorted(lines, key=at_of)


@dataclass(frozen=True, slots=True)
class Absence:
    """A member's process ends, and another one starts: places of the lines in the script; ``up`` is ``None`` if none starts."""

    member: str
    down: int
    up: int | None


def absences(script: Sequence[Line]) -> Iterator[Absence]:
    """Each time that a member goes away, in order."""
    for place, line in enumerate(script):
        verb, who = verb_of(line), member_of(line)
        if who is None:
            continue
        if verb in RESTARTS:
            yield Absence(who, place, place)
        elif verb in DOWN:
            later = (
                other
                for other in range(place + 1, len(script))
                if member_of(script[other]) == who and verb_of(script[other]) in ("join", *RESTARTS)
            )
            yield Absence(who, place, next(later, None))
