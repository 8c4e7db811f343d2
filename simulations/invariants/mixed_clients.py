"""Clients of a run with members of both protocols: what they read, and the part of it that no record of the group contains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import NotedTopic
from simulations.invariants.model import Member, Topics
from simulations.invariants.violations import Partition

UNKNOWN_MEMBER_ID: Final = 25
FENCES: Final = frozenset({22, UNKNOWN_MEMBER_ID, 69, 82, 110})
"""What makes a client of either protocol give everything up."""


@dataclass(slots=True)
class Client:
    """What its callbacks say it owns; ``generation`` is what its last JoinGroup was answered."""

    owned: dict[Partition, int] = field(default_factory=dict)
    generation: int = -1


class Misread:
    """What is taken from members of the consumer protocol for not being named in a heartbeat (KIP-848, ``TopicPartitions``).

    A client names what it owns only when it has begun with it: one that is about to begin, or had not yet when it asked, is taken
    to be rid of it, and reads it all the same until it hears, or until the reconciliation that it is in is over.
    """

    def __init__(self) -> None:
        self._named: dict[str, dict[int, frozenset[Partition]]] = {}
        """What each heartbeat of a client named as owned, if it did, the last one last."""
        self._taken: set[tuple[str, Partition]] = set()

    def names(self, who: str, sequence: int, owned: Iterable[Partition]) -> None:
        """A heartbeat that does."""
        self._named.setdefault(who, {})[sequence] = frozenset(owned)

    def changed(
        self,
        who: str,
        client: Client,
        gone: Set[Partition],
        gained: Collection[Partition],
        cause: int | None,
    ) -> None:
        """The group has taken and given. A client may have begun since the heartbeat that caused it, before that is replicated."""
        asked = self._named.get(who, {}).get(cause or 0)
        unnamed = self._unnamed(who, client, gone) if asked is None else gone - asked
        self._taken -= {(who, key) for key in gained}
        self._taken |= {(who, key) for key in unnamed}

    def given_up(self, who: str, keys: Iterable[Partition]) -> None:
        """The client reads them no more."""
        self._taken.difference_update([(who, key) for key in keys])

    def of(self, who: str, client: Client, keys: Set[Partition]) -> set[Partition]:
        """Those that the group took, or would take, by such a mistake."""
        return self._unnamed(who, client, keys) | self.taken(who, keys)

    def taken(self, who: str, keys: Set[Partition]) -> set[Partition]:
        """Those that the group took by it, and that the client begins with, or goes on with, until it hears."""
        return {key for key in keys if (who, key) in self._taken}

    def _unnamed(self, who: str, client: Client, keys: Set[Partition]) -> set[Partition]:
        asked, reported = next(reversed(self._named.get(who, {}).items()), (0, frozenset[Partition]()))
        return {key for key in keys if key not in reported and client.owned.get(key, 0) < asked}


class Unwritten:
    """What clients read next to what the group's records say they have."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._deleted: dict[str, int] = {}
        """Topic → the last entry by which it is gone or was made again."""
        self._beyond: dict[str, dict[Partition, int]] = {}
        """What a classic member owned beyond what was written down as it became a member of the consumer group."""

    def note_topics(self, reported: Mapping[str, NotedTopic | None], sequence: int) -> None:
        """Must run before the checks that read the topics."""
        for name, topic in reported.items():
            known = self._topics.ids.get(name)
            if known is not None and (topic is None or topic.get("id") not in (None, known)):
                self._deleted[name] = sequence

    def begins(self, who: str, client: Client, member: Member) -> None:
        """A classic member is new to the consumer group."""
        written = self._written(member)
        self._beyond[who] = {key: since for key, since in client.owned.items() if key not in written}

    def of_others(
        self, who: str, client: Client, member: Member, keys: Collection[Partition]
    ) -> tuple[set[Partition], set[Partition]]:
        """Of what the client reads and another begins with: what the rules are broken by, and what is a known fault.

        Callbacks name topics: a part of a topic that was deleted is none of the next one of its name.
        """
        written, beyond = self._written(member), self._beyond.get(who, {})
        left = {
            key
            for key in keys
            if key in written or client.owned[key] >= self._deleted.get(key[0], client.owned[key])
        }
        known = {key for key in left - written if beyond.get(key) == client.owned[key]}
        return left - known, known

    def _written(self, member: Member) -> set[Partition]:
        return set(self._topics.named(self._topics.present(member.held())))
