"""Groups that lose members at the same time: one cause that they share, and not one expired session each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from groups.history.story.common_causes import APART_MS, GROUPS_LEAST
from groups.history.words import duration

NAMED_MOST: Final = 3


class HasFacts(Protocol):
    """A group under way. Its fact ``lost_ms`` is when it last lost a member."""

    @property
    def facts(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class Together:
    """Groups that lost members between two times, by the watcher's clock."""

    groups: tuple[str, ...]
    from_ms: int
    to_ms: int

    @property
    def text(self) -> str:
        count, length_ms = len(self.groups), self.to_ms - self.from_ms
        within = f"within {duration(length_ms)}" if length_ms else "at the same moment"
        some = f"{', '.join(self.groups[:NAMED_MOST])} and {count - NAMED_MOST} more"
        return (
            f"{count} groups lost members {within} ({some}): look for one cause that they share, such as a broker, the network "
            f"or a host, and not for {count} of their own"
        )


def shown_together(one: Together) -> dict[str, object]:
    """As the cluster's page and the API have it."""
    return {"groups": len(one.groups), "from_ms": one.from_ms, "to_ms": one.to_ms, "says": one.text}


@dataclass(slots=True)
class Losses:
    """The newest losses of a cluster's groups."""

    _lost: dict[str, int] = field(default_factory=dict)
    """By group, of those that lost members together last."""

    _known: dict[str, int] = field(default_factory=dict)

    def take(self, groups: Mapping[str, HasFacts]) -> None:
        """Take what is new of these groups."""
        new = {
            name: at_ms
            for name, each in groups.items()
            if isinstance(at_ms := each.facts.get("lost_ms"), int) and self._known.get(name) != at_ms
        }
        self._known = {name: at_ms for name, at_ms in self._known.items() if name in groups} | new
        for name, at_ms in sorted(new.items(), key=lambda one: one[1]):
            if self._lost and at_ms - max(self._lost.values()) > APART_MS:
                self._lost = {}
            self._lost[name] = at_ms

    @property
    def last(self) -> Together | None:
        """The last time that many groups lost members together, while no later loss is known."""
        if len(self._lost) < GROUPS_LEAST:
            return None
        return Together(tuple(sorted(self._lost)), min(self._lost.values()), max(self._lost.values()))

    def of(self, group: str) -> Together | None:
        """What a group's last loss was a part of; null if it lost members alone."""
        return self.last if group in self._lost else None
