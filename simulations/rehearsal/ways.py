"""Who is bounced when, and set to what: the documented way, the hasty one, and the way back.

Sources: KIP-848, *Online Migration*; KIP-429, *Upgrade Path* (two rolling bounces; for Streams ``upgrade.from``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from groups.wire.embedded.user_data import COOPERATIVE_STICKY
from simulations.protocol.assignors.classic.custom import STREAM
from simulations.protocol.assignors.classic.strategies import COOPERATIVE, EAGER, rebalance_protocol
from simulations.protocol.client.classic.releases import RELEASES
from simulations.rehearsal.values import CONSUMER, GroupMember, Question
from simulations.rehearsal.versions import COOPERATIVE_SINCE, release_of, version_of


class WayName(StrEnum):
    """``planned`` is what Kafka documents; ``hasty`` leaves something of it out; ``back`` goes forwards and returns."""

    PLANNED = "planned"
    HASTY = "hasty"
    BACK = "back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a member's process is started with; ``client`` as its team calls it, ``release`` as the simulator does."""

    protocol: str
    client: str
    release: str
    assignors: tuple[str, ...] = ()
    upgrade_from: bool = False

    @property
    def rebalance(self) -> str | None:
        """``EAGER`` or ``COOPERATIVE``; ``None`` of the consumer protocol, where nobody chooses."""
        if self.protocol == CONSUMER:
            return None
        if self.upgrade_from or not RELEASES[self.release].cooperative:
            return EAGER
        return rebalance_protocol(self.assignors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounce:
    """``members`` are bounced together; ``settings`` is what each is set to, ``round`` counts from 1, ``back`` on the way back."""

    members: tuple[str, ...]
    settings: Mapping[str, Settings]
    round: int
    back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    name: WayName
    title: str
    bounces: tuple[Bounce, ...]


HASTY_TITLES: Final = {
    CONSUMER: "All at once: stop every member, start them anew",
    "cooperative": "One rolling bounce in place of two",
}


def ways_of(question: Question) -> tuple[Way, ...]:
    """The planned way, the hasty one and the way back; the planned one alone where there is nothing to do."""
    planned = _planned(question)
    if not planned:
        return (Way(name=WayName.PLANNED, title="The documented way", bounces=()),)
    if question.to == CONSUMER and any(STREAM in member.assignors for member in question.classic):
        # Streams cannot be started as a plain consumer: there is no other way to play.
        return (Way(name=WayName.PLANNED, title="The documented way", bounces=planned),)
    turn = len(planned) if question.turn_after is None else min(question.turn_after, len(planned))
    return (
        Way(name=WayName.PLANNED, title="The documented way", bounces=planned),
        Way(name=WayName.HASTY, title=HASTY_TITLES[question.to], bounces=_hasty(question)),
        Way(
            name=WayName.BACK,
            title="The way back" if turn == len(planned) else f"The way back, after bounce {turn}",
            bounces=(*planned[:turn], *_undone(question, planned[:turn])),
        ),
    )


def today(member: GroupMember) -> Settings:
    """What a member runs with now."""
    return Settings(
        protocol=member.protocol, client=member.client, release=member.release, assignors=member.assignors
    )


def _planned(question: Question) -> tuple[Bounce, ...]:
    if question.to == CONSUMER:
        return _round(question, {member.name: _consumer(question) for member in question.classic}, 1)
    first: dict[str, Settings] = {}
    second: dict[str, Settings] = {}
    for member in question.classic:
        now = today(member)
        beside = _beside(question, now)
        if beside != now:
            first[member.name] = beside
        alone = _alone(beside)
        if alone != beside:
            second[member.name] = alone
    return (*_round(question, first, 1), *_round(question, second, 2 if first else 1))


def _hasty(question: Question) -> tuple[Bounce, ...]:
    if question.to == CONSUMER:
        wanted = {member.name: _consumer(question) for member in question.classic}
        return (Bounce(members=tuple(wanted), settings=wanted, round=1),)
    directly = {}
    for member in question.classic:
        now = today(member)
        alone = _alone(_beside(question, now))
        if alone != now:
            directly[member.name] = alone
    return _round(question, directly, 1)


def _undone(question: Question, forwards: Sequence[Bounce]) -> Iterable[Bounce]:
    """Each bounce taken back, the last one first: at any time the group is as it was on the way there."""
    settings = {member.name: [today(member)] for member in question.members}
    for bounce in forwards:
        for name in bounce.members:
            settings[name].append(bounce.settings[name])
    for bounce in reversed(forwards):
        before = {}
        for name in bounce.members:
            settings[name].pop()
            before[name] = settings[name][-1]
        yield Bounce(members=bounce.members, settings=before, round=bounce.round, back=True)


def _round(question: Question, wanted: Mapping[str, Settings], number: int) -> tuple[Bounce, ...]:
    names = list(wanted)
    return tuple(
        Bounce(
            members=tuple(batch := names[at : at + question.at_once]),
            settings={name: wanted[name] for name in batch},
            round=number,
        )
        for at in range(0, len(names), question.at_once)
    )


def _consumer(question: Question) -> Settings:
    version = version_of(question.new_client)
    return Settings(
        protocol=CONSUMER, client=question.new_client, release=release_of(version) or question.new_client
    )


def _beside(question: Question, now: Settings) -> Settings:
    """After the first bounce: the new code, with the new assignor beside the old ones; Streams with ``upgrade.from``."""
    if now.rebalance == COOPERATIVE and version_of(now.client) >= COOPERATIVE_SINCE:
        return now
    newer = now
    if version_of(now.client) < version_of(question.new_client):
        release = release_of(version_of(question.new_client))
        newer = replace(now, client=question.new_client, release=release or now.release)
    if STREAM in now.assignors:
        return replace(newer, upgrade_from=True)
    if COOPERATIVE_STICKY in now.assignors:
        # What the second bounce needs is listed already; the release may stay as it is.
        return now
    return replace(newer, assignors=(*now.assignors, COOPERATIVE_STICKY))


def _alone(beside: Settings) -> Settings:
    """After the second bounce: what is cooperative alone."""
    if beside.rebalance == COOPERATIVE:
        return beside
    if beside.upgrade_from:
        return replace(beside, upgrade_from=False)
    return replace(beside, assignors=(COOPERATIVE_STICKY,))
