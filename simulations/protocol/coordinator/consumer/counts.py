"""How many members subscribe to each name and by each regular expression, and ask for each assignor, kept as members change.

Kafka: ``ModernGroup.subscribedTopicNames`` (``SubscriptionCount``), ``ConsumerGroup.subscribedRegularExpressions`` and
``ConsumerGroup.serverAssignors``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from groups.history.state.consumer import ConsumerMember

Members = Mapping[str, ConsumerMember]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """``by_name``: topic name → members that name it; ``regexes``: expression → members that subscribe by it.

    ``assignors``: server-side assignor → members that ask for it, in the order in which each was first asked for.
    """

    by_name: Mapping[str, int] = field(default_factory=dict)
    regexes: Mapping[str, int] = field(default_factory=dict)
    assignors: Mapping[str, int] = field(default_factory=dict)

    def changed(self, old: ConsumerMember | None, new: ConsumerMember | None) -> Counts:
        """The counts with one member's subscription in place of another's; ``None`` is no member."""
        names = old.subscribed_topic_names if old else (), new.subscribed_topic_names if new else ()
        regexes, votes = (_regex(old), _regex(new)), (_vote(old), _vote(new))
        same = frozenset(names[0]) == frozenset(names[1])
        return Counts(
            by_name=self.by_name if same else _moved(self.by_name, names[0], names[1]),
            regexes=self.regexes if regexes[0] == regexes[1] else _moved(self.regexes, *regexes),
            assignors=self.assignors if votes[0] == votes[1] else _moved(self.assignors, *votes),
        )


class CountsCache:
    """Counts of the members that were asked for last: as mappings of members never change, the object's identity is enough."""

    __slots__ = ("_counts", "_members")

    def __init__(self) -> None:
        self._members: Members = {}
        self._counts = Counts()

    def of(self, members: Members) -> Counts:
        if self._members is not members:
            counts = Counts()
            for member in members.values():
                counts = counts.changed(None, member)
            self._members, self._counts = members, counts
        return self._counts

    def follow(self, before: Members, after: Members, member_id: str | None) -> None:
        """The members changed, in their subscriptions at most that of ``member_id``."""
        if self._members is not before:
            return
        if member_id is not None:
            self._counts = self._counts.changed(before.get(member_id), after.get(member_id))
        self._members = after


def _regex(member: ConsumerMember | None) -> tuple[str, ...]:
    return (member.subscribed_topic_regex,) if member is not None and member.subscribed_topic_regex else ()


def _vote(member: ConsumerMember | None) -> tuple[str, ...]:
    return (member.server_assignor,) if member is not None and member.server_assignor is not None else ()


def _moved(counts: Mapping[str, int], less: Iterable[str], more: Iterable[str]) -> Mapping[str, int]:
    moved = dict(counts)
    for key in set(less):
        moved[key] = moved.get(key, 0) - 1
    for key in dict.fromkeys(more):
        moved[key] = moved.get(key, 0) + 1
    return {key: count for key, count in moved.items() if count > 0}
