"""Draws a script line by line: only what can be done at its time, and all that does not move goes on at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple, cast

from simulations.proof.fuzzing.documents import Line, MemberDocument, TopicDocument
from simulations.proof.fuzzing.groups import ClassicMembers, Groups
from simulations.proof.fuzzing.presets import ACTIONS_MOST, GAPS_MS, SHARES, THEME_SHARE, Preset, weights_of
from simulations.proof.fuzzing.themes import ROUGH, THEMES
from simulations.world.scenario import Verb
from simulations.world.scenario.actions import COORDINATOR, EVERYTHING
from simulations.world.scenario.classic_members import CHANGE_KEYS
from simulations.world.scenario.order import ALLOWED, AWAY, DEAD, LEADS_TO, PAUSED, RUNNING

SLOW_MS: Final = (0, 300, 1_500, 5_000)
"""Callbacks after ``slow_revoke``: quick again, slow, and beyond the shorter rebalance timeouts."""

FIRST_JOINS_MS: Final = (0, 0, 1, 400)
"""Between the first joins."""

SLOWLY_MS: Final = (200, 500, 900)
"""The same of some classic groups, whose first join phase is lengthened by each of them."""

SLOWLY_SHARE: Final = 0.3

LATE_MS: Final = (200, 1_500, 5_000)
"""How long an application does not poll."""

LOADING_MS: Final = (0, 0, 50, 700)
"""Until a new coordinator has read the log."""

CLOCK_JUMPS: Final = ("-30s", "-700ms", "300ms", "20s")

EXPRESSIONS: Final = ("ba.", "foo|qux", ".*", "q.x", "nothing")
"""Regular expressions over the topics that there are, that come, and that never do."""

CREATED: Final = "qux"
"""A topic that is not there in the beginning."""

GROUP: Final = "orders"

GROUP_CONFIGS_MS: Final[Mapping[str, tuple[int, ...]]] = {
    "assignment_interval_ms": (0, 300, 2_000),
    "heartbeat_interval_ms": (400, 1_100),
}
"""What a group sets for itself; the broker's bounds are widened to them (``generator``)."""

_NEEDS: Final = {**ALLOWED, Verb.SLOW_REVOKE: (RUNNING,), Verb.FAIL_CALLBACK: (RUNNING,)}
"""In which states a process does it: what is set ahead of its start would show in few runs."""


class Drawn(NamedTuple):
    """A script; ``changes`` are what its bounces set otherwise."""

    script: list[Line]
    last_ms: int
    changes: list[MemberDocument]


@dataclass(slots=True, kw_only=True)
class DrawnScript:
    """What the script has done so far, as far as the next line depends on it."""

    random: Random
    preset: Preset
    topics: list[str]
    partitions: dict[str, int]
    states: dict[str, str]
    most: dict[str, int] = field(default_factory=dict)
    """Of topics that were deleted, how many partitions they had."""
    slow: dict[str, None] = field(default_factory=dict)
    cuts: dict[tuple[str, ...], None] = field(default_factory=dict)
    config: dict[str, int] = field(default_factory=dict)
    now_ms: int = 0
    lines: list[Line] = field(default_factory=list)
    changes: list[MemberDocument] = field(default_factory=list)
    members: dict[str, MemberDocument] = field(default_factory=dict)
    """What the process of each that starts next is set to, where some are of the classic protocol."""
    classic: ClassicMembers | None = None
    groups: Groups = Groups.CONSUMER

    def write(self, verb: Verb, who: object, **more: object) -> None:
        self.lines.append({"at": f"{self.now_ms}ms", str(verb): who, **more})

    def possible(self, verb: Verb) -> bool:
        match verb:
            case Verb.CREATE_TOPIC:
                return len(self.partitions) < len(self.topics)
            case Verb.ADD_PARTITIONS:
                return bool(self.partitions)
            case Verb.DELETE_TOPIC:
                return len(self.partitions) > 1
            case Verb.HEAL:
                return bool(self.cuts)
        return verb in _OTHERS or bool(self.able(verb))

    def able(self, verb: Verb) -> list[str]:
        if verb is Verb.SUBSCRIBE and self.classic is not None and self.classic.alike:
            return []
        able = [name for name, state in self.states.items() if state in _NEEDS[verb]]
        if verb is Verb.ENFORCE_REBALANCE:
            return [name for name in able if self.is_classic(name)]
        return able

    def is_classic(self, name: str) -> bool:
        return self.members[name].get("protocol") == "classic"

    def is_static(self, name: str) -> bool:
        return "instance_id" in self.members[name]

    def act(self, verb: Verb, who: str) -> None:
        _act(self, verb, who)

    def fails_over(self) -> None:
        _fail_over(self)


