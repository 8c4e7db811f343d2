"""What the coordinator itself logged about one group: who joined, who went and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Cause = Literal["session_expired", "rebalance_timeout", "left", "replaced"]

_LINE = re.compile(
    r"^(?P<at_ms>\d+) \w+ GroupMetadataManager \[[^\]]*\] (?:\[(?:GroupId|Group) (?P<group>[^\]]+)\] )?(?P<text>.*)$"
)
_FAILED = re.compile(r"Member (?P<member>\S+) in group (?P<group>\S+) has failed, removing it")
"""Of a classic group: its name stands in the sentence."""

_GONE: dict[Cause, re.Pattern[str]] = {
    "session_expired": re.compile(
        r"Member (?P<member>\S+) (?:fenced from the group because the member session expired|in group \S+ has failed)"
    ),
    "rebalance_timeout": re.compile(
        r"Member (?P<member>\S+) fenced from the group because the member failed to"
    ),
    "left": re.compile(r"Member (?P<member>\S+) (?:left the consumer group|has left)"),
}
_MADE = re.compile(r"joins group (?P<group>\S+) in .* Created a new member id (?P<member>\S+)")
_GENERATION = re.compile(
    r"Assignment received from leader (?P<leader>\S+) for group (?P<group>\S+) for generation (?P<generation>\d+)"
)
_CAME = re.compile(r"Member (?P<member>\S+) joins the consumer group using the consumer protocol")


class Removal(NamedTuple):
    """A member went. ``cause`` is the broker's own word, in the words of the facts."""

    at_ms: int
    member_id: str
    cause: Cause


class Generation(NamedTuple):
    """A classic group's leader has sent the assignment."""

    at_ms: int
    leader: str
    generation: int


class Arrival(NamedTuple):
    at_ms: int
    member_id: str


def lines_of(log: str, group: str) -> Iterator[tuple[int, str]]:
    for line in log.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        failed = _FAILED.match(found["text"])
        if group in (found["group"], failed["group"] if failed else None):
            yield int(found["at_ms"]), found["text"].strip()


def removals(log: str, group: str) -> list[Removal]:
    return [
        Removal(at_ms, found["member"].rstrip(","), cause)
        for at_ms, text in lines_of(log, group)
        for cause, pattern in _GONE.items()
        if (found := pattern.search(text)) is not None
    ]


def arrivals(log: str, group: str) -> list[Arrival]:
    """Joins of members of the consumer protocol."""
    return [
        Arrival(at_ms, found["member"])
        for at_ms, text in lines_of(log, group)
        if (found := _CAME.search(text)) is not None
    ]


def generations(log: str, group: str) -> list[Generation]:
    """Of a classic group, in time order."""
    return [
        Generation(at_ms, found["leader"], int(found["generation"]))
        for at_ms, found in _found(log, _GENERATION)
        if found["group"] == group
    ]


def classic_arrivals(log: str, group: str) -> list[Arrival]:
    """Members of the classic protocol that were given a member id."""
    return [Arrival(at_ms, found["member"]) for at_ms, found in _found(log, _MADE) if found["group"] == group]


def _found(log: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for line in log.splitlines():
        if (found := pattern.search(line)) is not None:
            yield int(line.split(" ", 1)[0]), found
