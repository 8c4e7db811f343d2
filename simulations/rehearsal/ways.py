"""Who is bounced when, and set to what: the documented way, the hasty one, and the way back.

Sources: KIP-848, *Online Migration*; KIP-429, *Upgrade Path* (two rolling bounces; for Streams ``upgrade.from``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from groups.releases import Release
from groups.wire.embedded.user_data import COOPERATIVE_STICKY
from simulations.protocol.assignors.classic.custom import STREAM
from simulations.protocol.assignors.classic.strategies import COOPERATIVE, EAGER, rebalance_protocol
from simulations.protocol.client.classic.releases import CLIENTS, row_for
from simulations.rehearsal.values import CONSUMER, NEW_BROKERS, NEWEST_BROKER, GroupMember, Question
from simulations.rehearsal.versions import version_of
from simulations.world.scenario.brokers import ALL_BROKERS, BROKERS


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
        if self.upgrade_from or not CLIENTS[self.release].cooperative:
            return EAGER
        return rebalance_protocol(self.assignors)


class BrokerStep(StrEnum):
    """What is done to the brokers between bounces of members: rolled to a new release or back, ``group.version`` raised or lowered."""

    ROLL = "roll"
    RAISE = "raise"
    LOWER = "lower"
    ROLL_BACK = "roll_back"

    @property
    def undone(self) -> BrokerStep:
        return _UNDONE[self]


_UNDONE: Final = {
    BrokerStep.ROLL: BrokerStep.ROLL_BACK,
    BrokerStep.RAISE: BrokerStep.LOWER,
    BrokerStep.LOWER: BrokerStep.RAISE,
    BrokerStep.ROLL_BACK: BrokerStep.ROLL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounce:
    """``members`` are bounced together; ``settings`` is what each is set to, ``round`` counts from 1, ``back`` on the way back.

    One of no member is a step of the brokers; ``broker`` is which of them is rolled.
    """

    members: tuple[str, ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    round: int = 0
    back: bool = False
    brokers: BrokerStep | None = None
    broker: str = ALL_BROKERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """``rolled_to``: the release that its rolls bring."""

    name: WayName
    title: str
    bounces: tuple[Bounce, ...]
    rolled_to: Release = NEWEST_BROKER

    @property
    def steps(self) -> int:
        """How many bounces are of members; where none is, how many are of brokers."""
        return sum(1 for bounce in self.bounces if bounce.members) or len(self.bounces)

    def heading(self, stage: int, release: str) -> str:
        """What a stage is called: ``Bounce 2``; ``release`` is what the brokers ran at first."""
        if not stage:
            return "Now"
        step, broker = self.bounces[stage - 1].brokers, self.bounces[stage - 1].broker
        which = "the brokers" if broker == ALL_BROKERS else broker
        if step is None:
            return f"Bounce {sum(1 for bounce in self.bounces[:stage] if bounce.members)}"
        return {
            BrokerStep.ROLL: f"Roll {which} to {self.rolled_to}",
            BrokerStep.RAISE: "Raise group.version to 1",
            BrokerStep.LOWER: "Lower group.version to 0",
            BrokerStep.ROLL_BACK: f"Roll {which} to {release}",
        }[step]


BROKERS_FIRST: Final = (Bounce(brokers=BrokerStep.ROLL), Bounce(brokers=BrokerStep.RAISE))
"""Where brokers do not serve the consumer protocol: every broker has to support the level before it is raised."""

WITHOUT_BROKERS: Final = "Clients before the brokers: all at once"

HASTY_TITLES: Final = {
    CONSUMER: "All at once: stop every member, start them anew",
    "cooperative": "One rolling bounce in place of two",
}


def ways_of(question: Question) -> tuple[Way, ...]:
    """The planned way, the hasty one and the way back; the planned one alone where there is nothing to do."""
    if question.to == NEW_BROKERS:
        return _rolls(question)
    planned = _planned(question)
    if not planned:
        return (Way(name=WayName.PLANNED, title="The documented way", bounces=()),)
    if question.to == CONSUMER and any(STREAM in member.assignors for member in question.classic):
        # Streams cannot be started as a plain consumer: there is no other way to play.
        return (Way(name=WayName.PLANNED, title="The documented way", bounces=planned),)
    first = BROKERS_FIRST if question.rolls_brokers else ()
    turn = len(planned) if question.turn_after is None else min(question.turn_after, len(planned))
    there = (*first, *planned[:turn])
    hasty = WITHOUT_BROKERS if first else HASTY_TITLES[question.to]
    return (
        Way(name=WayName.PLANNED, title="The documented way", bounces=(*first, *planned)),
        Way(name=WayName.HASTY, title=hasty, bounces=_hasty(question)),
        Way(
            name=WayName.BACK,
            title="The way back" if turn == len(planned) else f"The way back, after bounce {turn}",
            bounces=(*there, *_undone(question, there)),
        ),
    )


def _rolls(question: Question) -> tuple[Way, ...]:
    """One broker after the other, and back: the newest release last."""
    there = tuple(Bounce(brokers=BrokerStep.ROLL, broker=name) for name in BROKERS)
    turn = len(there) if question.turn_after is None else min(question.turn_after, len(there))
    done = there[:turn]
    return (
        Way(
            name=WayName.PLANNED,
            title="The brokers, one after the other",
            bounces=there,
            rolled_to=question.new_release,
        ),
        Way(
            name=WayName.BACK,
            title="The way back"
            if turn == len(there)
            else f"The way back, after {turn} of {len(there)} brokers",
            bounces=(*done, *_undone(question, done)),
            rolled_to=question.new_release,
        ),
    )


def today(member: GroupMember) -> Settings:
    """What a member runs with now."""
    return Settings(
        protocol=member.protocol, client=member.client, release=member.release, assignors=member.assignors
    )


def _planned(question: Question) -> tuple[Bounce, ...]:
    if question.to == CONSUMER:
        return _round(question, {member.name: _consumer(question, member) for member in question.classic}, 1)
    first: dict[str, Settings] = {}
    second: dict[str, Settings] = {}
    for member in question.classic:
        now = today(member)
        with_both = _with_both(question, now)
        if with_both != now:
            first[member.name] = with_both
        alone = _alone(with_both)
        if alone != with_both:
            second[member.name] = alone
    return (*_round(question, first, 1), *_round(question, second, 2 if first else 1))


def _hasty(question: Question) -> tuple[Bounce, ...]:
    if question.to == CONSUMER:
        wanted = {member.name: _consumer(question, member) for member in question.classic}
        return (Bounce(members=tuple(wanted), settings=wanted, round=1),)
    directly = {}
    for member in question.classic:
        now = today(member)
        alone = _alone(_with_both(question, now))
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
        if bounce.brokers is not None:
            yield replace(bounce, brokers=bounce.brokers.undone, back=True)
            continue
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


def _consumer(question: Question, member: GroupMember) -> Settings:
    """librdkafka stays what it is: it has one version here."""
    if member.is_librdkafka:
        return Settings(protocol=CONSUMER, client=member.client, release=member.release)
    version = version_of(question.new_client)
    return Settings(
        protocol=CONSUMER, client=question.new_client, release=row_for(version) or question.new_client
    )


def _with_both(question: Question, now: Settings) -> Settings:
    """After the first bounce: the new code, with the new assignor in addition to the old ones; Streams with ``upgrade.from``."""
    if now.rebalance == COOPERATIVE:
        return now
    newer = now
    if version_of(now.client) < version_of(question.new_client):
        release = row_for(version_of(question.new_client))
        newer = replace(now, client=question.new_client, release=release or now.release)
    if STREAM in now.assignors:
        return replace(newer, upgrade_from=True)
    if COOPERATIVE_STICKY in now.assignors:
        # What the second bounce needs is listed already; the release may stay as it is.
        return now
    return replace(newer, assignors=(*now.assignors, COOPERATIVE_STICKY))


def _alone(with_both: Settings) -> Settings:
    """After the second bounce: what is cooperative alone."""
    if with_both.rebalance == COOPERATIVE:
        return with_both
    if with_both.upgrade_from:
        return replace(with_both, upgrade_from=False)
    return replace(with_both, assignors=(COOPERATIVE_STICKY,))
