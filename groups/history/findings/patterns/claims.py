"""What members of a classic group claimed to own when they joined, as the record of a generation holds their subscriptions."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Watch
from groups.history.findings.patterns.pattern import KEPT_MAX
from groups.history.state.classic_group import ClassicGroup, ClassicMember
from groups.history.state.group import Protocol
from groups.wire.embedded.consumer_protocol import decode_subscription
from groups.wire.embedded.user_data import flat_partitions, member_data

Place = tuple[str, int]

STICKY: Final = frozenset({"sticky", "cooperative-sticky"})
"""Assignors that keep a member's claim, or its generation, in user data of their own."""

OLDEST: Final = 0
"""The version of a subscription that names no owned partitions: its sender does not read them either."""


class Claim(NamedTuple):
    """``generation`` is ``None`` if the subscription has no such field, and -1 if it reports that there is none."""

    version: int
    places: tuple[Place, ...]
    generation: int | None


@dataclass(slots=True)
class DoubleClaim:
    """Partitions that two members or more claimed in one join, with what each said of its generation."""

    at_ms: int
    sequence: int
    generation: int
    assignor: str
    members: list[str]
    generations: list[int | None]
    places: list[Place]
    resolved: bool
    """Whether each partition has one newest claim, by the generations in the subscriptions."""


@dataclass(slots=True)
class OldLeader:
    """A leader that does not read what members own gave a partition away that its owner keeps."""

    at_ms: int
    sequence: int
    generation: int
    leader: str
    owners: list[str]
    takers: list[str]
    places: list[Place]


@dataclass(slots=True)
class Claims(Watch):
    """Generations in which the claims do not fit each other, or not what the leader made of them."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})
    sees_moves: ClassVar[bool] = False

    doubles: list[DoubleClaim] = field(default_factory=list)
    old_leaders: list[OldLeader] = field(default_factory=list)
    read: dict[str, tuple[str, Claim]] = field(default_factory=dict, init=False)
    """Member → its subscription and the claim in it, so that what did not change is not read again."""

    def add(self, step: Step) -> None:
        group = step.after.classic
        if step.after.protocol is not Protocol.CLASSIC or not step.epoch_changed or not group.members:
            return
        claims = self._claims(group)
        owners: dict[Place, list[str]] = {}
        for member_id, claim in claims.items():
            for place in claim.places:
                owners.setdefault(place, []).append(member_id)
        double = [place for place, some in owners.items() if len(some) > 1]
        if double and len(self.doubles) < KEPT_MAX:
            members = list(dict.fromkeys(each for place in double for each in owners[place]))
            self.doubles.append(
                DoubleClaim(
                    step.after.at_ms,
                    step.sequence,
                    group.generation,
                    group.protocol_name or "",
                    members[:KEPT_MAX],
                    [claims[each].generation for each in members[:KEPT_MAX]],
                    sorted(double)[:KEPT_MAX],
                    all(_has_newest([claims[each].generation for each in owners[place]]) for place in double),
                )
            )
        self._leader(step, group, claims, owners)

    def _leader(
        self, step: Step, group: ClassicGroup, claims: dict[str, Claim], owners: dict[Place, list[str]]
    ) -> None:
        leader = claims.get(group.leader or "")
        if leader is None or leader.version != OLDEST or group.protocol_name in STICKY:
            return
        taken = {
            (topic, number): member_id
            for member_id, member in group.members.items()
            for topic, numbers in member.assigned.items()
            for number in numbers
        }
        given = [place for place, some in owners.items() if place in taken and taken[place] not in some]
        if given and len(self.old_leaders) < KEPT_MAX:
            self.old_leaders.append(
                OldLeader(
                    step.after.at_ms,
                    step.sequence,
                    group.generation,
                    group.leader or "",
                    list(dict.fromkeys(each for place in given for each in owners[place])),
                    list(dict.fromkeys(taken[place] for place in given)),
                    sorted(given)[:KEPT_MAX],
                )
            )

    def _claims(self, group: ClassicGroup) -> dict[str, Claim]:
        """Of all members whose subscription can be read."""
        assignor = group.protocol_name or ""
        read: dict[str, tuple[str, Claim]] = {}
        for member_id, member in group.members.items():
            key = f"{assignor} {member.subscription}"
            known = self.read.get(member_id)
            if known is not None and known[0] == key:
                read[member_id] = known
                continue
            claim = _claim(member, assignor)
            if claim is not None:
                read[member_id] = (key, claim)
        self.read = read
        return {member_id: claim for member_id, (_, claim) in read.items()}


def _has_newest(generations: list[int | None]) -> bool:
    """A claim without a generation, or with -1, is taken for the older one (KIP-792)."""
    known = [-1 if one is None else one for one in generations]
    return max(known) >= 0 and known.count(max(known)) == 1


def _claim(member: ClassicMember, assignor: str) -> Claim | None:
    if not member.subscription or not member.subscribed:
        # Nothing, or bytes of another protocol than the consumers'; damaged ones are an anomaly that the fold has reported.
        return None
    try:
        decoded = decode_subscription(base64.b64decode(member.subscription, validate=True))
        if assignor == "sticky":
            data = member_data(assignor, decoded)
            return Claim(decoded["version"], tuple(data.partitions), data.generation)
        generation = decoded.get("generationId")
        if (generation is None or generation < 0) and assignor in STICKY:
            generation = member_data(assignor, decoded).generation
    except (ValueError, LookupError):
        return None
    places = flat_partitions(decoded.get("ownedPartitions") or ())
    return Claim(decoded["version"], places, generation)
