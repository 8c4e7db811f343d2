"""Makes a scenario from its YAML text. Every mistake is a ``ScenarioError`` with line, field and what would be right.

The form (each key but ``topics``, ``members`` and ``script`` may be left out)::

    name: six partitions, a third member joins      # or title:
    group: orders
    semantics: kafka                                # or kip
    assignor: uniform                               # the group's: uniform, range
    topics: {foo: {partitions: 6}}
    config: {session_timeout_ms: 45000, heartbeat_interval_ms: 5000}
    start: {group_epoch: 21, assignment_epoch: 21, members: {A: {epoch: 21, owned: {foo: [0, 1, 2]}}}}
    members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}}
    network: {delay_ms: [1, 5]}
    script: [{at: 0s, join: A}, {at: 12s, kill: B}]
    steps: [{after: {join: A}, says: "A joins"}]    # events: simulations.scenario.values.Event
    start_ms: 0
    seed: 7
    until: 120s
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from groups.history.state import Semantics
from simulations.assignors import SERVER_ASSIGNORS
from simulations.coordinator.settings import MAX_INT, Settings
from simulations.scenario.errors import ScenarioError
from simulations.scenario.nodes import Node, parse
from simulations.scenario.script import read_script, read_steps
from simulations.scenario.start import read_start
from simulations.scenario.values import (
    MEMBERS_MAX,
    PARTITIONS_MAX,
    UNTIL_MAX_MS,
    Member,
    Network,
    Scenario,
    Start,
    Topic,
)

KEYS: Final = (
    "name",
    "title",
    "proposal",
    "summary",
    "group",
    "protocol",
    "semantics",
    "assignor",
    "topics",
    "config",
    "start",
    "members",
    "network",
    "script",
    "steps",
    "start_ms",
    "seed",
    "until",
)
CONFIG_KEYS: Final = (
    "session_timeout_ms",
    "heartbeat_interval_ms",
    "assignment_interval_ms",
    "assignor_time_ms",
    "max_size",
)
MEMBER_KEYS: Final = (
    "subscribe",
    "client_id",
    "client_host",
    "instance_id",
    "rack_id",
    "assignor",
    "rebalance_timeout_ms",
    "callback_ms",
)
MEMBER_KEYS_TO_COME: Final = ("regex", "assignors", "protocol", "generation", "user_data")

DEFAULT_GROUP: Final = "orders"
DEFAULT_TAIL_MS: Final = 60_000
"""A run without ``until`` goes on this long after the last line of its script: a session timeout and some."""

MILLISECONDS_MAX: Final = MAX_INT
TIMESTAMP_MAX_MS: Final = 253_402_300_799_999
"""The end of the year 9999."""

NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""What Kafka takes as a topic's name; members and groups here are held to the same."""
TOPIC_ID: Final = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")


def load(text: str, name: str = "scenario") -> Scenario:
    """The scenario of a YAML text; ``name`` is its id or file, used where the text gives no name itself."""
    root = parse(text)
    found = root.mapping(KEYS)
    for key in ("topics", "members", "script"):
        if key not in found:
            raise ScenarioError(root.line, key, f"a scenario needs {key}")
    if "protocol" in found and found["protocol"].choice(("consumer", "classic"), "protocol") != "consumer":
        raise found["protocol"].wrong("only groups of the consumer protocol are simulated so far")
    topics = _topics(found["topics"])
    members = _members(found["members"], topics)
    settings = _settings(found.get("config"), found.get("assignor"))
    start: Start | None = None
    if "start" in found:
        start = read_start(found["start"], topics, members)
    script = read_script(found["script"], topics, members, start)
    last_ms = max((action.at_ms for action in script), default=0)
    until_ms = min(last_ms + DEFAULT_TAIL_MS, UNTIL_MAX_MS)
    if "until" in found:
        until_ms = found["until"].duration_ms(UNTIL_MAX_MS)
    group = DEFAULT_GROUP
    if "group" in found:
        group = named(found["group"], "a group")
    elif NAME.fullmatch(name):
        group = name
    title = found.get("title") or found.get("name")
    return Scenario(
        name=name,
        title=title.text() if title else name,
        proposal=found["proposal"].text() if "proposal" in found else None,
        summary=found["summary"].text() if "summary" in found else None,
        group=group,
        semantics=(
            Semantics(found["semantics"].choice(tuple(Semantics), "semantics"))
            if "semantics" in found
            else Semantics.KAFKA
        ),
        topics=topics,
        members=members,
        settings=settings,
        start=start,
        network=_network(found.get("network")),
        script=script,
        steps=read_steps(found["steps"], topics, members) if "steps" in found else (),
        start_ms=found["start_ms"].integer(0, TIMESTAMP_MAX_MS) if "start_ms" in found else 0,
        seed=found["seed"].integer(0, 2**63 - 1) if "seed" in found else 1,
        until_ms=until_ms,
        text=text,
    )


def named(node: Node, what: str) -> str:
    """A name that Kafka would take."""
    name = node.text()
    if not NAME.fullmatch(name):
        raise node.wrong(f"{what} is named with letters, digits, '.', '_' and '-', not {name!r}")
    return name


