"""What an assignment costs and how even it is: the numbers of an answer and of the laboratory's scorecard.

==============  ======================================================================================================
figure          meaning
==============  ======================================================================================================
moved           partitions that some member claims and that a member without a claim is to get
revoked         claims that the assignment sent does not confirm, those on vanished topics included
min, max        partitions of the smallest and of the largest member
interrupted     members that stop reading at least one partition that they claim
paused          claimed partitions that exist and are not read for a while, also those that come back
local           assigned partitions with a replica in their reader's rack
rebalances      2 where the assignment sent withholds partitions that are in transfer, else 1
==============  ======================================================================================================

``moved``, ``min``, ``max`` and ``local`` are taken where the group is to end: in ``intended``, where there is one. An eager
protocol has everybody give up everything before the assignor even runs, so all its claims are paused; a cooperative one
and the consumer protocol pause what is not confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from simulations.protocol.assignors.explanation import counted
from simulations.protocol.assignors.interface import GroupAssignment, GroupSpec, Owned

Claims = Mapping[str, Owned]
"""Member id → topic → partitions that the member asks to own, or its target under the consumer protocol."""


class RebalanceProtocol(StrEnum):
    """How members come from one assignment to the next."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


def protocol_of(protocol: str, assignor: str) -> RebalanceProtocol:
    """The protocol that an assignor of ``classic`` or ``consumer`` groups runs under when it is the only one."""
    if protocol == "consumer":
        return RebalanceProtocol.CONSUMER
    return RebalanceProtocol.COOPERATIVE if assignor == "cooperative-sticky" else RebalanceProtocol.EAGER


class FiguresSheet(TypedDict):
    """``Measures`` by the names that the API has for them; ``local`` is ``None`` where no racks are known."""

    moved: int
    revoked: int
    min: int
    max: int
    interrupted: int
    paused: int
    rebalances: int
    local: int | None
    placed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The figures of the table above; ``local`` and ``placed`` (all assigned) are None where no racks are known."""

    moved: int
    revoked: int
    least: int
    most: int
    interrupted: int
    paused: int
    rebalances: int
    local: int | None
    placed: int

    def to_json(self) -> FiguresSheet:
        return {
            "moved": self.moved,
            "revoked": self.revoked,
            "min": self.least,
            "max": self.most,
            "interrupted": self.interrupted,
            "paused": self.paused,
            "rebalances": self.rebalances,
            "local": self.local,
            "placed": self.placed,
        }


def measure(
    spec: GroupSpec, answer: GroupAssignment, protocol: RebalanceProtocol, claims: Claims | None = None
) -> Measures:
    """All figures of one answer. ``claims`` where they are not ``owned``: what ``sticky`` reads in user data."""
    if claims is None:
        claims = {member_id: member.owned for member_id, member in spec.members.items()}
    sent = answer.members
    goal = sent if answer.intended is None else answer.intended
    revoked, losers, paused = _given_up(spec, claims, sent)
    if protocol is RebalanceProtocol.EAGER:
        losers, paused = _existing(spec, claims)
    sizes = [sum(map(len, goal.get(member_id, {}).values())) for member_id in spec.members]
    return Measures(
        moved=_moved(claims, goal),
        revoked=revoked,
        least=min(sizes, default=0),
        most=max(sizes, default=0),
        interrupted=losers,
        paused=paused,
        rebalances=1 if answer.intended is None or _same(sent, goal) else 2,
        local=_local(spec, goal),
        placed=sum(sizes),
    )


def concluded(measures: Measures, protocol: RebalanceProtocol) -> str:
    """What an answer comes to, in a sentence: the last step of an explanation."""
    least, most = measures.least, measures.most
    spread = f"{least} each" if least == most else f"{least} to {most} each"
    partitions, members = counted(measures.paused, "partition"), counted(measures.interrupted, "member")
    if not measures.paused:
        return f"{spread}; nobody stops reading anything"
    if protocol is RebalanceProtocol.EAGER:
        back = measures.paused - measures.moved
        also = f", also {back} that nobody else gets" if back > 0 else ""
        return f"{spread}; eager: before this could start, {members} gave up everything, {partitions}{also}"
    if measures.rebalances > 1:
        return f"{spread}; given up now, given on in a second rebalance: {partitions} of {members}"
    return f"{spread}; only what its owner does not keep stops being read: {partitions} of {members}"


def _moved(claims: Claims, goal: Mapping[str, Owned]) -> int:
    claimed: dict[str, set[int]] = {}
    for owned in claims.values():
        for topic, partitions in owned.items():
            claimed.setdefault(topic, set()).update(partitions)
    return sum(
        len(claimed[topic].intersection(partitions).difference(claims.get(member_id, {}).get(topic, ())))
        for member_id, owned in goal.items()
        for topic, partitions in owned.items()
        if topic in claimed
    )


def _given_up(spec: GroupSpec, claims: Claims, sent: Mapping[str, Owned]) -> tuple[int, int, int]:
    """Claims not confirmed; members with such a claim on a partition that exists; partitions confirmed to nobody."""
    revoked, losers = 0, 0
    lost: dict[str, set[int]] = {}
    kept: dict[str, set[int]] = {}
    for member_id, owned in claims.items():
        confirmed = sent.get(member_id, {})
        loses = False
        for topic, partitions in owned.items():
            stays = set(confirmed.get(topic, ()))
            gone = [partition for partition in partitions if partition not in stays]
            revoked += len(gone)
            existing = _within(spec, topic, gone)
            loses = loses or bool(existing)
            if existing:
                lost.setdefault(topic, set()).update(existing)
            if stays:
                kept.setdefault(topic, set()).update(stays.intersection(partitions))
        losers += loses
    return revoked, losers, sum(len(gone - kept.get(topic, set())) for topic, gone in lost.items())


def _existing(spec: GroupSpec, claims: Claims) -> tuple[int, int]:
    """Members that claim a partition that exists, and how many partitions those are."""
    holders = 0
    held: dict[str, set[int]] = {}
    for owned in claims.values():
        holds = False
        for topic, partitions in owned.items():
            existing = _within(spec, topic, partitions)
            holds = holds or bool(existing)
            held.setdefault(topic, set()).update(existing)
        holders += holds
    return holders, sum(map(len, held.values()))


def _within(spec: GroupSpec, topic: str, partitions: Sequence[int]) -> list[int]:
    known = spec.topics.get(topic)
    return [] if known is None else [p for p in partitions if 0 <= p < known.partitions]


def _local(spec: GroupSpec, goal: Mapping[str, Owned]) -> int | None:
    """None unless some member has a rack and some partition's racks are known."""
    known = any(topic.racks for topic in spec.topics.values())
    if not known or not any(member.rack_id for member in spec.members.values()):
        return None
    count = 0
    for member_id, owned in goal.items():
        rack = spec.members[member_id].rack_id if member_id in spec.members else None
        if rack is None:
            continue
        for topic, partitions in owned.items():
            racks = spec.topics[topic].racks if topic in spec.topics else None
            if racks:
                count += sum(rack in racks.get(partition, ()) for partition in partitions)
    return count


def _same(left: Mapping[str, Owned], right: Mapping[str, Owned]) -> bool:
    return _sets(left) == _sets(right)


def _sets(assigned: Mapping[str, Owned]) -> dict[tuple[str, str], frozenset[int]]:
    return {
        (member_id, topic): frozenset(partitions)
        for member_id, owned in assigned.items()
        for topic, partitions in owned.items()
        if partitions
    }
