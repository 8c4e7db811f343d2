"""Draws a scenario from a seed: a small group, rough handling, and then quiet in which it has to converge.

A run is short on purpose. What goes wrong in a group of six over ten seconds goes wrong in a large one, too, and many
short runs meet more orders of events than a few long ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Final

from groups.history.state.group import Semantics
from groups.releases import NEWEST, Release
from simulations.invariants import Bounds
from simulations.invariants.known_faults import STICKY
from simulations.proof.fuzzing.brokers import with_brokers
from simulations.proof.fuzzing.documents import Document, MemberDocument, TopicDocument
from simulations.proof.fuzzing.groups import INITIAL_DELAYS_MS, POLICIES, ClassicMembers, Groups
from simulations.proof.fuzzing.presets import LAGS_MS, PRESETS, SHARES, Preset
from simulations.proof.fuzzing.quiescence import (
    least_rebalance_timeout_ms,
    least_session_timeout_ms,
    quiescence_ms,
    rounds_ms,
    times_of,
)
from simulations.proof.fuzzing.script import EXPRESSIONS, GROUP, GROUP_CONFIGS_MS, draw_script
from simulations.world.engine.checked_run import REQUEST_TIMEOUT_MS
from simulations.world.engine.network import HELD_UP
from simulations.world.scenario import Scenario, load
from simulations.world.scenario.classic_members import CONSUMER
from simulations.world.scenario.client_assignors import BROUGHT, CLIENT

MEMBERS: Final = "ABCDEF"
TOPICS: Final = ("foo", "bar", "baz")
PARTITIONS_MAX: Final = 12
RACKS: Final = ("a", "b", "c")

SESSION_TIMEOUTS_MS: Final = (2_500, 3_500, 5_000)
HEARTBEAT_INTERVALS_MS: Final = (500, 1_000, 1_000, 1_600)
ASSIGNMENT_INTERVALS_MS: Final = (0, 0, 0, 400, 1_500)
ASSIGNOR_TIMES_MS: Final = (0, 0, 0, 200, 1_200)
REBALANCE_TIMEOUTS_MS: Final = (1_200, 2_000, 4_000)
CALLBACKS_MS: Final = (0, 20, 20, 20, 300, 900)
DELAYS_MS: Final = ((0, 0), (1, 5), (1, 5), (10, 120), (50, 700))
"""Short times, in which a run holds many heartbeats: only how they stand to each other counts.

Timeouts are raised to what lets the group come to rest (``quiescence``). Scripts make members slower than that for a
while, and quick again.
"""

FULL_SHARE: Final = 0.2
"""Of classic groups, those that have less room than members."""

RATED_SHARE: Final = 0.2
"""Of runs, those whose topics get records: their members commit where they stand."""

DENIED_SHARE: Final = 0.1
"""Of runs, those in which a member may not read a topic: its commits are refused in part."""

BROUGHT_SHARE: Final = 0.25
"""Of runs by the proposal, those whose members bring client-side assignors."""

RATES: Final = (1, 7, 1_000)
"""Records a second of a partition."""

LEAST_SHARE: Final = 0.25
"""Of classic groups, those at whose broker no member may have a shorter session timeout than the shortest that is drawn."""


def scenario_of(
    seed: int,
    semantics: Semantics | str,
    presets: Sequence[str] = PRESETS,
    groups: str = Groups.CONSUMER,
    release: Release = NEWEST,
) -> Scenario:
    """The scenario of a seed, checked as a scenario file is."""
    name = f"fuzz-{semantics}-{seed}" if groups == Groups.CONSUMER else f"fuzz-{groups}-{seed}"
    return load(text_of(document_of(seed, semantics, presets, groups, release)), name)


def text_of(document: Document) -> str:
    """As a scenario's text; JSON is YAML, and is read faster."""
    return json.dumps(document)


