"""The script's grammar: what each verb is said of, what it needs besides, and how a line becomes actions.

A line is ``{at: 12s, VERB: who}`` with the verb's own keys:

================  ===================  =====================================================================
join, restart     a member             a process that was killed comes back with the id ``A~2``, and so does a static
                                       member's that has closed; ``restart`` closes a static member's first and kills
                                       any other
bounce            a member             ``with``, ``for``: it closes, and a new process starts, so much later, set to what
                                       ``with`` contains
enforce_rebalance a classic member     ``reason``: its application asks for a rebalance
leave             a member             ``how``: it leaves by a request, for good or, a static one, for now
kill              a member             its process is gone without a word
pause, resume     a member             its process does not move and goes on
heartbeat         a member             it sends a heartbeat at once
commit            a member             ``offset``: it commits this offset for each partition that it owns
commit_in_        a member             ``offset``: its producer commits them in its transaction, which begins with the first
transaction
end_transaction   a member             ``how``: the transaction of its producer is committed, or aborted
slow_revoke       a member             ``for``: from here on its ``on_partitions_revoked`` takes so long
poll_late         a member             ``for``: its application does not poll for so long
fail_callback     a member             its next rebalance callback raises
subscribe         a member             ``topics`` or ``regex``
report            a member             ``reason``, ``lags``: its assignor ``streams`` reports to the member that computes
add_partitions    a topic              ``to``: its new number of partitions
create_topic      a name               ``partitions``, ``racks``, ``id``, ``rate``
delete_topic      a topic
fail_over         ``coordinator``      ``how``, ``lost``, ``loading``, ``from``: another broker takes the group over
cut, heal         who or a pair        no message passes any more; messages pass again
network           a mapping            the network is so from here on
clock_jump        who                  ``by``: its clock goes forwards or backwards
set_config        a mapping            the group's own settings
delete_group      the group            it is deleted, if it is empty
expire_offsets    the group            the broker looks for offsets past their retention
send              a member             ``request``, ``version``, ``fields``: a request in its name that no client of it makes
deny, allow       a member             ``operation`` with ``group`` or ``topic``: its principal may not do that, or may again
upgrade_feature   a mapping            the level of ``group.version`` is raised; ``downgrade_feature`` lowers it
roll              a broker, or more    ``release``, ``for``, ``loading``: one by one they go down and come back with this release
================  ===================  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """``needs`` must stand in the line, ``takes`` may; of ``one_of`` exactly one must."""

    who: Who = Who.MEMBER
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.needs, *self.one_of, *self.takes)


FORMS: Final[Mapping[Verb, Form]] = {
    Verb.JOIN: Form(),
    Verb.LEAVE: Form(takes=("how",)),
    Verb.KILL: Form(),
    Verb.PAUSE: Form(),
    Verb.RESUME: Form(),
    Verb.RESTART: Form(),
    Verb.BOUNCE: Form(takes=("with", "for")),
    Verb.ENFORCE_REBALANCE: Form(takes=("reason",)),
    Verb.HEARTBEAT: Form(),
    Verb.COMMIT: Form(takes=("offset",)),
    Verb.COMMIT_IN_TRANSACTION: Form(takes=("offset",)),
    Verb.END_TRANSACTION: Form(takes=("how",)),
    Verb.SLOW_REVOKE: Form(needs=("for",)),
    Verb.POLL_LATE: Form(needs=("for",)),
    Verb.FAIL_CALLBACK: Form(),
    Verb.SUBSCRIBE: Form(one_of=("topics", "regex")),
    Verb.REPORT: Form(needs=("reason",), takes=("lags",)),
    Verb.ADD_PARTITIONS: Form(who=Who.TOPIC, needs=("to",)),
    Verb.CREATE_TOPIC: Form(who=Who.NEW_TOPIC, needs=("partitions",), takes=("racks", "id", "rate")),
    Verb.DELETE_TOPIC: Form(who=Who.TOPIC),
    Verb.FAIL_OVER: Form(who=Who.COORDINATOR, takes=("how", "lost", "loading", "from")),
    Verb.CUT: Form(who=Who.ENDS),
    Verb.HEAL: Form(who=Who.ENDS),
    Verb.NETWORK: Form(who=Who.NETWORK),
    Verb.CLOCK_JUMP: Form(who=Who.CLOCK, needs=("by",)),
    Verb.SET_CONFIG: Form(who=Who.SETTINGS),
    Verb.DELETE_GROUP: Form(who=Who.GROUP),
    Verb.EXPIRE_OFFSETS: Form(who=Who.GROUP),
    Verb.SEND: Form(needs=("request",), takes=("version", "fields")),
    Verb.DENY: Form(needs=("operation",), one_of=("group", "topic")),
    Verb.ALLOW: Form(needs=("operation",), one_of=("group", "topic")),
    Verb.UPGRADE_FEATURE: Form(who=Who.FEATURE),
    Verb.DOWNGRADE_FEATURE: Form(who=Who.FEATURE),
    Verb.ROLL: Form(who=Who.BROKERS, takes=("release", "for", "loading")),
}
"""Each verb, and what it needs."""

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
    return {"how": How(node.choice(_WAYS[verb], "way"))}


def _partitions(node: Node, verb: Verb, names: Names) -> Fields:
    return {"partitions": node.integer(1, PARTITIONS_MAX)}


_WAYS: Final = {
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
