"""The checker's own picture of a group: what its records, read one after another, say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import re2

from groups.history.entries import NotedTopic
from groups.history.payloads.records import TopicPartitions

STABLE: Final = 0
UNREVOKED: Final = 1
UNRELEASED: Final = 2

LEFT_FOR_NOW: Final = -2
"""The epoch of a static member that is away."""

Held = tuple[str, int]
"""Topic id and number."""


@dataclass(slots=True, kw_only=True)
class Member:
    """``wrote`` is the sequence of its last type 8 (or else type 5) record; ``state`` is ``None`` if none is given."""

    epoch: int = 0
    previous: int = -1
    state: int | None = STABLE
    names: frozenset[str] = frozenset()
    regex: str = ""
    instance: str | None = None
    rebalance_timeout_ms: int = -1
    assigned: Mapping[Held, int | None] = field(default_factory=dict)
    pending: Mapping[Held, int | None] = field(default_factory=dict)
    wrote: int = 0

    def copy(self) -> Member:
        return replace(self)

    def held(self) -> set[Held]:
        return self.assigned.keys() | self.pending.keys()


def listed(topics: Iterable[TopicPartitions]) -> dict[Held, int | None]:
    """Flat, each with the epoch at which it was assigned where that is reported."""
    result: dict[Held, int | None] = {}
    for topic in topics:
        numbers = topic["partitions"]
        epochs: Sequence[int | None] = topic.get("assignmentEpochs") or [None] * len(numbers)
        for number, epoch in zip(numbers, epochs, strict=True):
            result[topic["topicId"], number] = epoch
    return result


def flat(assignment: Mapping[str, Iterable[int]]) -> set[Held]:
    """The folded state's form, flat."""
    return {(topic_id, number) for topic_id, numbers in assignment.items() for number in numbers}


def _quiet() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


_QUIET: Final = _quiet()


class Topics:
    """What topics are called, how many partitions they have, and which expression matched what."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.matched: dict[str, frozenset[str]] = {}
        self.resolved: dict[str, int] = {}
        self.now: dict[str, tuple[str, int]] = {}
        """Id and partitions of each existing topic in the cluster, even if the coordinator has not seen it yet."""

    def copy(self) -> Topics:
        topics = Topics()
        for name, values in vars(self).items():
            setattr(topics, name, dict(values))
        return topics

    def note(self, topics: Mapping[str, NotedTopic | None]) -> None:
        for name, topic in topics.items():
            if topic is None:
                self.ids.pop(name, None)
                self.counts.pop(name, None)
                continue
            topic_id, partitions = topic.get("id"), topic.get("partitions")
            if topic_id is not None and partitions is not None:
                self.ids[name], self.counts[name] = topic_id, partitions
                self.names[topic_id] = name

    def there_are(self, topics: Mapping[str, NotedTopic | None]) -> None:
        """The cluster's own word."""
        for name, topic in topics.items():
            if topic is None:
                self.now.pop(name, None)
                continue
            topic_id, partitions = topic.get("id"), topic.get("partitions")
            if topic_id is not None and partitions is not None:
                self.now[name] = topic_id, partitions
        self.note(topics)

    def matching(self, regex: str) -> frozenset[str]:
        """The names that there are and that the expression matches in full; none if it does not compile."""
        try:
            pattern = re2.compile(regex, _QUIET)
        except re2.error:
            return frozenset()
        return frozenset(name for name in self.now if pattern.fullmatch(name))

    def matches(self, regex: str, topics: Iterable[str] | None, sequence: int) -> None:
        """An entry shows what an expression matches; ``None``: no member has it any more, and a new member with it has to wait."""
        if topics is None:
            self.matched.pop(regex, None)
            self.resolved.pop(regex, None)
        else:
            self.matched[regex], self.resolved[regex] = frozenset(topics), sequence

    def of(self, member: Member) -> frozenset[str]:
        """The topics that a member subscribes to, by name or by its expression."""
        return member.names | self.matched.get(member.regex, frozenset())

    def present(self, held: Iterable[Held]) -> set[Held]:
        """Those of topics that there are, and not of one that was deleted."""
        return {each for each in held if self.ids.get(self.names.get(each[0], "")) == each[0]}

    def named(self, held: Iterable[Held]) -> list[tuple[str, int]]:
        return [(self.names.get(topic_id, topic_id), number) for topic_id, number in held]
