"""Which assignor a group of the consumer protocol uses: one of the coordinator's, or one that runs on a member.

KIP-848, "Assignor Selection". The text contradicts itself in who goes first, and both are here: the newer text takes a
client-side assignor if any member lists one, the older one a server-side assignor if any member names one. Where the text
leaves something open:

* *Members list client-side assignors in different orders.* "The precedence defined by the members" is counted as in a
  classic group: each member votes for the first of its list that all support; a tie goes to the member that comes first.
* *Members list client-side assignors, and none is supported by all.* A server-side one is used "otherwise". Who would bring that
  about by what it lists is refused before (``proposal.computing.check_supported``).
* *Equally many members name two server-side assignors.* The one that the coordinator lists first.
* *Versions.* An assignor is supported by all if some member's versions take in the metadata versions of all: that member
  can read what the others report to it, and write to each what it reads. Only such members are picked to compute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from simulations.protocol.assignors.client_side import Offer


class Reading(StrEnum):
    """Whose assignor goes first."""

    CLIENT_FIRST = "client-first"
    SERVER_FIRST = "server-first"


class UnsupportedAssignorError(Exception):
    """UNSUPPORTED_ASSIGNOR (112): a member names a server-side assignor that the coordinator does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """A member's assignors: a heartbeat may carry one kind or the other, or neither."""

    server: str | None = None
    client: tuple[Offer, ...] = ()

    def problem(self) -> str | None:
        """Why the heartbeat is an INVALID_REQUEST; None if it is not."""
        if self.server is not None and self.client:
            return "a member names a server-side assignor or lists client-side ones, not both"
        return next((wrong for offer in self.client if (wrong := offer.problem()) is not None), None)


@dataclass(frozen=True, slots=True)
class Choice:
    """The assignor; ``computing`` are the members that may be picked to run it, none if the coordinator does."""

    name: str
    computing: tuple[str, ...] = ()


def choose(
    members: Mapping[str, Preference],
    server_assignors: Sequence[str],
    reading: Reading = Reading.CLIENT_FIRST,
) -> Choice:
    """The group's assignor. ``server_assignors`` is ``group.consumer.assignors``; its first is the default."""
    for member_id, preference in members.items():
        if preference.server is not None and preference.server not in server_assignors:
            raise UnsupportedAssignorError(
                f"{member_id} asks for the assignor {preference.server}; there are {', '.join(server_assignors)}"
            )
    votes = Counter(preference.server for preference in members.values() if preference.server is not None)
    client = _client_choice(members)
    if client is not None and (reading is Reading.CLIENT_FIRST or not votes):
        return client
    if not votes:
        return Choice(server_assignors[0])
    return Choice(max(server_assignors, key=lambda name: votes[name]))


def able_to_compute(members: Mapping[str, Preference], name: str) -> tuple[str, ...]:
    """The members whose assignor of that name reads what all others report to it; none if a member does not list it."""
    offers = {
        member_id: offer
        for member_id, preference in members.items()
        for offer in preference.client
        if offer.name == name
    }
    if len(offers) < len(members):
        return ()
    versions = {offer.metadata.version for offer in offers.values()}
    return tuple(member_id for member_id, offer in offers.items() if all(map(offer.reads, versions)))


def _client_choice(members: Mapping[str, Preference]) -> Choice | None:
    names = dict.fromkeys(offer.name for preference in members.values() for offer in preference.client)
    supported = {name: able for name in names if (able := able_to_compute(members, name))}
    if not supported:
        return None
    # A counter keeps the order of its first votes, and ``max`` takes the first of equals.
    votes = Counter(
        next(offer.name for offer in preference.client if offer.name in supported)
        for preference in members.values()
    )
    name = max(votes, key=votes.__getitem__)
    return Choice(name, supported[name])
