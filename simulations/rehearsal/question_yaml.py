"""A document (YAML or JSON) as a question: checked, and complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulations.fork.group_of_frame import name_of
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.protocol.assignors.classic.custom import CUSTOM_COOPERATIVE, CUSTOM_USER_DATA
from simulations.protocol.assignors.classic.strategies import EAGER, STRATEGIES
from simulations.protocol.client.classic.releases import (
    CLIENTS,
    LIBRDKAFKA,
    LIBRDKAFKA_ASSIGNORS,
    RELEASES,
    row_for,
)
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.rehearsal.documents import GroupDocument, MemberDocument, QuestionDocument
from simulations.rehearsal.values import (
    CONSUMER,
    COOPERATIVE,
    MEMBERS_MOST,
    NEW_BROKERS,
    NEWEST_BROKER,
    NEWEST_CLIENT,
    PARTITIONS_MOST,
    STAGES_MOST,
    TARGETS,
    TOPICS_MOST,
    Begun,
    GroupMember,
    Question,
    RehearsalError,
)
from simulations.rehearsal.versions import (
    CONSUMER_PROTOCOL_SINCE,
    STATIC_SINCE,
    Version,
    broker_release,
    version_of,
)
from simulations.rehearsal.ways import today
from simulations.world.scenario.classic_members import CLASSIC, check_assignors, read_protocol
from simulations.world.scenario.errors import ScenarioError
from simulations.world.scenario.nodes import Keys, Node, parse
from simulations.world.scenario.topics import check_name, read_name, read_owned, read_topic_names

MEMBER_KEYS: Final = tuple(MemberDocument.__annotations__)
OWN_KEYS: Final = ("instance_id", "remote_assignor")
"""Keys of a member that no group has for all of them."""

WISH_KEYS: Final = tuple(
    key
    for key in QuestionDocument.__annotations__
    if key not in (*GroupDocument.__annotations__, "timeline", "at")
)
KEYS: Final = (
    *QuestionDocument.__annotations__,
    "static",
    *(key for key in MEMBER_KEYS if key not in OWN_KEYS),
)

AWAY_MOST_MS: Final = 120_000
"""A process that is away for longer than this was not bounced, but stopped."""

TIMEOUT_MOST_MS: Final = 1_800_000
"""``group.max.session.timeout.ms``"""

ASSUMED_MOST: Final = 10


def question_of(text: str) -> Question:
    """The question that a document asks; ``RehearsalError`` with line and field of the first mistake."""
    try:
        return _question(parse(text, "group's description", "topics and members"))
    except ScenarioError as error:
        raise RehearsalError(error.message, error.field, error.line) from None


def _question(root: Node) -> Question:
    keys = root.mapping(KEYS, needs=("topics", "members"), what="a group's description")
    topics = _topics(keys["topics"])
    members = _members(keys["members"], keys, topics)
    to = keys.read("to", lambda node: node.choice(TARGETS, "target"), CONSUMER)
    brokers = _version(keys, "brokers", NEWEST_BROKER)
    new_brokers = _version(keys, "new_brokers", NEWEST_BROKER)
    if to == NEW_BROKERS:
        _check_brokers(keys.get("new_brokers", keys["to"]), brokers, new_brokers)
    elif not any(member.is_classic for member in members):
        raise keys["members"].wrong(
            f"every member is of the consumer protocol: there is nothing to upgrade but the brokers (to: {NEW_BROKERS})"
        )
    stuck = [member.name for member in members if member.is_librdkafka and today(member).rebalance == EAGER]
    if to == COOPERATIVE and stuck:
        raise keys["to"].wrong(
            f"{stuck[0]} is a client of librdkafka, which ends at its start with eager and cooperative assignors together: "
            "no rolling bounce takes the group there, all its members have to stop"
        )
    modern = [member.name for member in members if not member.is_classic]
    if modern and brokers < CONSUMER_PROTOCOL_SINCE:
        raise keys["brokers"].wrong(
            f"brokers {brokers} serve no member of the consumer protocol, and {modern[0]} is one: there is no such group"
        )
    new_client = _version(keys, "new_client", NEWEST_CLIENT)
    stages = -(-len(members) // STAGES_MOST)
    at_once = keys.integer("at_once", 1, MEMBERS_MOST, stages)
    if -(-len(members) // at_once) > STAGES_MOST:
        raise keys["at_once"].wrong(
            f"{len(members)} members are bounced {stages} or more at once: a plan has at most {STAGES_MOST} bounces a round"
        )
    return Question(
        group=keys.read("group", lambda node: read_name(node, "a group"), "orders"),
        topics=topics,
        members=members,
        to=to,
        brokers=str(brokers),
        new_brokers=str(new_brokers),
        new_client=str(new_client),
        migration_policy=keys.read("migration_policy", _policy, MigrationPolicy.BIDIRECTIONAL),
        at_once=at_once,
        away_ms=keys.integer("away_ms", 1, AWAY_MOST_MS, 2_000),
        turn_after=keys.integer("turn_after", 1, 2 * STAGES_MOST, None),
        server_assignor=keys.read("server_assignor", _server_assignor, None),
        start=_start(keys["start"], topics, members) if "start" in keys else None,
        assumed=tuple(each.text() for each in keys.read("assumed", Node.items, [])[:ASSUMED_MOST]),
        timeline=(keys["timeline"].text(), keys.integer("at", 0, 2**53, 0)) if "timeline" in keys else None,
    )


def _topics(node: Node) -> dict[str, int]:
    topics: dict[str, int] = {}
    for name, part in node.mapping().items():
        check_name(name, part, "a topic")
        if part.kind == "a mapping":
            part = part.mapping(("partitions",), needs=("partitions",), what="a topic")["partitions"]
        topics[name] = part.integer(1, PARTITIONS_MOST)
    if not topics:
        raise node.wrong("a group needs at least one topic")
    if len(topics) > TOPICS_MOST:
        raise node.wrong(f"at most {TOPICS_MOST} topics are rehearsed, these are {len(topics)}")
    if sum(topics.values()) > PARTITIONS_MOST:
        raise node.wrong(
            f"at most {PARTITIONS_MOST} partitions are rehearsed, these are {sum(topics.values())}"
        )
    return topics


def _members(node: Node, usual: Keys, topics: Mapping[str, int]) -> tuple[GroupMember, ...]:
    """Each of ``members``: a number of members that are all alike, or each by its name."""
    static = usual.yes("static")
    if node.kind == "a mapping":
        named = {name: part.mapping(MEMBER_KEYS) for name, part in node.mapping().items()}
        for name in named:
            check_name(name, node, "a member")
    else:
        named = {name_of(number): Keys() for number in range(node.integer(1, MEMBERS_MOST))}
    if not named:
        raise node.wrong("a group needs at least one member")
    if len(named) > MEMBERS_MOST:
        raise node.wrong(f"at most {MEMBERS_MOST} members are rehearsed, these are {len(named)}")
    members = tuple(
        _member(name, Keys({**usual, **own}), "assignors" in own, topics, node, static=static)
        for name, own in named.items()
    )
    instances = [member.instance_id for member in members if member.instance_id is not None]
    if len(set(instances)) < len(instances):
        raise node.wrong("two members have one instance_id; each static member has its own")
    listed = [set(member.assignors) for member in members if member.is_classic]
    if listed and not set.intersection(*listed):
        raise node.wrong(
            "no assignor is listed by all classic members: the coordinator would refuse one of them "
            "(INCONSISTENT_GROUP_PROTOCOL), so there is no such group"
        )
    return members


def _start(node: Node, topics: Mapping[str, int], members: tuple[GroupMember, ...]) -> Begun:
    """As a scenario's ``start`` of a classic group; every classic member is in it."""
    keys = node.mapping(("generation", "leader", "members"), needs=("generation", "members"), what="a start")
    classic = [member.name for member in members if member.is_classic]
    taken: dict[tuple[str, int], str] = {}
    owned: dict[str, Mapping[str, tuple[int, ...]]] = {}
    for name, part in keys["members"].mapping(classic).items():
        known = part.mapping(("owned",))
        owned[name] = read_owned(known["owned"], topics, name, taken) if "owned" in known else {}
    missing = [name for name in classic if name not in owned]
    if missing:
        raise keys["members"].wrong(f"the start lacks {missing[0]}; every classic member is in it")
    return Begun(
        generation=keys["generation"].integer(1, 2**31 - 2),
        leader=keys["leader"].choice(tuple(owned), "member") if "leader" in keys else next(iter(owned)),
        owned=owned,
    )