def draw_script(
    random: Random,
    preset: Preset,
    topics: Mapping[str, TopicDocument],
    members: Mapping[str, MemberDocument],
    classic: ClassicMembers | None = None,
    groups: Groups = Groups.CONSUMER,
) -> Drawn:
    """The lines, the time of the last one, and what is set in them."""
    world = DrawnScript(
        random=random,
        preset=preset,
        topics=[*topics, CREATED],
        partitions={name: known["partitions"] for name, known in topics.items()},
        states=dict.fromkeys(members, AWAY),
        members=dict(members),
        classic=classic,
        groups=groups,
    )
    first = random.randint(1, len(members))
    slowly = classic is not None and random.random() < SLOWLY_SHARE
    for name in random.sample(list(members), first):
        _act(world, Verb.JOIN, name)
        world.now_ms += random.choice(SLOWLY_MS if slowly else FIRST_JOINS_MS)
    weights = weights_of(preset, classic=classic is not None)
    themes = [theme for theme in THEMES if preset is not Preset.CALM or theme not in ROUGH]
    for _ in range(random.randint(1, ACTIONS_MOST[preset])):
        world.now_ms += random.choice(GAPS_MS[preset])
        if classic is not None and random.random() < THEME_SHARE:
            random.choice(themes)(world)
            continue
        possible = [verb for verb in weights if world.possible(verb)]
        verb = random.choices(possible, [weights[verb] for verb in possible])[0]
        if verb in _OTHERS:
            _OTHERS[verb](world)
        else:
            _act(world, verb, random.choice(world.able(verb)))
    _heal(world)
    return Drawn(world.lines, world.now_ms, world.changes)


def _act(world: DrawnScript, verb: Verb, who: str, *, for_ms: int | None = None) -> None:
    more: Line = {}
    match verb:
        case Verb.SLOW_REVOKE:
            more["for"] = f"{world.random.choice(SLOW_MS) if for_ms is None else for_ms}ms"
            world.slow[who] = None
        case Verb.POLL_LATE:
            more["for"] = f"{world.random.choice(LATE_MS)}ms"
        case Verb.BOUNCE:
            more |= _bounced(world, who)
        case Verb.LEAVE if world.random.random() < 0.3:
            more["how"] = world.random.choice(("default", "leave", "remain"))
        case Verb.SUBSCRIBE:
            if world.random.random() < 0.3:
                more["regex"] = world.random.choice(EXPRESSIONS)
            else:
                topics = list(world.partitions)
                more["topics"] = world.random.sample(topics, world.random.randint(1, len(topics)))
    world.write(verb, who, **more)
    world.states[who] = LEADS_TO.get(verb, world.states[who])


def _bounced(world: DrawnScript, who: str) -> Line:
    """What the new process is set to: the other protocol, another release, other assignors, or nothing else."""
    random, classic = world.random, world.classic
    assert classic is not None
    more: Line = {"for": f"{random.choice((0, 1, 300, 2_000))}ms"}
    changes: MemberDocument = {}
    if world.groups is Groups.MIXED and random.random() < 0.7:
        if world.is_classic(who):
            changes = {"protocol": "consumer"}
            world.members[who] = _part(world.members[who], ("instance_id", "regex", "subscribe"))
        else:
            changes = {**classic.settings(), **classic.rolled(world.members[who])}
            world.members[who] = {**world.members[who], **changes}
    elif world.is_classic(who) and random.random() < 0.6:
        changes = {**_part(world.members[who], CHANGE_KEYS), **classic.rolled(world.members[who])}
        world.members[who] = {**world.members[who], **changes}
    if changes:
        more["with"] = changes
        world.changes.append(changes)
    return more


