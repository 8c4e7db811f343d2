"""What released clients and coordinators are known to do wrong: a run in which they did is not held against the rules.

The first are faults of leaders and of static members of the classic protocol, recognised by the version of their JoinGroup; the
others are those of Kafka's released coordinator where a group changes its protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from simulations.invariants.classic_parts import FULL
from simulations.invariants.violations import Partition

STICKY: Final = frozenset({"sticky", "cooperative-sticky"})
BEFORE_GENERATIONS: Final = 4
"""The newest JoinGroup of clients whose ``sticky`` knows no generation (before 2.3)."""
BEFORE_OWNED: Final = 5
"""The newest JoinGroup of clients that read no owned partitions (before 2.4)."""
BEFORE_STALE: Final = 7
"""The newest JoinGroup of clients before 3.2, whose subscriptions contain no generation (KIP-792)."""

STALE_CLAIMS: Final = (
    "KAFKA-12984: a leader before 3.2 gives away what a member claims, whose generation it does not receive"
)
TWO_OWNERS: Final = "KAFKA-7026: a leader before 2.3 gives what two members claim with sticky to both"
OLD_LEADER: Final = "KIP-429: a leader before 2.4 gives away what cooperative members keep"
NOT_SUBSCRIBED: Final = (
    "Kafka's sticky assignors give a member what it does not subscribe to: it comes first and subscribes to nothing, "
    "or had it a generation ago"
)
LEADERLESS: Final = "a static leader that came back is not notified that it leads (KIP-814, since 3.2)"
STAYS: Final = "a session ran out while the member's return waited to be committed, and no other is started"
MISSED: Final = "a topic changed while a static leader was away, which takes it for known (KIP-814)"
RETURNED: Final = "a static member came back with another subscription, and nobody rebalances (KIP-345)"
BETWEEN_ROUNDS: Final = "a static member came back before it said what it had given up, and nobody asks for the second round (KIP-345, KIP-429)"
ASKS_FOR_EVER: Final = (
    "a static member before 3.2 came back and subscribes to less than it had: it is given all of it, joins again, and is "
    "given it again, without end (KIP-345)"
)

CROWDED: Final = (
    "a group has more members than group.max.size: who joins again too late is refused, comes back, and takes the place of "
    "another (KIP-389)"
)
CLAIMS_UNSUBSCRIBED: Final = (
    "a member changes its subscription while it joins, and goes on to claim what it had: a leader whose own assignor gives that "
    "away throws, each time (KIP-429)"
)

FORGOTTEN: Final = (
    "a JoinGroup of an unknown member id to an empty consumer group forgets it and writes no tombstone"
)
OVERSTATED: Final = (
    "a downgrade writes targets as what members have: one that has less never hears of the rest, and what one "
    "still reads is given to the next new member"
)
ROUND_LOST: Final = (
    "a coordinator failed over between a downgrade and the rebalance that follows it: no record has that rebalance, and a "
    "static member that comes back asks for none (KIP-345)"
)
READS_BEYOND: Final = (
    "a classic member that is new to a consumer group is taken to have what is written down: what it reads beside, amid a "
    "rebalance or since it was removed, is given away"
)
OUTDATED: Final = (
    "an upgrade amid a rebalance keeps what was assigned before: a member that subscribes to something else by now is "
    "given it, joins again, and is given it again, until another target is computed"
)
SUBSCRIBES_TO_NOTHING: Final = "a classic member that subscribes to nothing joins a consumer group without a new epoch, and is not counted"
NOBODY_COMPUTES: Final = "no member of the consumer protocol is left, and only those have a target computed"
CONVERTED: Final = "a static member took its own place as the group was converted: what was assigned stays"
TIED: Final = "as many members ask for one server-side assignor as for another, and heartbeats raise the group epoch without end"


@dataclass(slots=True)
class GivenMember:
    """As in the last record: ``claims`` is what it named as owned."""

    topics: frozenset[str] = frozenset()
    claims: frozenset[Partition] = frozenset()
    assigned: frozenset[Partition] = frozenset()


class Unending:
    """Rounds that nothing ends but a change from outside."""

    def __init__(self) -> None:
        self._crowded = False
        self._unsubscribed: set[str] = set()
        """Whose last JoinGroup claims what it does not subscribe to."""
        self._throws = False

    @property
    def fault(self) -> str | None:
        """What keeps the group from resting."""
        return (
            CROWDED if self._crowded else CLAIMS_UNSUBSCRIBED if self._throws and self._unsubscribed else None
        )

    def changes(self) -> None:
        """Something else happens: whether it goes on is seen again."""
        self._crowded = self._throws = False

    def joins(self, who: str, topics: Collection[str], claims: Collection[Partition]) -> None:
        """A JoinGroup subscribes to topics, and claims partitions."""
        (
            self._unsubscribed.add
            if any(name not in topics for name, _ in claims)
            else self._unsubscribed.discard
        )(who)

    def refused(self, code: int | None, *, is_member: bool) -> None:
        """A JoinGroup is; ``is_member``: of the last generation."""
        self._crowded = self._crowded or (is_member and code == FULL)

    def throws(self, exception: str) -> None:
        """``poll()`` does, at some client."""
        self._throws = self._throws or exception == "IllegalStateException"


class Forgetting:
    """A consumer group that is empty and was asked by a JoinGroup for a member id that it does not know."""

    def __init__(self, settle_ms: int) -> None:
        self._settle_ms = settle_ms
        self._unknown_ms: int | None = None

    def unknown(self, at_ms: int) -> None:
        """A JoinGroup is answered so."""
        self._unknown_ms = at_ms

    def fault(self, at_ms: int, *, is_empty: bool) -> str | None:
        """That the group is empty is committed later than the coordinator acts on it."""
        recent = self._unknown_ms is not None and at_ms - self._unknown_ms <= self._settle_ms
        return FORGOTTEN if recent and is_empty else None


def is_given_more(member: GivenMember) -> bool:
    """Whether it is given what it does not subscribe to."""
    return any(name not in member.topics for name, _ in member.assigned)


def fault_of_leader(protocol: str | None, version: int, members: Collection[GivenMember]) -> str | None:
    """What a leader is known to get wrong with what its members reported to it; ``version`` is that of its JoinGroup."""
    if protocol in STICKY and any(is_given_more(each) for each in members):
        return NOT_SUBSCRIBED
    if version <= BEFORE_OWNED and any(each.claims for each in members):
        return OLD_LEADER
    if (
        protocol == "cooperative-sticky"
        and version <= BEFORE_STALE
        and any(each.claims & other.assigned for each in members for other in members if other is not each)
    ):
        return STALE_CLAIMS
    given = Counter(partition for each in members for partition in each.assigned)
    if protocol == "sticky" and version <= BEFORE_GENERATIONS and max(given.values(), default=0) > 1:
        return TWO_OWNERS
    return None