def document_of(
    seed: int,
    semantics: Semantics | str,
    presets: Sequence[str] = PRESETS,
    groups: str = Groups.CONSUMER,
    release: Release = NEWEST,
) -> Document:
    """The scenario as a mapping in the form of a scenario file. ``presets``: how rough it may be, one is drawn.

    ``release``: what its brokers run, all of them unless they are rolled; it changes nothing else that is drawn.
    """
    rules, kind = Semantics(semantics), Groups(groups)
    stream = f"fuzz {rules} {seed}" if kind is Groups.CONSUMER else f"fuzz {kind} {seed}"
    random = Random(stream)
    named = preset = Preset(random.choice(tuple(presets)))
    if named is Preset.ROLLING:
        # The seed's usual run, and brokers' steps in it.
        random = Random(stream)
        preset = Preset(random.choice(PRESETS))
    racks = random.random() < 0.2
    topics = _topics(random, racks=racks)
    delay_ms = list(random.choice(DELAYS_MS if preset is Preset.CALM else DELAYS_MS[:-1]))
    interval_ms = random.choice(HEARTBEAT_INTERVALS_MS)
    session_ms = random.choice(SESSION_TIMEOUTS_MS)
    config: dict[str, int | str] = {"session_timeout_ms": session_ms, "heartbeat_interval_ms": interval_ms}
    for key, values in GROUP_CONFIGS_MS.items():
        config[f"min_{key}"], config[f"max_{key}"] = min(*values, interval_ms), max(*values, 5_000)
    members = _members(random, tuple(topics), racks=racks)
    classic = None if kind is Groups.CONSUMER else _of_classic(random, kind, config, members)
    if rules is Semantics.KAFKA:
        config["assignment_interval_ms"] = random.choice(ASSIGNMENT_INTERVALS_MS)
    else:
        config["assignor_time_ms"] = random.choice(ASSIGNOR_TIMES_MS)
    if len(members) > 2 and random.random() < 0.1:
        config["max_size"] = len(members) - 1
    drawn = draw_script(random, preset, topics, members, classic, kind)
    begins_with = release
    if named is Preset.ROLLING:
        drawn, begins_with, config["group_version"] = with_brokers(
            Random(f"brokers of {rules} {kind} {seed}"), drawn, kind, release
        )
    _rate(Random(f"rates of {rules} {kind} {seed}"), topics)
    document: Document = {
        "title": f"Drawn from seed {seed}, {preset}{', rolling' if named is Preset.ROLLING else ''}",
        "group": GROUP,
        "semantics": str(rules),
        "assignor": random.choice(("uniform", "uniform", "range")),
        "topics": topics,
        "config": config,
        "members": members,
        "network": {"delay_ms": delay_ms, **_troubles(random, preset)},
        "replication_ms": random.choice(LAGS_MS[preset]),
        "metadata_delay_ms": random.choice(LAGS_MS[preset]),
        "script": drawn.script,
        "seed": seed,
    }
    if named is Preset.ROLLING or release is not NEWEST:
        document["brokers"] = str(begins_with)
    _deny(Random(f"rights of {rules} {kind} {seed}"), document)
    if rules is Semantics.KIP:
        _bring(Random(f"assignors of {kind} {seed}"), document)
    travel_ms = delay_ms[1] + document["replication_ms"]
    session_ms = max(session_ms, least_session_timeout_ms(interval_ms, travel_ms))
    config["session_timeout_ms"] = session_ms
    # A bounce may set a member's own heartbeats to any of those that are drawn.
    slowest_ms = interval_ms if classic is None else max(interval_ms, *HEARTBEAT_INTERVALS_MS)
    for member in members.values():
        least_ms = least_rebalance_timeout_ms(member["callback_ms"], slowest_ms, travel_ms)
        member["rebalance_timeout_ms"] = max(member["rebalance_timeout_ms"], least_ms)
        if "session_timeout_ms" in member:
            least_ms = least_session_timeout_ms(member["heartbeat_interval_ms"], travel_ms)
            member["session_timeout_ms"] = max(member["session_timeout_ms"], least_ms)
    if classic is not None and random.random() < LEAST_SHARE:
        known = [*members.values(), *drawn.changes]
        config["classic_min_session_timeout_ms"] = min(
            (each["session_timeout_ms"] for each in known if "session_timeout_ms" in each), default=1
        )
    bounds = Bounds(
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=interval_ms,
        assignment_interval_ms=5_000,
        travel_ms=2 * HELD_UP * (delay_ms[1] + 1),
        settle_ms=1_000,
        metadata_ms=1_000,
        retry_ms=REQUEST_TIMEOUT_MS,
    )
    longest_ms = max(member["rebalance_timeout_ms"] for member in members.values())
    quiet_ms = quiescence_ms(bounds, longest_ms)
    if classic is not None:
        known = [*members.values(), *drawn.changes]
        quiet_ms += rounds_ms(bounds, longest_ms, map(times_of, known))
    document["until"] = f"{drawn.last_ms + quiet_ms}ms"
    return document


