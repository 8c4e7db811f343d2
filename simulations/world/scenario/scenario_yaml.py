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

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Final

from groups.history.state.group import Semantics
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.protocol.assignors.scripted import SCRIPTED, ScriptedAssignor, ScriptedTarget
from simulations.protocol.client.consumer import ConsumerClient
from simulations.protocol.coordinator.settings import MAX_INT, Settings
from simulations.world.scenario.access import Denial, read_denials
from simulations.world.scenario.actions import COORDINATOR, EVERYTHING, Action, Event, Verb
from simulations.world.scenario.brokers import read_brokers
from simulations.world.scenario.classic_members import CLASSIC, CONSUMER, Classic, read_protocol
from simulations.world.scenario.client_assignors import read_client_assignor
from simulations.world.scenario.config import read_settings
from simulations.world.scenario.environment import CALM, WORLDS
from simulations.world.scenario.errors import ScenarioError
from simulations.world.scenario.members import read_members
from simulations.world.scenario.network import DELAY_MAX_MS, read_network
from simulations.world.scenario.nodes import Node, parse
from simulations.world.scenario.order import check_order
from simulations.world.scenario.start import read_classic_start, read_start
from simulations.world.scenario.topics import NAME, read_name, read_topics
from simulations.world.scenario.values import (
    PARTITIONS_MAX,
    REGEX_MS,
    SCRIPT_MAX,
    STEPS_MAX,
    UNTIL_MAX_MS,
    ClassicStart,
    Member,
    NarratedStep,
    Scenario,
    ScenarioTopic,
    Start,
)
from simulations.world.scenario.verbs import Names, read_line

WITHOUT_WHO: Final = (
    Event.TARGET,
    Event.REGEX,
    Event.CONFIG,
    Event.GROUP_DELETED,
    Event.FAIL_OVER,
    Event.LOADED,
    Event.FEATURE,
    Event.BROKER_STOPS,
    Event.BROKER_STARTS,
    Event.VIOLATES,
    Event.GENERATION,
)
"""Events that no member and no topic is named with."""

OF_TOPICS: Final = (Event.METADATA, Event.CREATED, Event.DELETED)
"""Events that are named with a topic."""

OF_ENDS: Final = (Event.CUT, Event.HEAL, Event.CLOCK_JUMP)
"""Events that are named with a member or a broker."""


def read_steps(
    node: Node, topics: Collection[str], members: Mapping[str, Member]
) -> tuple[NarratedStep, ...]:
    items = node.items()
    if len(items) > STEPS_MAX:
        raise node.wrong(f"at most {STEPS_MAX} steps, these are {len(items)}")
    return tuple(_step(item, topics, members) for item in items)


def _step(node: Node, topics: Collection[str], members: Mapping[str, Member]) -> NarratedStep:
    found = node.mapping(("after", "says"), needs=("after", "says"), what="a step")
    after, text = found["after"], found["says"].text()
    if after.kind == "text":
        event = Event(after.choice(tuple(Event), "event"))
        if event not in WITHOUT_WHO:
            what = "topic, such as {%s: foo}" if event in OF_TOPICS else "member, such as {%s: A}"
            raise after.wrong(f"{event} needs its {what % event}")
        return NarratedStep(event=event, who=None, narration=text)
    pairs = after.mapping(tuple(Event))
    if len(pairs) != 1:
        raise after.wrong("expected one event, such as {join: A}")
    name, value = next(iter(pairs.items()))
    event = Event(name)
    if event in WITHOUT_WHO:
        raise value.wrong(f"{event} stands alone: after: {event}")
    if event in OF_TOPICS:
        return NarratedStep(event=event, who=value.choice(tuple(topics), "topic"), narration=text)
    who = value.text()
    if event in OF_ENDS and who in (COORDINATOR, EVERYTHING):
        return NarratedStep(event=event, who=who, narration=text)
    # A restarted process is named after its member: A~2.
    if who.partition("~")[0] not in members:
        value.choice(tuple(members), "member")
    return NarratedStep(event=event, who=who, narration=text)


FAILS: Final = "fails"
"""In place of a target: the assignor throws."""