def _part(member: MemberDocument, keys: Collection[str]) -> MemberDocument:
    """Some fields of a member: it is one, too, since none of them is required."""
    return cast(MemberDocument, {key: value for key, value in member.items() if key in keys})


def _add_partitions(world: DrawnScript) -> None:
    topic = world.random.choice(list(world.partitions))
    world.partitions[topic] += world.random.choice((1, 1, 2, 4))
    world.write(Verb.ADD_PARTITIONS, topic, to=world.partitions[topic])


def _create_topic(world: DrawnScript) -> None:
    topic = world.random.choice([name for name in world.topics if name not in world.partitions])
    world.partitions[topic] = world.random.choice((1, 2, 3))
    if world.classic is not None:
        # Kafka's sticky assignors fail where a topic comes back with fewer partitions (``assignors.faults``).
        world.partitions[topic] = max(world.partitions[topic], world.most.get(topic, 0))
    world.write(Verb.CREATE_TOPIC, topic, partitions=world.partitions[topic])


def _delete_topic(world: DrawnScript) -> None:
    topic = world.random.choice(list(world.partitions))
    world.most[topic] = world.partitions.pop(topic)
    world.write(Verb.DELETE_TOPIC, topic)


def _fail_over(world: DrawnScript) -> None:
    more: Line = {"loading": f"{world.random.choice(LOADING_MS)}ms"}
    if world.random.random() < 0.3:
        more["how"] = "move"
    else:
        more["lost"] = world.random.choice((0, 0, 1, 2, 4))
    if world.random.random() < 0.3:
        more["from"] = "compacted"
    world.write(Verb.FAIL_OVER, COORDINATOR, **more)


def _cut(world: DrawnScript) -> None:
    member = world.random.choice(list(world.states))
    ends = world.random.choice(((member,), (member, COORDINATOR), (COORDINATOR,)))
    if ends not in world.cuts:
        world.cuts[ends] = None
        world.write(Verb.CUT, list(ends) if len(ends) > 1 else ends[0])


def _heal_one(world: DrawnScript) -> None:
    ends = world.random.choice(list(world.cuts))
    del world.cuts[ends]
    world.write(Verb.HEAL, list(ends) if len(ends) > 1 else ends[0])


def _network(world: DrawnScript) -> None:
    shares = ("loss", "duplicate", "reorder")
    world.write(Verb.NETWORK, {share: world.random.choice(SHARES[world.preset]) for share in shares})


def _clock_jump(world: DrawnScript) -> None:
    who = world.random.choice((*world.states, COORDINATOR))
    world.write(Verb.CLOCK_JUMP, who, by=world.random.choice(CLOCK_JUMPS))


def _set_config(world: DrawnScript) -> None:
    key = world.random.choice(("assignment_interval_ms", "heartbeat_interval_ms"))
    world.write(Verb.SET_CONFIG, {key: world.random.choice(GROUP_CONFIGS_MS[key])})


def _of_group(verb: Verb) -> Callable[[DrawnScript], None]:
    return lambda world: world.write(verb, GROUP)


def _heal(world: DrawnScript) -> None:
    """Nothing goes wrong any more from here on."""
    if world.preset is not Preset.CALM:
        world.write(Verb.HEAL, EVERYTHING)
    for name in world.slow:
        if world.states[name] != DEAD:
            _act(world, Verb.SLOW_REVOKE, name, for_ms=0)
    for name, state in world.states.items():
        if state == PAUSED:
            _act(world, Verb.RESUME, name)


_OTHERS: Final[Mapping[Verb, Callable[[DrawnScript], None]]] = {
    Verb.ADD_PARTITIONS: _add_partitions,
    Verb.CREATE_TOPIC: _create_topic,
    Verb.DELETE_TOPIC: _delete_topic,
    Verb.FAIL_OVER: _fail_over,
    Verb.CUT: _cut,
    Verb.HEAL: _heal_one,
    Verb.NETWORK: _network,
    Verb.CLOCK_JUMP: _clock_jump,
    Verb.SET_CONFIG: _set_config,
    Verb.DELETE_GROUP: _of_group(Verb.DELETE_GROUP),
    Verb.EXPIRE_OFFSETS: _of_group(Verb.EXPIRE_OFFSETS),
}
"""What happens to no member."""
