"""Makes a scenario from its YAML text. Every mistake is a ``ScenarioError`` with line, field and what would be right.

The form (each key but ``topics``, ``members`` and ``script`` may be left out)::

    name: six partitions, a third member joins      # or title:
    group: orders
    protocol: consumer                              # or classic; a member may have its own
    semantics: kafka                                # or kip
    assignor: uniform                               # the group's: uniform, range, or scripted with targets:
    topics: {foo: {partitions: 6}}
    config: {session_timeout_ms: 45000, heartbeat_interval_ms: 5000}
    brokers: 4.4                                    # or '3.9'
    start: {group_epoch: 21, assignment_epoch: 21, members: {A: {epoch: 21, owned: {foo: [0, 1, 2]}}}}
    members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}}
    network: {delay_ms: [1, 5]}
    script: [{at: 0s, join: A}, {at: 12s, kill: B}]
    steps: [{after: {join: A}, says: "A joins"}]      # events: simulations.world.scenario.values.Event
    start_ms: 0
    seed: 7
    until: 120s
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from groups.history.state.group import Semantics
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.world.scenario.access import read_denials
from simulations.world.scenario.brokers import read_brokers
from simulations.world.scenario.classic_members import CLASSIC, CONSUMER, Classic, read_protocol
from simulations.world.scenario.client_assignors import read_client_assignor
from simulations.world.scenario.config import read_settings
from simulations.world.scenario.environment import CALM, WORLDS
from simulations.world.scenario.members import read_members
from simulations.world.scenario.network import DELAY_MAX_MS, read_network
from simulations.world.scenario.nodes import parse
from simulations.world.scenario.script import read_script, topics_to_come
from simulations.world.scenario.start import read_classic_start, read_start
from simulations.world.scenario.steps import read_steps
from simulations.world.scenario.targets import read_targets
from simulations.world.scenario.topics import NAME, read_name, read_topics
from simulations.world.scenario.values import REGEX_MS, UNTIL_MAX_MS, ClassicStart, Scenario, Start
from simulations.world.scenario.verbs import Names

KEYS: Final = (
    "name",
    "title",
    "proposal",
    "summary",
    "group",
    "protocol",
    "semantics",
    "assignor",
    "targets",
    "topics",
    "config",
    "brokers",
    "start",
    "members",
    "deny",
    "world",
    "network",
    "replication_ms",
    "metadata_delay_ms",
    "regex_ms",
    "script",
    "steps",
    "start_ms",
    "seed",
    "until",
)
DEFAULT_GROUP: Final = "orders"
DEFAULT_TAIL_MS: Final = 60_000
"""A run without ``until`` goes on this long after the last line of its script: a session timeout and some."""

TIMESTAMP_MAX_MS: Final = 253_402_300_799_999
"""The end of the year 9999."""


def load(text: str, name: str = "scenario") -> Scenario:
    """The scenario of a YAML text; ``name`` is its id or file, used where the text gives no name itself."""
    root = parse(text)
    found = root.mapping(KEYS, needs=("topics", "members", "script"), what="a scenario")
    protocol = read_protocol(found, CONSUMER)
    topics = read_topics(found["topics"])
    ever = {**topics, **dict.fromkeys(topics_to_come(found["script"]))}
    classic = Classic()
    if protocol == CLASSIC and "assignor" in found:
        # A group of the classic protocol has no assignor of its own: members without one use what the others list.
        classic = replace(classic, assignors=(found["assignor"].choice(tuple(STRATEGIES), "assignor"),))
    assignor = found.get("assignor") if protocol == CONSUMER else None
    members = read_members(found["members"], ever, protocol, classic)
    if (client := read_client_assignor(assignor)) is not None:
        members = {
            name: member
            if member.assignors or member.assignor or member.classic
            else replace(member, assignors=(client,))
            for name, member in members.items()
        }
    settings = read_brokers(
        found.get("brokers"), found.get("config"), read_settings(found.get("config"), assignor)
    )
    line = assignor.line if assignor is not None else root.line
    scripted = read_targets(found.get("targets"), settings, members, ever, line)
    settings = replace(settings, scripted=scripted)
    start: Start | None = None
    classic_start: ClassicStart | None = None
    if "start" in found and any(member.classic is not None for member in members.values()):
        if found["start"].mapping():
            classic_start = read_classic_start(found["start"], topics, members)
    elif "start" in found:
        start = read_start(found["start"], topics, members)
    group = DEFAULT_GROUP
    if "group" in found:
        group = read_name(found["group"], "a group")
    elif NAME.fullmatch(name):
        group = name
    semantics = Semantics.KAFKA
    if "semantics" in found:
        semantics = Semantics(found["semantics"].choice(tuple(Semantics), "semantics"))
    names = Names(group=group, members=members, topics=ever, settings=settings, semantics=semantics)
    given_until_ms = found["until"].duration_ms(UNTIL_MAX_MS) if "until" in found else None
    there: Iterable[str] = ()
    if start is not None:
        there = [member.name for member in start.members]
    elif classic_start is not None:
        there = classic_start.owned
    denied = read_denials(found["deny"], group, members, ever) if "deny" in found else ()
    script = read_script(found["script"], names, topics, members, there, given_until_ms, denied)
    last_ms = max((action.at_ms for action in script), default=0)
    until_ms = min(last_ms + DEFAULT_TAIL_MS, UNTIL_MAX_MS) if given_until_ms is None else given_until_ms
    named_world = found["world"].choice(tuple(WORLDS), "world") if "world" in found else CALM
    world = WORLDS[named_world]
    return Scenario(
        name=name,
        title=found.text("title", "") or found.text("name", name),
        proposal=found.text("proposal", None),
        summary=found.text("summary", None),
        group=group,
        semantics=semantics,
        topics=topics,
        members=members,
        settings=settings,
        start=start,
        classic_start=classic_start,
        denied=denied,
        world=named_world,
        network=read_network(found.get("network"), world.network),
        replication_ms=found.integer("replication_ms", 0, DELAY_MAX_MS, world.replication_ms),
        metadata_delay_ms=found.integer("metadata_delay_ms", 0, DELAY_MAX_MS, world.metadata_delay_ms),
        regex_ms=found.integer("regex_ms", 0, DELAY_MAX_MS, REGEX_MS),
        script=script,
        steps=read_steps(found["steps"], ever, members) if "steps" in found else (),
        start_ms=found.integer("start_ms", 0, TIMESTAMP_MAX_MS, 0),
        seed=found.integer("seed", 0, 2**63 - 1, 1),
        until_ms=until_ms,
        text=text,
    )