def _topics(node: Node) -> dict[str, Topic]:
    topics: dict[str, Topic] = {}
    total = 0
    for name, part in node.mapping().items():
        if not NAME.fullmatch(name):
            raise part.wrong(f"a topic is named with letters, digits, '.', '_' and '-', not {name!r}")
        found = part.mapping(("partitions", "id"))
        if "partitions" not in found:
            raise part.wrong("a topic needs partitions")
        partitions = found["partitions"].integer(1, PARTITIONS_MAX)
        total += partitions
        if total > PARTITIONS_MAX:
            raise part.wrong(f"all topics together have at most {PARTITIONS_MAX} partitions")
        topic_id = found["id"].text() if "id" in found else None
        if topic_id is not None and not TOPIC_ID.fullmatch(topic_id):
            raise found["id"].wrong("a topic id is 22 characters of Kafka's base64")
        topics[name] = Topic(name=name, partitions=partitions, topic_id=topic_id)
    if not topics:
        raise node.wrong("a scenario needs at least one topic")
    return topics


def _members(node: Node, topics: Mapping[str, Topic]) -> dict[str, Member]:
    found = node.mapping()
    if not found:
        raise node.wrong("a scenario needs at least one member")
    if len(found) > MEMBERS_MAX:
        raise node.wrong(f"at most {MEMBERS_MAX} members, these are {len(found)}")
    members: dict[str, Member] = {}
    for number, (name, part) in enumerate(found.items(), start=1):
        if not NAME.fullmatch(name):
            raise part.wrong(f"a member is named with letters, digits, '.', '_' and '-', not {name!r}")
        for key, value in part.mapping().items():
            if key in MEMBER_KEYS_TO_COME:
                raise value.wrong(f"{key} is not simulated yet; a member has {', '.join(MEMBER_KEYS)}")
        keys = part.mapping(MEMBER_KEYS)
        if "subscribe" not in keys:
            raise part.wrong("a member needs subscribe, a list of topics")
        members[name] = Member(
            name=name,
            subscribe=tuple(item.choice(tuple(topics), "topic") for item in keys["subscribe"].items()),
            client_id=keys["client_id"].text() if "client_id" in keys else name.lower(),
            client_host=(
                keys["client_host"].text() if "client_host" in keys else f"/10.0.{number >> 8}.{number & 255}"
            ),
            instance_id=named(keys["instance_id"], "an instance") if "instance_id" in keys else None,
            rack_id=keys["rack_id"].text() if "rack_id" in keys else None,
            assignor=keys["assignor"].choice(tuple(SERVER_ASSIGNORS), "assignor")
            if "assignor" in keys
            else None,
            rebalance_timeout_ms=_milliseconds(keys, "rebalance_timeout_ms", 1, 300_000),
            callback_ms=_milliseconds(keys, "callback_ms", 0, 20),
        )
    return members


def _settings(config: Node | None, assignor: Node | None) -> Settings:
    usual = Settings()
    keys = config.mapping(CONFIG_KEYS) if config is not None else {}
    assignors = usual.assignors
    if assignor is not None:
        chosen = assignor.text()
        if chosen.startswith("client:") or chosen == "scripted":
            raise assignor.wrong(f"{chosen} is not simulated yet; there are {', '.join(usual.assignors)}")
        first = assignor.choice(usual.assignors, "assignor")
        assignors = (first, *(other for other in usual.assignors if other != first))
    settings = Settings(
        session_timeout_ms=_milliseconds(keys, "session_timeout_ms", 1, usual.session_timeout_ms),
        heartbeat_interval_ms=_milliseconds(keys, "heartbeat_interval_ms", 1, usual.heartbeat_interval_ms),
        assignment_interval_ms=_milliseconds(keys, "assignment_interval_ms", 0, usual.assignment_interval_ms),
        assignor_time_ms=_milliseconds(keys, "assignor_time_ms", 0, usual.assignor_time_ms),
        max_size=keys["max_size"].integer(1, MAX_INT) if "max_size" in keys else usual.max_size,
        assignors=assignors,
    )
    if settings.heartbeat_interval_ms >= settings.session_timeout_ms and config is not None:
        raise config.wrong(
            f"heartbeat_interval_ms ({settings.heartbeat_interval_ms}) must be below "
            f"session_timeout_ms ({settings.session_timeout_ms})"
        )
    return settings


def _milliseconds(keys: Mapping[str, Node], key: str, least: int, usual: int) -> int:
    return keys[key].integer(least, MILLISECONDS_MAX) if key in keys else usual


def _network(node: Node | None) -> Network:
    if node is None:
        return Network()
    keys = node.mapping(("delay_ms", "loss", "duplicate"))
    for key in ("loss", "duplicate"):
        if key in keys and keys[key].text().strip("0") not in ("", "."):
            raise keys[key].wrong(f"{key} is not simulated yet; only 0 is taken")
    if "delay_ms" not in keys:
        return Network()
    items = keys["delay_ms"].items()
    if len(items) != 2:
        raise keys["delay_ms"].wrong("expected the least and the greatest delay, such as [1, 5]")
    least, greatest = (item.integer(0, 60_000) for item in items)
    if least > greatest:
        raise keys["delay_ms"].wrong(f"the least delay ({least}) is above the greatest ({greatest})")
    return Network(delay_ms=(least, greatest))
