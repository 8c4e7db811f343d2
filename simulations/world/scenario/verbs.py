"""The script's grammar: what each verb is said of, what it needs besides, and how a line becomes actions.

A line is ``{at: 12s, VERB: who}`` with the verb's own keys; ``FORMS`` has a sentence for each verb.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from groups.history.state.group import Semantics
from groups.releases import GROUP_VERSION
from groups.wire.codecs.values import Fields
from simulations.protocol.coordinator.settings import Settings
from simulations.world.scenario.access import Resource, read_operation
from simulations.world.scenario.actions import COORDINATOR, EVERYTHING, Action, How, Verb
from simulations.world.scenario.brokers import DOWN_MS, apart_after_ms, read_level, read_release, rolled
from simulations.world.scenario.classic_members import read_changes
from simulations.world.scenario.client_assignors import read_lags, read_reason
from simulations.world.scenario.config import GROUP_VERSION_MAX, read_group_config
from simulations.world.scenario.network import NETWORK_KEYS, read_rates
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.request_reading import read_request
from simulations.world.scenario.topics import (
    compiles,
    read_name,
    read_racks,
    read_rate,
    read_regex,
    read_topic_id,
)
from simulations.world.scenario.values import OFFSET_MAX, PARTITIONS_MAX, UNTIL_MAX_MS, Member

LOST_MAX: Final = 1_000
"""Batches at the end of a log that had not reached a replica: more than a second of any group's writing."""


class Who(StrEnum):
    """What a verb is said of."""

    MEMBER = "member"
    TOPIC = "topic"
    NEW_TOPIC = "new topic"
    COORDINATOR = "coordinator"
    ENDS = "ends"
    CLOCK = "clock"
    GROUP = "group"
    SETTINGS = "settings"
    NETWORK = "network"
    FEATURE = "feature"
    BROKERS = "brokers"


@dataclass(frozen=True, slots=True)
class Form:
    """``sentence``: what happens. ``needs`` must stand in the line, ``takes`` may; of ``one_of`` exactly one must."""

    sentence: str
    who: Who = field(default=Who.MEMBER, kw_only=True)
    needs: tuple[str, ...] = field(default=(), kw_only=True)
    takes: tuple[str, ...] = field(default=(), kw_only=True)
    one_of: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.needs, *self.one_of, *self.takes)


FORMS: Final[Mapping[Verb, Form]] = {
    Verb.JOIN: Form("its process starts; one that was killed or has closed is followed by A~2"),
    Verb.LEAVE: Form("sends a leave; a static member may return (epoch −2)", takes=("how",)),
    Verb.KILL: Form("its process is gone without a word"),
    Verb.PAUSE: Form("its process is paused"),
    Verb.RESUME: Form("its process is resumed"),
    Verb.RESTART: Form("ends the process that runs, and starts the next"),
    Verb.BOUNCE: Form(
        "it closes, and starts again for: 2s later, perhaps with: {assignors: [cooperative-sticky]}",
        takes=("with", "for"),
    ),
    Verb.ENFORCE_REBALANCE: Form(
        "the application of a classic member asks for a rebalance, with its reason", takes=("reason",)
    ),
    Verb.HEARTBEAT: Form("it sends a heartbeat at once"),
    Verb.COMMIT: Form("it commits offset: 42 for each partition that it owns", takes=("offset",)),
    Verb.COMMIT_IN_TRANSACTION: Form("its producer commits its offsets in a transaction", takes=("offset",)),
    Verb.END_TRANSACTION: Form("its producer ends the transaction; how: commit or abort", takes=("how",)),
    Verb.SLOW_REVOKE: Form("revoking partitions takes so long from here on, for: 1.5s", needs=("for",)),
    Verb.POLL_LATE: Form("its application works for so long and does not poll, for: 90s", needs=("for",)),
    Verb.FAIL_CALLBACK: Form("its next rebalance callback throws"),
    Verb.SUBSCRIBE: Form(
        "from here on it reads topics: [foo, bar], or regex: foo.*", one_of=("topics", "regex")
    ),
    Verb.REPORT: Form(
        "with the assignor streams it asks for another assignment, reason: caught_up",
        needs=("reason",),
        takes=("lags",),
    ),
    Verb.ADD_PARTITIONS: Form(
        "the topic grows; to: 4 is its new number of partitions", who=Who.TOPIC, needs=("to",)
    ),
    Verb.CREATE_TOPIC: Form(
        "there is a new topic with partitions: 3",
        who=Who.NEW_TOPIC,
        needs=("partitions",),
        takes=("racks", "id", "rate"),
    ),
    Verb.DELETE_TOPIC: Form("it is gone; it comes back under another id", who=Who.TOPIC),
    Verb.FAIL_OVER: Form(
        "another broker takes the group over and reads the log, loading: 3s",
        who=Who.COORDINATOR,
        takes=("how", "lost", "loading", "from"),
    ),
    Verb.CUT: Form(
        "no message passes to or from a member, the coordinator, or between a pair such as [A, coordinator]",
        who=Who.ENDS,
    ),
    Verb.HEAL: Form("messages pass again; heal: everything mends all", who=Who.ENDS),
    Verb.NETWORK: Form("how messages fare from here on: {loss: 0.2}", who=Who.NETWORK),
    Verb.CLOCK_JUMP: Form(
        "the clock of a member or of the coordinator is set, by: -5s", who=Who.CLOCK, needs=("by",)
    ),
    Verb.SET_CONFIG: Form("the group's own settings: {session_timeout_ms: 50000}", who=Who.SETTINGS),
    Verb.DELETE_GROUP: Form("the group is deleted if it is empty", who=Who.GROUP),
    Verb.EXPIRE_OFFSETS: Form("offsets of the group past their retention go", who=Who.GROUP),
    Verb.SEND: Form(
        "a request in its name that no client makes: request: OffsetCommit, perhaps with version and fields",
        needs=("request",),
        takes=("version", "fields"),
    ),
    Verb.DENY: Form(
        "an ACL takes operation: read or describe, with group or topic, from the member",
        needs=("operation",),
        one_of=("group", "topic"),
    ),
    Verb.ALLOW: Form("an ACL gives the right back", needs=("operation",), one_of=("group", "topic")),
    Verb.UPGRADE_FEATURE: Form(
        "the level that all brokers follow from here on: {group.version: 1}", who=Who.FEATURE
    ),
    Verb.DOWNGRADE_FEATURE: Form("the level is lowered", who=Who.FEATURE),
    Verb.ROLL: Form(
        "brokers, or one of them: one after the other is stopped and started again, release: 4.4",
        who=Who.BROKERS,
        takes=("release", "for", "loading"),
    ),
}
"""Each verb, its sentence, and what it needs."""

