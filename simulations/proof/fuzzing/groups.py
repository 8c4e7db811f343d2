"""Which groups are drawn: of the consumer protocol, of the classic one, or of both, as a migration leaves them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from random import Random
from typing import Final

from groups.history.state.group import Semantics
from simulations.proof.fuzzing.documents import MemberDocument
from simulations.protocol.assignors.classic.strategies import COOPERATIVE, STRATEGIES, SUPPORTS
from simulations.protocol.client.classic.releases import NEWEST, RELEASES


class Groups(StrEnum):
    """``mixed``: members of either protocol, and such that are bounced to the other one."""

    CONSUMER = "consumer"
    CLASSIC = "classic"
    MIXED = "mixed"


GROUPS: Final = tuple(Groups)

INITIAL_DELAYS_MS: Final = (0, 0, 300, 1_500)
SESSION_TIMEOUTS_MS: Final = (2_500, 3_500, 5_000)
HEARTBEAT_INTERVALS_MS: Final = (500, 1_000, 1_600)
METADATA_AGES_MS: Final = (1_500, 4_000)
"""How soon the leader sees that a topic has grown: often enough for a short run."""

POLICIES: Final = ("bidirectional", "bidirectional", "bidirectional", "upgrade", "downgrade", "disabled")

SHARED: Final = ("range", "roundrobin", "sticky", "cooperative-sticky", "cooperative-sticky", "range")
"""The assignor that all members of a drawn group list, so that they can be one group at all."""

RARE: Final = ("stream", "custom-cooperative", "custom-user-data")

VOTED_FOR: Final = ("range", "roundrobin")
"""Eager assignors that every release knows."""


def semantics_of(groups: Groups | str, semantics: Iterable[Semantics | str]) -> list[Semantics]:
    """The semantics in which such groups run: the proposal leaves groups of classic members alone as they are released."""
    chosen = [Semantics(each) for each in semantics]
    return [each for each in chosen if each is Semantics.KAFKA] if groups == Groups.CLASSIC else chosen


class ClassicMembers:
    """Draws what members of the classic protocol are set to; those of one group can mostly be one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._shared = random.choice(SHARED if random.random() < 0.85 else RARE)
        self._of_releases = random.random() < 0.4
        """Whether clients of several releases come together."""
        self._strays = random.random() < 0.2
        """Whether some members list another assignor."""
        self._votes = random.choice(VOTED_FOR) if random.random() < 0.4 else None
        """A second assignor that every member lists, before the shared one or after it, so that they have to vote."""

    @property
    def alike(self) -> bool:
        """Whether all members subscribe to the same: as tasks are shared out, others would be given what they do not read."""
        return self._shared == "stream"

    def settings(self) -> MemberDocument:
        """A member's settings: its client, its assignors, its timeouts."""
        random, client = self._random, self._client()
        session_ms = random.choice(SESSION_TIMEOUTS_MS)
        known: MemberDocument = {
            "protocol": "classic",
            "client": client,
            "assignors": self._assignors(client),
            "session_timeout_ms": session_ms,
            "heartbeat_interval_ms": random.choice(HEARTBEAT_INTERVALS_MS),
            "metadata_max_age_ms": random.choice(METADATA_AGES_MS),
        }
        if random.random() < 0.2:
            known["revoke_commits"] = True
        return known

    def rolled(self, member: MemberDocument) -> MemberDocument:
        """What a bounce sets otherwise, the assignors or the release; a static member needs a client that knows instances."""
        client = self._client()
        if "instance_id" in member and not RELEASES[client].static:
            client = NEWEST.name
        return {"client": client, "assignors": self._assignors(client)}

    def _client(self) -> str:
        return self._random.choice(tuple(RELEASES)) if self._of_releases else NEWEST.name

    def _assignors(self, client: str) -> list[str]:
        random = self._random
        shared = self._shared
        if self._strays and random.random() < 0.4:
            shared = random.choice(SHARED)
        names = [shared] if _knows(client, shared) else ["range"]
        if self._votes is not None and names[0] not in (*RARE, self._votes):
            names.append(self._votes)
            random.shuffle(names)
            return names
        others = [
            name for name in ("range", "cooperative-sticky") if name not in names and _knows(client, name)
        ]
        if others and names[0] not in RARE and random.random() < 0.4:
            # As in a roll from one to the other: both, in either order.
            names.append(random.choice(others))
            random.shuffle(names)
        return names


def _knows(client: str, name: str) -> bool:
    release, supported = RELEASES[client], SUPPORTS[name]
    return name in STRATEGIES and (release.cooperative or COOPERATIVE not in supported or name == "stream")
