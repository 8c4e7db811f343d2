"""What many groups suffered at once: a coordinator's move, members lost in one second, a deploy.

A cause that groups share explains none of them alone: it is named once, and left out where they are ranked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypedDict

from groups.history.words import counted

GROUPS_LEAST: Final = 5
"""Fewer groups may lose members at the same time by chance, or are parts of one application."""

APART_MS: Final = 3_000
"""Losses this close to each other are one event. Clients that are cut off together are removed a heartbeat or a round apart."""

OCCURRENCES_MOST: Final = 60
"""Occurrences of one kind that a timeline keeps, the first ones."""


class SharedKind(NamedTuple):
    """``apart_ms``: occurrences of this finding that begin within so long of each other are one event."""

    finding: str
    apart_ms: int
    text: str


SHARED_KINDS: Final = (
    SharedKind("coordinator_moved", 60_000, "{} had a new coordinator, as after a broker’s restart"),
    SharedKind("rolling_restart", 300_000, "{} were restarted, as in a deploy"),
    SharedKind("removed", APART_MS, "{} lost members at once, as when a host or the network fails"),
)


class Occurrence(NamedTuple):
    """A finding of a kind that groups can share; times on the log's clock."""

    kind: str
    from_ms: int
    to_ms: int


class CommonCause(TypedDict):
    """``groups`` are the keys of those that share it, in order."""

    kind: str
    text: str
    from_ms: int
    to_ms: int
    groups: list[str]


def occurrences(findings: Iterable[Mapping[str, object]]) -> list[Occurrence]:
    """Those of a timeline, of each kind the first ``OCCURRENCES_MOST``."""
    found: dict[str, list[Occurrence]] = {shared.finding: [] for shared in SHARED_KINDS}
    for one in findings:
        kept = found.get(str(one["kind"]))
        from_ms = one.get("from_ms", one.get("at_ms"))
        if kept is None or not isinstance(from_ms, int) or len(kept) >= OCCURRENCES_MOST:
            continue
        to_ms = one.get("to_ms")
        kept.append(Occurrence(str(one["kind"]), from_ms, to_ms if isinstance(to_ms, int) else from_ms))
    return [one for kept in found.values() for one in kept]


def common_causes(of_groups: Mapping[str, Iterable[Occurrence]]) -> list[CommonCause]:
    """By time; ``of_groups``: the occurrences by a group's key."""
    by_kind: dict[str, list[tuple[Occurrence, str]]] = {}
    for key, some in of_groups.items():
        for one in some:
            by_kind.setdefault(one.kind, []).append((one, key))
    causes: list[CommonCause] = []
    for shared in SHARED_KINDS:
        event: list[tuple[Occurrence, str]] = []
        for one, key in sorted(by_kind.get(shared.finding, ()), key=lambda row: (row[0].from_ms, row[1])):
            if event and one.from_ms - event[-1][0].from_ms > shared.apart_ms:
                causes += _cause(shared, event)
                event = []
            event.append((one, key))
        causes += _cause(shared, event)
    return sorted(causes, key=lambda cause: (cause["from_ms"], cause["kind"]))


def _cause(shared: SharedKind, event: list[tuple[Occurrence, str]]) -> list[CommonCause]:
    groups = sorted({key for _, key in event})
    if len(groups) < GROUPS_LEAST:
        return []
    return [
        CommonCause(
            kind=shared.finding,
            text=shared.text.format(counted(len(groups), "group")),
            from_ms=min(one.from_ms for one, _ in event),
            to_ms=max(one.to_ms for one, _ in event),
            groups=groups,
        )
    ]


def is_within(cause: CommonCause, from_ms: int, to_ms: int) -> bool:
    """Whether something from ``from_ms`` to ``to_ms`` began with the cause and was over soon after it."""
    return cause["from_ms"] - APART_MS <= from_ms and to_ms <= cause["to_ms"] + APART_MS
