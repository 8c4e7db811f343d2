"""A way as a scenario: the group forms, then bounce by bounce, each with time to come to rest."""

from __future__ import annotations

import json
from typing import Final, NotRequired, TypedDict

from groups.releases import GROUP_VERSION
from simulations.fork.group_of_frame import StartDocument
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.rehearsal.values import CONSUMER, Begun, GroupMember, Question
from simulations.rehearsal.ways import Bounce, BrokerStep, Settings, Way

JOIN_MS: Final = 10_000
"""From when members of the consumer protocol join a group that classic ones have formed."""

FIRST_MS: Final = 20_000
"""When the first process closes: the group has formed by then."""

REST_MS: Final = 20_000
"""After a process is back: several heartbeats of every member, so that cooperative members, too, have come to rest."""


RATE: Final = 1
"""Records a second: without a rate the readers of partitions are not known."""


class ScenarioMember(TypedDict):
    """A member in a scenario; what is not required is of the classic protocol, but for the instance and the ``assignor``, which is of the consumer protocol."""

    protocol: str
    subscribe: list[str]
    rebalance_timeout_ms: int
    instance_id: NotRequired[str]
    assignor: NotRequired[str]
    client: NotRequired[str]
    assignors: NotRequired[list[str]]
    session_timeout_ms: NotRequired[int]
    heartbeat_interval_ms: NotRequired[int]


class BounceSettings(TypedDict):
    """With what a process starts again; all but the protocol of the classic one alone."""

    protocol: str
    client: NotRequired[str]
    assignors: NotRequired[list[str]]
    upgrade_from: NotRequired[bool]
    session_timeout_ms: NotRequired[int]
    heartbeat_interval_ms: NotRequired[int]


ROLL_DOWN_MS: Final = 3_000
"""How long a broker is down: the roll of three is over before the next bounce."""

Line = dict[str, str | list[str] | BounceSettings | dict[str, int]]
"""A line of a scenario's script: its time, its verb with who, and what the verb needs."""


def stage_ms(question: Question) -> int:
    """From one bounce to the next."""
    return question.away_ms + REST_MS


def begins_ms(question: Question, bounce: int) -> int:
    """When a bounce, counted from 0, begins."""
    return FIRST_MS + bounce * stage_ms(question)


def scenario_of(question: Question, way: Way) -> str:
    """The YAML of the run (each value is JSON)."""
    joins: list[Line] = []
    classic = [member.name for member in question.classic]
    if classic and question.start is None:
        joins.append({"at": "0s", "join": classic})
    if new := [member.name for member in question.members if not member.is_classic]:
        joins.append({"at": f"{JOIN_MS if classic else 0}ms", "join": new})
    script = [
        line
        for number, bounce in enumerate(way.bounces)
        for line in _lines(question, bounce, begins_ms(question, number))
    ]
    # The sort is stable: without a wish the broker's own order stays.
    assignors = sorted(SERVER_ASSIGNORS, key=lambda name: name != (question.server_assignor or name))
    document: dict[str, object] = {
        "name": f"{question.group}: {way.title[:1].lower()}{way.title[1:]}",
        "group": question.group,
        "semantics": "kafka",
        "protocol": "classic",
        "topics": {name: {"partitions": count, "rate": RATE} for name, count in question.topics.items()},
        "config": {
            "migration_policy": str(question.migration_policy),
            "assignors": assignors,
        },
        "brokers": str(question.broker_release),
        "members": {member.name: _member(member) for member in question.members},
        **({"start": start_of(question.start)} if question.start is not None else {}),
        "script": [*joins, *script],
        "until": f"{begins_ms(question, len(way.bounces))}ms",
    }
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items())


def _lines(question: Question, bounce: Bounce, at_ms: int) -> list[Line]:
    """What a bounce is in a script."""
    at = f"{at_ms}ms"
    match bounce.brokers:
        case BrokerStep.ROLL | BrokerStep.ROLL_BACK as step:
            release = question.new_release if step is BrokerStep.ROLL else question.broker_release
            return [{"at": at, "roll": bounce.broker, "release": str(release), "for": f"{ROLL_DOWN_MS}ms"}]
        case BrokerStep.RAISE:
            return [{"at": at, "upgrade_feature": {GROUP_VERSION: 1}}]
        case BrokerStep.LOWER:
            return [{"at": at, "downgrade_feature": {GROUP_VERSION: 0}}]
    return [
        {
            "at": at,
            "bounce": name,
            "with": _with(bounce.settings[name], question, name),
            "for": f"{question.away_ms}ms",
        }
        for name in bounce.members
    ]


def start_of(begun: Begun) -> StartDocument:
    """A scenario's ``start``."""
    return {
        "generation": begun.generation,
        "leader": begun.leader,
        "members": {
            name: {"owned": {topic: list(numbers) for topic, numbers in owned.items()}}
            for name, owned in begun.owned.items()
        },
    }


def _member(member: GroupMember) -> ScenarioMember:
    known: ScenarioMember = {
        "protocol": member.protocol,
        "subscribe": list(member.topics),
        "rebalance_timeout_ms": member.rebalance_timeout_ms,
    }
    if member.instance_id is not None:
        known["instance_id"] = member.instance_id
    if member.remote_assignor is not None:
        known["assignor"] = member.remote_assignor
    if member.is_classic or member.is_librdkafka:
        known["client"] = member.release
    if member.is_classic:
        known |= {
            "assignors": list(member.assignors),
            "session_timeout_ms": member.session_timeout_ms,
            "heartbeat_interval_ms": min(3_000, member.session_timeout_ms // 3),
        }
    return known


def _with(settings: Settings, question: Question, name: str) -> BounceSettings:
    if settings.protocol == CONSUMER:
        return {"protocol": CONSUMER}
    member = next(each for each in question.members if each.name == name)
    return {
        "protocol": settings.protocol,
        "client": settings.release,
        "assignors": list(settings.assignors),
        "upgrade_from": settings.upgrade_from,
        "session_timeout_ms": member.session_timeout_ms,
        "heartbeat_interval_ms": min(3_000, member.session_timeout_ms // 3),
    }