def _member(
    name: str,
    keys: Keys,
    own_assignors: bool,
    topics: Mapping[str, int],
    node: Node,
    *,
    static: bool,
) -> GroupMember:
    protocol = read_protocol(keys, CLASSIC)
    client = LIBRDKAFKA.name if _is_librdkafka(keys) else _version(keys, "client", NEWEST_CLIENT)
    release = row_for(client) if isinstance(client, Version) else client
    if release is None:
        raise keys["client"].wrong(
            f"client {client} is older than {next(iter(RELEASES))}, the oldest that brokers 4.0 and newer talk to "
            "(KIP-896); upgrade it within its own protocol first"
        )
    instance_id = keys.read("instance_id", lambda node: read_name(node, "an instance"), None)
    instance_id = instance_id or (name if static else None)
    if instance_id is not None and not CLIENTS[release].static:
        raise keys.get("client", node).wrong(
            f"a client {client} knows no group.instance.id; that begins with {STATIC_SINCE}"
        )
    return GroupMember(
        name=name,
        topics=keys.read("subscribe", lambda node: read_topic_names(node, topics), tuple(topics)),
        protocol=protocol,
        client=str(client),
        release=release,
        assignors=_assignors(keys.get("assignors"), release) if protocol == "classic" else (),
        remote_assignor=_remote_assignor(keys.get("remote_assignor"), protocol),
        instance_id=instance_id,
        session_timeout_ms=keys.integer("session_timeout_ms", 6_000, TIMEOUT_MOST_MS, 45_000),
        rebalance_timeout_ms=keys.integer("rebalance_timeout_ms", 1, TIMEOUT_MOST_MS, 300_000),
    )


