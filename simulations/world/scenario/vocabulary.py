"""What a scenario's text may have where: for an editor that completes it, from the tables that the reader itself uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypedDict

from groups.history.state.group import Semantics
from groups.releases import GROUP_VERSION, Release
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.protocol.assignors.scripted import SCRIPTED
from simulations.protocol.client.classic.releases import CLIENTS
from simulations.protocol.client.consumer import ConsumerClient
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.world.scenario import access, classic_members, members, scenario_yaml, start
from simulations.world.scenario.actions import COORDINATOR, EVERYTHING, Event, Verb
from simulations.world.scenario.brokers import ALL_BROKERS, BROKERS
from simulations.world.scenario.client_assignors import BROUGHT, CLIENT, REASONS, STREAMS_KEYS
from simulations.world.scenario.config import CONFIG_KEYS, GROUP_CONFIG_KEYS
from simulations.world.scenario.environment import WORLDS
from simulations.world.scenario.network import NETWORK_KEYS
from simulations.world.scenario.raw_requests import SENT
from simulations.world.scenario.topics import TOPIC_KEYS
from simulations.world.scenario.verbs import FORMS, WAYS, Who


class Place(TypedDict, total=False):
    """What may come at one place: ``keys`` of a mapping, with the place of each; ``any``: the place of every other key; ``values``
    that a text may have; ``names``: of which parts of the scenario's own it may be; ``many``: a list of them, also of one; ``verbs``
    of a line of the script."""

    keys: Mapping[str, Place]
    any: Place
    values: list[str]
    names: list[str]
    many: bool
    verbs: Mapping[str, VerbPlace]


class VerbPlace(TypedDict):
    """A verb's sentence, the place of what it is said of, and its own keys, of which it needs some."""

    sentence: str
    needs: list[str]
    who: Place
    keys: Mapping[str, Place]


def vocabulary() -> Place:
    """The place of the whole text."""
    boolean = _values(("true", "false"))
    assignors = _values((*SERVER_ASSIGNORS, SCRIPTED, *STRATEGIES, *(f"{CLIENT}{name}" for name in BROUGHT)))
    topic_name: Place = {"names": ["topics"]}
    topics: Place = {**topic_name, "many": True}
    one_member: Place = {"names": ["members"]}
    topic = _keys(TOPIC_KEYS)
    set_otherwise: dict[str, Place] = {
        "protocol": _values(classic_members.PROTOCOLS),
        "client": _values(dict.fromkeys((*CLIENTS, *ConsumerClient))),
        "assignors": {**_values(dict.fromkeys((*STRATEGIES, *BROUGHT))), "many": True},
        "upgrade_from": boolean,
        "revoke_commits": boolean,
    }
    member = _keys(
        dict.fromkeys((*members.MEMBER_KEYS, *classic_members.CLASSIC_KEYS)),
        **set_otherwise,
        subscribe=topics,
        assignor=_values(SERVER_ASSIGNORS),
        streams=_keys(STREAMS_KEYS, reads_classic=boolean),
        auto_commit=boolean,
        assignor_calls=boolean,
        fetch_offsets=boolean,
    )
    denied: dict[str, Place] = {"operation": _values(access.Operation), "topic": topic_name}
    owned: Place = {"any": {}, "names": ["topics"]}
    started = _keys(start.MEMBER_KEYS, owned=owned, target=owned, revoking=owned)
    extras: dict[str, Place] = {
        **denied,
        "with": _keys(classic_members.CHANGE_KEYS, **set_otherwise),
        "topics": topics,
        "from": _values(("log", "compacted")),
        "release": _values(Release),
        "request": _values(sorted(SENT)),
    }
    return _keys(
        scenario_yaml.KEYS,
        protocol=_values(classic_members.PROTOCOLS),
        semantics=_values(Semantics),
        assignor=assignors,
        topics={"any": topic},
        config=_keys(
            CONFIG_KEYS, assignors=_values(SERVER_ASSIGNORS), migration_policy=_values(MigrationPolicy)
        ),
        brokers={**_keys(BROKERS, **dict.fromkeys(BROKERS, _values(Release))), **_values(Release)},
        start=_keys(
            dict.fromkeys((*start.KEYS, *start.CLASSIC_KEYS)),
            members={**one_member, "any": started},
            leader=one_member,
        ),
        members={"any": member},
        deny=_keys(access.KEYS, **denied, member=one_member),
        world=_values(WORLDS),
        network=_keys(NETWORK_KEYS),
        script={
            "verbs": {
                verb: {
                    "sentence": form.sentence,
                    "needs": list(form.needs),
                    "who": WHO[form.who],
                    "keys": {key: _extra(verb, key, extras) for key in form.keys},
                }
                for verb, form in FORMS.items()
            }
        },
        steps=_keys(
            ("after", "says"), after={**_values(Event), **_keys(Event, **dict.fromkeys(Event, one_member))}
        ),
    )


def _extra(verb: Verb, key: str, extras: Mapping[str, Place]) -> Place:
    if key == "how":
        return _values(WAYS[verb])
    return _values(REASONS) if (verb, key) == (Verb.REPORT, "reason") else extras.get(key, {})


def _keys(names: Iterable[str], **places: Place) -> Place:
    return {"keys": {name: places.get(name, {}) for name in names}}


def _values(choices: Iterable[str]) -> Place:
    return {"values": [str(choice) for choice in choices]}


WHO: Final[Mapping[Who, Place]] = {
    Who.MEMBER: {"names": ["members"]},
    Who.TOPIC: {"names": ["topics"]},
    Who.NEW_TOPIC: {},
    Who.COORDINATOR: _values([COORDINATOR]),
    Who.ENDS: {"names": ["members"], **_values([COORDINATOR, EVERYTHING])},
    Who.CLOCK: {"names": ["members"], **_values([COORDINATOR])},
    Who.GROUP: {"names": ["group"]},
    Who.SETTINGS: _keys(GROUP_CONFIG_KEYS),
    Who.NETWORK: _keys(NETWORK_KEYS),
    Who.FEATURE: _keys([GROUP_VERSION]),
    Who.BROKERS: _values([ALL_BROKERS, *BROKERS]),
}
"""The place of what a verb is said of."""
