"""What each generation of the Java client knows of the classic protocol, and librdkafka: one table, which scenarios name by release.

A row holds from its release on, until the next row. Only what others in the group can notice is here: versions on
the wire, what the assignors write and read, and mistakes of the client that were mended later.

Source: Kafka's release notes and the client's code of those releases; KIP-341, KIP-345, KIP-394, KIP-429, KIP-559,
KIP-792, KIP-800, KIP-881. Of librdkafka: version 2.16 on a broker, its requests and callbacks one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What a client of this release does.

    ``join_version`` is that of JoinGroup: from 4 on a member id is asked for first (KIP-394), from 5 on the instance
    is sent (KIP-345), from 8 on the reason (KIP-800), from 9 on a leader may be asked to skip the assignment.
    ``subscription_version``: 0 topics and user data; 1 with owned partitions; 2 with the generation; 3 with the rack.
    ``sticky_version`` is that of the user data of ``sticky``: 0 partitions alone, 1 with the generation (KIP-341);
    a leader that knows only 0 gives a partition that two members claim to both (KAFKA-7026).
    ``cooperative``: it knows cooperative rebalancing and ``cooperative-sticky``.
    ``cooperative_user_data``: ``cooperative-sticky`` writes its generation into user data (KAFKA-12984).
    ``prepares_after_reset``: who loses its generation while it joins calls ``on_partitions_lost`` before it tries
    again (KAFKA-12983); before, it went on to claim what it had.
    ``checks_cooperative_sticky``: the leader checks the answer of ``cooperative-sticky``, too, against what members
    claim, and throws (KAFKA-13406).
    ``newest_claims_only``: for ``cooperative-sticky`` only what members of the newest generation claim counts at all.
    ``keeps_id``: ILLEGAL_GENERATION does not cost the member id (KAFKA-13419).
    ``librdkafka``: it writes an empty rack and empty user data in place of none, its generation only with what it owns, and what
    it owns as user data of ``cooperative-sticky``; as a leader it gives assignments of version 0 those user data back; it commits
    only what moved; and it starts only with ``LIBRDKAFKA_ASSIGNORS`` of one rebalance protocol. As a leader it is simulated with
    the assignors of the Java client.
    """

    name: str
    join_version: int
    sync_version: int
    heartbeat_version: int
    leave_version: int
    commit_version: int
    subscription_version: int
    sticky_version: int
    cooperative: bool
    cooperative_user_data: bool
    prepares_after_reset: bool
    checks_cooperative_sticky: bool
    keeps_id: bool
    newest_claims_only: bool
    librdkafka: bool = False

    @property
    def static(self) -> bool:
        """Whether it knows ``group.instance.id``."""
        return self.join_version >= 5


def _release(
    name: str,
    versions: tuple[int, int, int, int, int],
    subscription: int,
    *,
    sticky: int = 1,
    cooperative: bool = True,
    user_data: bool = True,
    prepares: bool = True,
    checks: bool = False,
    keeps_id: bool = True,
    newest_only: bool = False,
    librdkafka: bool = False,
) -> Release:
    join, sync, heartbeat, leave, commit = versions
    return Release(
        name=name,
        join_version=join,
        sync_version=sync,
        heartbeat_version=heartbeat,
        leave_version=leave,
        commit_version=commit,
        subscription_version=subscription,
        sticky_version=sticky,
        cooperative=cooperative,
        cooperative_user_data=user_data,
        prepares_after_reset=prepares,
        checks_cooperative_sticky=checks,
        keeps_id=keeps_id,
        newest_claims_only=newest_only,
        librdkafka=librdkafka,
    )


_BEFORE_COOPERATIVE: Final = {"cooperative": False, "user_data": False, "checks": False, "keeps_id": False}

RELEASES: Final[Mapping[str, Release]] = MappingProxyType(
    {
        release.name: release
        for release in (
            _release("2.1", (3, 2, 2, 2, 6), 0, sticky=0, prepares=False, **_BEFORE_COOPERATIVE),
            _release("2.2", (4, 2, 2, 2, 6), 0, sticky=0, prepares=False, **_BEFORE_COOPERATIVE),
            _release("2.3", (5, 3, 3, 2, 7), 0, sticky=1, prepares=False, **_BEFORE_COOPERATIVE),
            _release("2.4", (6, 4, 4, 4, 8), 1, user_data=False, prepares=False, checks=True, keeps_id=False),
            _release("2.5", (7, 5, 4, 4, 8), 1, user_data=False, prepares=False, checks=True, keeps_id=False),
            _release("3.0", (7, 5, 4, 4, 8), 1, checks=True, keeps_id=False, newest_only=True),
            _release("3.1", (7, 5, 4, 4, 8), 1, newest_only=True),
            _release("3.2", (9, 5, 4, 5, 8), 2),
            _release("3.5", (9, 5, 4, 5, 8), 3),
            _release("4.3", (9, 5, 4, 5, 9), 3),
        )
    }
)
"""By name, the oldest first."""


def row_for(client: tuple[int, ...]) -> str | None:
    """The row that holds for a client of this version, such as (2, 8); ``None`` for one that is older than all."""
    rows = [name for name in RELEASES if tuple(map(int, name.split("."))) <= client]
    return rows[-1] if rows else None


NEWEST: Final = RELEASES["4.3"]

LIBRDKAFKA: Final = _release("librdkafka", (5, 3, 3, 1, 9), 3, user_data=False, librdkafka=True)

LIBRDKAFKA_ASSIGNORS: Final = ("range", "roundrobin", "cooperative-sticky")
"""All that it knows; without a setting it lists the first two."""

CLIENTS: Final[Mapping[str, Release]] = MappingProxyType({**RELEASES, LIBRDKAFKA.name: LIBRDKAFKA})
"""Every client that a scenario may name."""