def _remote_assignor(node: Node | None, protocol: str) -> str | None:
    if node is None:
        return None
    if protocol == "classic":
        raise node.wrong(
            "group.remote.assignor is of the consumer protocol; a classic member lists assignors"
        )
    return _server_assignor(node)


def _server_assignor(node: Node) -> str:
    return node.choice(tuple(SERVER_ASSIGNORS), "assignor")


def _policy(node: Node) -> MigrationPolicy:
    return MigrationPolicy(node.choice([str(each) for each in MigrationPolicy], "migration policy"))


def _check_brokers(node: Node, old: Version, new: Version) -> None:
    """Brokers are rolled to a newer release, which is played otherwise than theirs."""
    before, after = broker_release(old), broker_release(new)
    if new <= old:
        raise node.wrong(f"brokers {old} are rolled to a newer release, and {new} is none")
    if before is after:
        raise node.wrong(f"brokers {old} and {new} are both played as {after}: nothing changes for a group")


def _is_librdkafka(keys: Keys) -> bool:
    return "client" in keys and keys["client"].text() == LIBRDKAFKA.name


def _assignors(node: Node | None, release: str) -> tuple[str, ...]:
    if node is None:
        if release == LIBRDKAFKA.name:
            return LIBRDKAFKA_ASSIGNORS[:2]
        return ("range", "cooperative-sticky") if version_of(release) >= Version(3, 0) else ("range",)
    chosen = {_assignor(item): item for item in node.each()}
    check_assignors(node, chosen, release)
    return tuple(chosen)


def _assignor(node: Node) -> str:
    """A class of Kafka's may be named as the setting has it, ``org.apache.kafka.clients.consumer.StickyAssignor``."""
    name = node.text()
    if name in STRATEGIES:
        return name
    if name in CLASSES:
        return CLASSES[name]
    raise node.wrong(
        f"{name[:80]} is none of Kafka's assignors ({', '.join(STRATEGIES)}); a class of your own is {CUSTOM_COOPERATIVE} "
        f"or {CUSTOM_USER_DATA}, and one that is eager and writes no user data behaves as range does here"
    )


CLASSES: Final = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
    "org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor": "stream",
}
"""``partition.assignment.strategy`` → the assignor's own name."""


def _version(keys: Keys, key: str, usual: str) -> Version:
    if key not in keys:
        return version_of(usual)
    try:
        return version_of(keys[key].text())
    except ValueError:
        what = "client" if "client" in key else "broker"
        raise keys[key].expected(f"the release of a {what}, such as 3.8") from None