def _of_classic(
    random: Random, kind: Groups, config: dict[str, int | str], members: dict[str, MemberDocument]
) -> ClassicMembers:
    """Makes all members, or some, members of the classic protocol."""
    config["classic_min_session_timeout_ms"] = 1
    config["initial_rebalance_delay_ms"] = random.choice(INITIAL_DELAYS_MS)
    if len(members) > 2 and random.random() < FULL_SHARE:
        config["classic_max_size"] = random.randint(1, len(members) - 1)
    if kind is Groups.MIXED:
        config["migration_policy"] = random.choice(POLICIES)
    classic = ClassicMembers(random)
    for name, member in members.items():
        if kind is Groups.CLASSIC or random.random() < 0.6:
            member.pop("assignor", None)
            members[name] = {**member, **classic.settings()}
            members[name] |= classic.rolled(member)
    if classic.alike:
        topics = sorted({topic for member in members.values() for topic in member.get("subscribe", ("foo",))})
        for member in members.values():
            member.pop("regex", None)
            member["subscribe"] = topics
    return classic


def _topics(random: Random, *, racks: bool) -> dict[str, TopicDocument]:
    topics: dict[str, TopicDocument] = {}
    for name in TOPICS[: random.choice((1, 1, 2, 2, 3))]:
        count = random.choice((1, 2, 3, 3, 4, 6, PARTITIONS_MAX))
        topics[name] = {"partitions": count}
        if racks:
            topics[name]["racks"] = {str(number): random.sample(RACKS, 2) for number in range(count)}
    return topics


def _rate(random: Random, topics: dict[str, TopicDocument]) -> None:
    """Some topics are written to. Its chances are its own, so that all else of a seed is drawn as without it."""
    if random.random() < RATED_SHARE:
        for topic in topics.values():
            topic["rate"] = random.choice(RATES)


def _deny(random: Random, document: Document) -> None:
    """Some member lacks READ on some topic. Its chances are its own, as those of rates."""
    if random.random() < DENIED_SHARE:
        member, topic = random.choice(sorted(document["members"])), random.choice(sorted(document["topics"]))
        document["deny"] = [{"member": member, "operation": "read", "topic": topic}]


def _bring(random: Random, document: Document) -> None:
    """The members' own assignors compute; a member that still names one of the coordinator's brings none. As with rates."""
    if random.random() >= BROUGHT_SHARE:
        return
    name = random.choice(BROUGHT)
    known = [*document["members"].values(), *document["script"]]
    if name in STICKY and any("regex" in each for each in known):
        # Such an expression may match nothing, and these give its member what it does not subscribe to (``known_faults``).
        name = "range"
    document["assignor"] = CLIENT + name
    for line in document["script"]:
        if line.get("with") == {"protocol": CONSUMER} and random.random() < 0.9:
            line["with"] = {"protocol": CONSUMER, "assignors": [name]}
    for member in document["members"].values():
        if random.random() < 0.9:
            member.pop("assignor", None)


def _members(random: Random, topics: Sequence[str], *, racks: bool) -> dict[str, MemberDocument]:
    names = MEMBERS[: random.choice((1, 2, 2, 3, 3, 4, 5, 6))]
    members: dict[str, MemberDocument] = {}
    instances = random.random() < 0.5
    for name in names:
        known: MemberDocument = {"subscribe": subscription(random, topics)}
        if random.random() < 0.15:
            known = {"regex": random.choice(EXPRESSIONS)}
        member: MemberDocument = {
            **known,
            "rebalance_timeout_ms": random.choice(REBALANCE_TIMEOUTS_MS),
            "callback_ms": random.choice(CALLBACKS_MS),
        }
        if instances and random.random() < 0.7:
            # Few instances for many members: some are claimed twice.
            member["instance_id"] = f"i{random.randrange(2)}"
        if racks:
            member["rack_id"] = random.choice(RACKS)
        if random.random() < 0.2:
            member |= {"auto_commit": True, "auto_commit_interval_ms": 700}
        if random.random() < 0.2:
            member["assignor"] = random.choice(("uniform", "range"))
        members[name] = member
    return members


def _troubles(random: Random, preset: Preset) -> dict[str, float]:
    shares = {share: random.choice(SHARES[preset]) for share in ("loss", "duplicate", "reorder")}
    return {share: value for share, value in shares.items() if value}


def subscription(random: Random, topics: Sequence[str]) -> list[str]:
    """Mostly all topics: members of one group seldom differ."""
    if random.random() < 0.6:
        return list(topics)
    return random.sample(list(topics), random.randint(1, len(topics)))