DIGITS: Final = len(str(MAX_INT))


def read_targets(
    node: Node | None, settings: Settings, members: Collection[str], topics: Collection[str], line: int
) -> ScriptedAssignor | None:
    """The assignor, if it is asked for; ``line`` is that of ``assignor``."""
    asked = settings.assignors[0] == SCRIPTED
    if node is None:
        if asked:
            raise ScenarioError(line, "targets", "assignor: scripted needs targets, by epoch")
        return None
    if not asked:
        raise node.wrong("targets are for assignor: scripted")
    targets: dict[int, ScriptedTarget | None] = {}
    for key, part in node.mapping().items():
        if not key.isascii() or not key.isdecimal() or len(key) > DIGITS or not 1 <= int(key) <= MAX_INT:
            raise part.wrong(f"targets stand under an epoch, 1 or more, not {key!r}")
        if int(key) in targets:
            raise part.wrong(f"epoch {int(key)} stands twice")
        targets[int(key)] = None if part.kind == "text" else _target(part, members, topics)
        if part.kind == "text":
            part.choice((FAILS,), "target")
    return ScriptedAssignor(targets=targets)


def _target(node: Node, members: Collection[str], topics: Collection[str]) -> ScriptedTarget:
    """Member → topic → partitions; a restarted member is named as such, ``A~2``. No partition is given twice."""
    taken: dict[tuple[str, int], str] = {}
    target: dict[str, Mapping[str, tuple[int, ...]]] = {}
    for member, part in node.mapping().items():
        if member.partition("~")[0] not in members:
            raise part.wrong(f"unknown member {member}; there are {', '.join(members)}")
        owned: dict[str, tuple[int, ...]] = {}
        for topic, listed in part.mapping(tuple(topics)).items():
            numbers = tuple(item.integer(0, PARTITIONS_MAX - 1) for item in listed.items())
            for number in numbers:
                holder = taken.setdefault((topic, number), member)
                if holder != member or numbers.count(number) > 1:
                    raise listed.wrong(f"{topic}-{number} is given to {holder} already")
            owned[topic] = numbers
        target[member] = owned
    return target


def read_script(
    node: Node,
    names: Names,
    topics: Mapping[str, ScenarioTopic],
    members: Mapping[str, Member],
    there: Iterable[str],
    until_ms: int | None,
    denied: Iterable[Denial] = (),
) -> tuple[Action, ...]:
    """``there``: members that are there from the start, ``denied`` what they may not do then. The actions in order of time; lines of one time keep their order. None may come after the run's end, if that is given."""
    lines = node.items()
    if len(lines) > SCRIPT_MAX:
        raise node.wrong(f"at most {SCRIPT_MAX} lines, these are {len(lines)}")
    read = [(action, line) for line in lines for action in read_line(line, names)]
    for action, line in read:
        if until_ms is not None and action.at_ms > until_ms:
            raise line.wrong(
                f"at {action.at_ms / 1000:g} s the run is over, which goes until {until_ms / 1000:g} s; "
                "it has to come earlier, or until has to be later"
            )
    read.sort(key=lambda pair: pair[0].at_ms)
    check_order(read, members, topics, there, names.settings, denied)
    return tuple(action for action, _ in read)


def topics_to_come(node: Node) -> Iterable[str]:
    """Names of the topics that the script creates; a mistake in a line is reported when the line is read."""
    if node.kind != "a list":
        return
    for line in node.items():
        if line.kind != "a mapping":
            continue
        created = line.mapping().get(Verb.CREATE_TOPIC)
        for item in (
            (created.items() if created.kind == "a list" else [created]) if created is not None else ()
        ):
            with suppress(ScenarioError):
                yield item.text()


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
    if semantics is Semantics.KIP:
        _check_clients(found["members"], members)
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


def _check_clients(node: Node, members: Mapping[str, Member]) -> None:
    """``kip`` has the text's one client of the consumer protocol."""
    for name, keys in node.mapping().items():
        if members[name].classic is None and members[name].client != ConsumerClient.JAVA_4_3:
            client = keys.mapping()["client"]
            raise client.wrong(f"only semantics: kafka has the client {client.text()}; leave client out")