_EVERY_KEY: Final = tuple(dict.fromkeys(key for form in FORMS.values() for key in form.keys))

_READ_TOGETHER: Final = frozenset({"with", "request", "version", "fields"})
"""Keys of which none can be read without more of the line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a line may name: ``topics`` also those that some line creates."""

    group: str
    members: Mapping[str, Member]
    topics: Collection[str]
    settings: Settings
    """The broker's, which bound those of the group."""
    semantics: Semantics


def read_line(line: Node, names: Names) -> list[Action]:
    """The actions of one line: one for each ``who`` of a list."""
    found = line.mapping()
    if "at" not in found:
        raise line.wrong("a line of the script needs at, such as at: 12s")
    named = [key for key in found if key in FORMS]
    if not named:
        # Whatever is neither a verb nor of one was meant to be the verb.
        line.mapping(("at", *_EVERY_KEY, *FORMS))
        raise line.wrong(f"a line of the script needs a verb; there are {', '.join(FORMS)}")
    if len(named) > 1:
        raise line.wrong(f"one verb a line, this has {' and '.join(named)}")
    verb = Verb(named[0])
    form = FORMS[verb]
    found = line.mapping(("at", verb, *form.keys), needs=form.needs, what=verb)
    if form.one_of and sum(key in found for key in form.one_of) != 1:
        raise line.wrong(f"{verb} needs {' or '.join(form.one_of)}, and only one of them")
    at_ms = found["at"].duration_ms(UNTIL_MAX_MS)
    extras: Fields = {}
    for key in form.keys:
        if key in found and key not in _READ_TOGETHER:
            extras |= _EXTRAS[key](found[key], verb, names)
    if verb is Verb.SEND:
        extras["request"] = read_request(found, names.semantics, names.group, names.topics)
    apart_ms = 0
    if verb is Verb.ROLL:
        # One broker after the other: the next one stops when the last one has been back for a while.
        apart_ms = apart_after_ms(extras.setdefault("length_ms", DOWN_MS))
    named_there = _said_of(found[verb], form.who, names)
    if "regex" in found and any(names.members[who].classic is not None for who, _ in named_there):
        compiles(found["regex"])
    return [
        Action(
            at_ms=at_ms + place * apart_ms,
            verb=verb,
            who=who,
            **{**extras, **more, **_changed(found.get("with"), who, names)},
        )
        for place, (who, more) in enumerate(named_there)
    ]


def _changed(node: Node | None, who: str, names: Names) -> Fields:
    """What ``with`` changes of this member."""
    if node is None:
        return {}
    member = names.members[who]
    return {"changes": read_changes(node, member.classic, static=member.instance_id is not None)}


