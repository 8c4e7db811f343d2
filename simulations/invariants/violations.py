"""A violation: which invariant, in a sentence, with the sequences that prove it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypedDict

Partition = tuple[str, int]
"""Topic name (its id where no name is known) and number."""

VIOLATIONS_MAX: Final = 100
"""A broken coordinator breaks rules at every entry; the first hundred say all there is to say."""

NAMED_MAX: Final = 5
"""Partitions that a sentence names."""


class ViolationFields(TypedDict):
    """A violation in the payload of its entry, next to ``fault`` and ``member``; ``partitions`` by topic."""

    invariant: str
    says: str
    sequences: list[int]
    members: list[str]
    partitions: dict[str, list[int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """``sequences`` are ascending, the last is the entry that broke the invariant."""

    invariant: str
    sentence: str
    sequences: tuple[int, ...]
    members: tuple[str, ...] = ()
    partitions: tuple[Partition, ...] = ()

    def payload(self) -> ViolationFields:
        """The other fields of its entry, besides ``fault``."""
        by_topic: dict[str, list[int]] = {}
        for topic, number in self.partitions:
            by_topic.setdefault(topic, []).append(number)
        return {
            "invariant": self.invariant,
            "says": self.sentence,
            "sequences": list(self.sequences),
            "members": list(self.members),
            "partitions": by_topic,
        }


class Violations:
    """Collects them; one that is seen again, of the same members and partitions, is not reported again."""

    def __init__(self) -> None:
        self.fresh: list[Violation] = []
        self._found: set[tuple[str, tuple[str, ...], tuple[Partition, ...]]] = set()

    def add(
        self,
        invariant: str,
        sentence: str,
        sequences: Iterable[int],
        members: Iterable[str] = (),
        partitions: Iterable[Partition] = (),
    ) -> None:
        who, which = tuple(members), tuple(sorted(partitions))
        if (invariant, who, which) in self._found or len(self._found) >= VIOLATIONS_MAX:
            return
        self._found.add((invariant, who, which))
        proof = tuple(sorted({sequence for sequence in sequences if sequence > 0}))
        self.fresh.append(
            Violation(invariant=invariant, sentence=sentence, sequences=proof, members=who, partitions=which)
        )

    def take(self) -> list[Violation]:
        taken, self.fresh = self.fresh, []
        return taken


def named(partitions: Iterable[Partition]) -> str:
    """``foo-0, foo-1 and 3 more``."""
    every = sorted(partitions)
    words = ", ".join(f"{topic}-{number}" for topic, number in every[:NAMED_MAX])
    return f"{words} and {len(every) - NAMED_MAX} more" if len(every) > NAMED_MAX else words
