"""Headlines in the making: what a headline is about, in pieces of which each has shorter forms, and how they are made to fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from groups.history.verdict.text import Clause, Part, Text, text_of
from groups.history.words import listed

WORDS_MOST: Final = 25
"""A sentence that can be read aloud on a call, and fits a list, a card and an alert."""

QUIET_WORDS_MOST: Final = 9
"""Of a group in which nothing is wrong: under ten words."""

TAIL_WORDS: Final = 6
"""Room for since when, and that it is over, behind a lead that would leave none."""

MEMBERS_NAMED_MOST: Final = 3
"""Members that a headline names; of more it has the number."""

OVER_MS: Final = 10_000
"""What has not happened again for so long up to the log's end, two heartbeats of Kafka's default, is over."""

SLOW_MS: Final = 10_000
"""A wait, or a time without an owner, from here on is more than a hand-over."""

Words = list[Part]


class Level(IntEnum):
    """How bad it is. ``BROKEN``: an invariant, or a difference from the simulated coordinator."""

    NEWS = 0
    WARNING = 1
    CRITICAL = 2
    BROKEN = 3


class Harm(NamedTuple):
    """What it cost: ``words`` from the longest form to the shortest; the longest time, and of which partition."""

    words: tuple[Words, ...]
    length_ms: int
    partition: str
    is_open: bool


@dataclass(slots=True, kw_only=True)
class Subject:
    """One thing that a headline could be about. ``lead`` is who and what, from its longest form to its shortest."""

    kind: str
    sequence: int
    level: Level
    weight: int
    lead: Sequence[Words]
    from_ms: int | None
    lasts: bool = False
    """Whether it went on for a while: then it has a beginning, else a moment."""
    why: str = ""
    """``looks like …`` where that is inferred."""
    harm: Harm | None = None
    still: bool | None = None
    """``False``: over; ``None``: the log cannot show it, or it is nothing that lasts."""
    to_the_end: bool = False
    """Whether the log ends while it may go on, where ``still`` is ``None``."""
    names: frozenset[str] = frozenset()
    certain: bool = True
    stable_ms: int | None = None
    """Since when the group is stable, where this is no harm."""
    length_ms: int | None = None
    """How long it lasted, where it is itself a wait; the harm has its own."""
    extra: int = 0
    """How many of the shorter forms of the lead leave out less than its time does."""
    limit: int = WORDS_MOST

    @property
    def urgency(self) -> tuple[int, bool, int, int]:
        """Of several subjects the most urgent one is the headline: what is still so comes first; of two equal
        ones the earlier, of changes the later."""
        later = self.sequence if self.level is Level.NEWS else -self.sequence
        return (self.level, self.still is True, self.weight, later)


def fitted(subject: Subject, log: Span) -> Words:
    """The subject in at most ``limit`` words: what is less needed becomes shorter first."""
    nothing: Words = []
    why = [[Part(f" ({subject.why})")], nothing] if subject.why else [nothing]
    harm = [*(subject.harm.words if subject.harm else ()), nothing]
    leads, extra = list(subject.lead), subject.extra
    if log.count(leads[-1]) > subject.limit - TAIL_WORDS:
        leads.append(cut(leads[-1], subject.limit - TAIL_WORDS, log))
        extra = len(leads) - 1
    pieces = [leads, [_when(subject), nothing], why, harm, [_ends(subject), nothing]]
    lead_at, when_at, why_at, harm_at, ends_at = range(5)
    shortest = [len(forms) - 1 for forms in pieces]
    chosen = [0] * len(pieces)
    # The names of partitions, then since when, then the names of members; what happened stays.
    order = [harm_at] * max(shortest[harm_at] - 1, 0) + [lead_at] * extra
    order += [when_at, *[lead_at] * shortest[lead_at], harm_at, ends_at, why_at]

    def words() -> Words:
        return [part for forms, nth in zip(pieces, chosen, strict=True) for part in forms[nth]]

    for piece in (None, *order):
        if piece is not None and chosen[piece] < shortest[piece]:
            chosen[piece] += 1
        if log.count(words()) <= subject.limit:
            break
    else:
        return cut(leads[-1], subject.limit, log)
    # What was left out before the last piece that made room may fit again.
    for piece in (when_at, ends_at, why_at, lead_at, harm_at):
        while chosen[piece]:
            chosen[piece] -= 1
            if log.count(words()) > subject.limit:
                chosen[piece] += 1
                break
    return words()


def _when(subject: Subject) -> Words:
    if subject.from_ms is None:
        return []
    word = " at " if not subject.lasts else " since " if subject.still else " from "
    comma = "," if subject.lasts and subject.kind not in WITH_VERB_LAST else ""
    return [Part(f"{comma}{word}"), Part("", at_ms=subject.from_ms)]


WITH_VERB_LAST: Final = frozenset(
    {
        "removed",
        "crash_loop",
        "left_and_back",
        "rolling_restart",
        "twin_instance",
        "joined",
        "emptied",
        "idle_members",
    }
)
"""Subjects whose words end with what happened; behind others a time would belong to the last of their words."""


def _ends(subject: Subject) -> Words:
    if subject.still is not None:
        return [Part("; still so" if subject.still else "; over")]
    if subject.to_the_end:
        return [Part("; to the log's end")]
    if subject.stable_ms is not None and subject.stable_ms >= (subject.from_ms or 0):
        return [Part("; stable since "), Part("", at_ms=subject.stable_ms)]
    return []


BREAKS: Final = re.compile(r"(?:;|,| \(|:| and) ?[^;,(:]*$")
"""The last clause of a text."""


def cut(parts: Words, limit: int, log: Span) -> Words:
    """The same without its last clauses, until it has at most ``limit`` words; a name that is a sentence is cut between words."""
    while parts and log.count(parts) > limit:
        last = parts[-1]
        shorter = BREAKS.sub("", last.text)
        if len(parts) == 1 and (not shorter or shorter == last.text):
            return [last._replace(text=" ".join(last.text.split()[: limit - 1]) + " …")]
        parts = [*parts[:-1], last._replace(text=shorter)] if shorter and shorter != last.text else parts[:-1]
        # What led to the part that is gone.
        while len(parts) > 1 and parts[-1].sequence is None and parts[-1].at_ms is None:
            parts = parts[:-1]
    return parts


class Span(NamedTuple):
    """When the log began and ended; a log of over a day has times with their day."""

    first_ms: int
    last_ms: int

    def clauses(self, parts: Words) -> list[Clause]:
        text = Text(self.first_ms, self.last_ms)
        if parts and parts[0].text.startswith(SMALL):
            parts = [parts[0]._replace(text=parts[0].text[0].upper() + parts[0].text[1:]), *parts[1:]]
        text.sentence(parts)
        return text.clauses

    def count(self, parts: Words) -> int:
        """Words as a reader counts them: what is between blanks. "13.1 s" are two."""
        return len(text_of(self.clauses(parts)).split())


SMALL: Final = (
    "the ",
    "new ",
    "while ",
    "rebalance storm",
    "no commit",
    "heartbeats ",
    "brokers ",
    "static members ",
    "batches ",
    "consumers ",
    "committed ",
    "nobody ",
)
"""How clauses begin that are no name: in a headline they begin a sentence."""


def who(names: Sequence[str]) -> list[str]:
    """By name, and by number where that is shorter."""
    if len(names) == 1:
        return [names[0], "one member"] if " " in names[0] else [names[0]]
    many = f"{len(names)} members"
    return [many] if len(names) > MEMBERS_NAMED_MOST else [listed(names), many]
