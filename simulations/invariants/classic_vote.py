"""Which protocol a classic group takes: each member votes for the first that it lists and all others list, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from groups.history.payloads.classic_bodies import JoinGroupBody
from simulations.invariants.classic_parts import Member
from simulations.invariants.java_table import SMALLEST, in_table_order


def elected(members: Sequence[Member], listed: Mapping[str, int]) -> str:
    """Of several protocols with most votes Java's table decides; ``members`` in its order, ``listed`` by how many."""
    names = {name for name, count in listed.items() if count == len(members)}
    votes = Counter(_vote(member, names) for member in members)
    # The order in which names were put decides within a bucket: as members walk the table.
    first_put = dict.fromkeys(_vote(member, names) for member in members)
    return max(in_table_order(first_put, SMALLEST), key=lambda name: votes[name])


def _vote(member: Member, names: set[str]) -> str:
    return next((name for name, _ in member.offers if name in names), "")


def offers(body: JoinGroupBody) -> tuple[tuple[str, str], ...]:
    """The protocols that a request lists, each with its metadata, the first first."""
    return tuple((each["name"], each["metadata"]) for each in body["protocols"])
