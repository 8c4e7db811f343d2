"""How sentences are written: partitions, durations, lists. Every sentence of the product goes through here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

THIN_SPACE: Final = "\u202f"
"""The narrow no-break space between a number and its unit."""

PARTITIONS_NAMED_MAX: Final = 6
"""More partitions than this are counted, not named: a sentence stays a sentence."""

Partition = tuple[str, int]
"""A topic's name (or id, where the name is unknown) and a partition's number; or a subtopology's id, and that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What members hold, in words; ``of`` is what is before a topic's or a subtopology's own name."""

    noun: str
    mark: str
    of: str
    wholes: str


PARTITIONS: Final = Wording(noun="partition", mark="-", of="", wholes="topics")
TASKS: Final = Wording(noun="task", mark="_", of="subtopology ", wholes="subtopologies")
"""Tasks of a streams group, written as Kafka Streams does: ``0_2`` is partition 2 of subtopology 0."""
CONNECT_TASKS: Final = Wording(noun="task", mark="-", of="connector ", wholes="connectors")
"""Tasks of Kafka Connect, written as it does: ``orders-sink-0``."""


def partition_name(partition: Partition, wording: Wording = PARTITIONS) -> str:
    """``foo-2``, or ``0_2``."""
    return f"{partition[0]}{wording.mark}{partition[1]}"


def partitions(given: Iterable[Partition], wording: Wording = PARTITIONS) -> str:
    """``foo-1, foo-2``, or ``12 partitions of foo`` where there are too many to read."""
    ordered = sorted(given)
    if len(ordered) <= PARTITIONS_NAMED_MAX:
        return ", ".join(partition_name(each, wording) for each in ordered)
    topics = sorted({topic for topic, _ in ordered})
    where = f"{wording.of}{topics[0]}" if len(topics) == 1 else f"{len(topics)} {wording.wholes}"
    return f"{len(ordered)} {wording.noun}s of {where}"


def is_or_are(given: Collection[object]) -> str:
    return "is" if len(given) == 1 else "are"


def was_or_were(given: Collection[object]) -> str:
    return "was" if len(given) == 1 else "were"


def counted(number: int, noun: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(names: Sequence[str], named_max: int = 6) -> str:
    """``A, B and C``; ``12 members`` where there are too many."""
    if len(names) > named_max:
        return f"{len(names)} members"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


MILLISECONDS_BELOW_MS: Final = 50
"""What would be rounded to 0.0 s."""


def duration(length_ms: int) -> str:
    """To 0.1 s below a minute (``0.6 s``), ``4 min 2 s`` above, ``2 h 5 min`` above an hour; ``4 ms`` where 0.1 s is too coarse."""
    if 0 < length_ms < MILLISECONDS_BELOW_MS:
        return f"{length_ms}{THIN_SPACE}ms"
    tenths = max(round(max(length_ms, 0) / 100), 1 if length_ms > 0 else 0)
    if tenths < 600:
        return f"{tenths // 10}.{tenths % 10}{THIN_SPACE}s"
    seconds = round(length_ms / 1000)
    if seconds < 3600:
        return f"{seconds // 60}{THIN_SPACE}min {seconds % 60}{THIN_SPACE}s"
    minutes = round(length_ms / 60000)
    return f"{minutes // 60}{THIN_SPACE}h {minutes % 60}{THIN_SPACE}min"


def lasting(length_ms: int, before: str = " for ") -> str:
    """`` for 0.6 s``; nothing of what began and ended in one moment of the clock."""
    return f"{before}{duration(length_ms)}" if length_ms > 0 else ""


def listed_partitions(names: Sequence[str], noun: str = "partition") -> str:
    """``foo-1, -2 and bar-0``; ``12 partitions`` where there are too many to read."""
    if not names or len(names) > PARTITIONS_NAMED_MAX:
        return counted(len(names), noun)
    known: list[str] = []
    for before, name in zip(("", *names), names, strict=False):
        topic, mark, number = name.rpartition("-")
        known.append(f"-{number}" if mark and before.rpartition("-")[0] == topic else name)
    return listed(known)


CLOCK_LEAST_MS: Final = 10**11
"""A time from here on (March 1973) is a clock's; one below is a simulation's, counted from its beginning."""


def time_words(at_ms: int, *, dated: bool = False) -> str:
    """``13:12:55`` in UTC, with ``dated`` the day before it; ``12.3 s`` in a simulation."""
    if not CLOCK_LEAST_MS <= at_ms <= CLOCK_MOST_MS:
        return duration(at_ms)
    moment = datetime.fromtimestamp(at_ms // 1000, UTC)
    return moment.strftime("%-d %b %H:%M:%S" if dated else "%H:%M:%S")


CLOCK_MOST_MS: Final = 253_402_300_799_000
"""The end of the year 9999."""