def _said_of(node: Node, who: Who, names: Names) -> list[tuple[str, Fields]]:
    """Each ``who`` with what its name contains in addition."""
    match who:
        case Who.SETTINGS:
            return [(names.group, {"config": read_group_config(node, names.settings)})]
        case Who.NETWORK:
            rates = read_rates(node)
            if not rates:
                raise node.wrong(f"network sets {', '.join(NETWORK_KEYS)}")
            return [(EVERYTHING, {"rates": rates})]
        case Who.ENDS:
            return [_ends(node, names)]
        case Who.FEATURE:
            return [(GROUP_VERSION, {"level": read_level(node, GROUP_VERSION_MAX)})]
        case Who.BROKERS:
            return [(name, {}) for name in rolled(node)]
        case Who.COORDINATOR:
            return [(node.choice((COORDINATOR,), "broker"), {})]
        case Who.GROUP:
            return [(node.choice((names.group,), "group"), {})]
        case Who.NEW_TOPIC:
            return [(read_name(item, "a topic"), {}) for item in node.each()]
        case Who.TOPIC:
            return [(item.choice(tuple(names.topics), "topic"), {}) for item in node.each()]
        case Who.CLOCK:
            return [(item.choice((*names.members, COORDINATOR), "clock"), {}) for item in node.each()]
        case Who.MEMBER:
            return [(item.choice(tuple(names.members), "member"), {}) for item in node.each()]


def _ends(node: Node, names: Names) -> tuple[str, Fields]:
    """``A``: whatever broker is the coordinator. ``[A, coordinator]``: the broker that is it now."""
    if node.kind != "a list":
        return node.choice((*names.members, COORDINATOR, EVERYTHING), "end"), {}
    ends = node.items()
    if len(ends) != 2:
        raise node.wrong(f"expected two ends, such as [A, {COORDINATOR}]")
    member = ends[0].choice(tuple(names.members), "member")
    return member, {"peer": ends[1].choice((COORDINATOR,), "end")}


def _length(most: int, *, signed: bool = False) -> Callable[[Node, Verb, Names], Fields]:
    return lambda node, verb, names: {"length_ms": node.duration_ms(most, signed=signed)}


def _topics(node: Node, verb: Verb, names: Names) -> Fields:
    return {"topics": tuple(topic.choice(tuple(names.topics), "topic") for topic in node.items())}


def _how(node: Node, verb: Verb, names: Names) -> Fields:
    return {"how": How(node.choice(WAYS[verb], "way"))}


def _partitions(node: Node, verb: Verb, names: Names) -> Fields:
    return {"partitions": node.integer(1, PARTITIONS_MAX)}


WAYS: Final = {
    Verb.FAIL_OVER: (How.CRASH, How.MOVE),
    Verb.END_TRANSACTION: (How.COMMIT, How.ABORT),
    Verb.LEAVE: (How.DEFAULT, How.LEAVE, How.REMAIN),
}

_EXTRAS: Final[Mapping[str, Callable[[Node, Verb, Names], Fields]]] = {
    "offset": lambda node, verb, names: {"offset": node.integer(0, OFFSET_MAX)},
    "for": _length(UNTIL_MAX_MS),
    "loading": lambda node, verb, names: {"loading_ms": node.duration_ms(UNTIL_MAX_MS)},
    "release": lambda node, verb, names: {"release": read_release(node)},
    "by": _length(UNTIL_MAX_MS, signed=True),
    "topics": _topics,
    "regex": lambda node, verb, names: {"regex": read_regex(node)},
    "reason": lambda node, verb, names: (
        {"reason": read_reason(node)} if verb is Verb.REPORT else {"reason_text": node.text()}
    ),
    "lags": lambda node, verb, names: {"lags": read_lags(node)},
    "to": _partitions,
    "partitions": _partitions,
    "racks": lambda node, verb, names: {"racks": read_racks(node)},
    "id": lambda node, verb, names: {"topic_id": read_topic_id(node)},
    "rate": lambda node, verb, names: {"rate": read_rate(node)},
    "how": _how,
    "lost": lambda node, verb, names: {"lost": node.integer(0, LOST_MAX)},
    "operation": lambda node, verb, names: {"operation": read_operation(node)},
    "group": lambda node, verb, names: {"resource": (Resource.GROUP, node.choice((names.group,), "group"))},
    "topic": lambda node, verb, names: {
        "resource": (Resource.TOPIC, node.choice(tuple(names.topics), "topic"))
    },
    "from": lambda node, verb, names: {"compacted": node.choice(("log", "compacted"), "log") == "compacted"},
}
