"""Draws a script line by line: only what can be done at its time, and all that stands still goes on at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from simulations.fuzzing.presets import ACTIONS_MOST, GAPS_MS, WEIGHTS, Preset
from simulations.scenario import Verb

SLOW_MS: Final = (0, 300, 1_500, 5_000)
"""Callbacks after ``slow_revoke``: quick again, slow, and beyond the shorter rebalance timeouts."""

AWAY, RUNS, PAUSED, DEAD = "away", "runs", "paused", "dead"

_NEEDS: Final[Mapping[Verb, tuple[str, ...]]] = {
    Verb.JOIN: (AWAY, DEAD),
    Verb.LEAVE: (RUNS,),
    Verb.KILL: (RUNS, PAUSED),
    Verb.PAUSE: (RUNS,),
    Verb.RESUME: (PAUSED,),
    Verb.RESTART: (RUNS, PAUSED, DEAD),
    Verb.HEARTBEAT: (RUNS,),
    Verb.COMMIT: (RUNS,),
    Verb.SLOW_REVOKE: (RUNS,),
    Verb.SUBSCRIBE: (RUNS,),
}
_LEADS_TO: Final[Mapping[Verb, str]] = {
    Verb.JOIN: RUNS,
    Verb.RESTART: RUNS,
    Verb.RESUME: RUNS,
    Verb.LEAVE: AWAY,
    Verb.KILL: DEAD,
    Verb.PAUSE: PAUSED,
}

Line = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class _World:
    """What the script has done so far, as far as the next line depends on it."""

    random: Random
    partitions: dict[str, int]
    states: dict[str, str]
    slow: dict[str, None] = field(default_factory=dict)
    now_ms: int = 0
    lines: list[Line] = field(default_factory=list)

    def write(self, verb: Verb, who: str, **more: Any) -> None:
        self.lines.append({"at": f"{self.now_ms}ms", str(verb): who, **more})

    def able(self, verb: Verb) -> list[str]:
        return [name for name, state in self.states.items() if state in _NEEDS[verb]]


def draw_script(
    random: Random, preset: Preset, topics: Mapping[str, Any], members: Mapping[str, Any]
) -> tuple[list[Line], int]:
    """The lines, and the time of the last one."""
    world = _World(
        random=random,
        partitions={name: told["partitions"] for name, told in topics.items()},
        states=dict.fromkeys(members, AWAY),
    )
    first = random.randint(1, len(members))
    for name in random.sample(list(members), first):
        _act(world, Verb.JOIN, name)
        world.now_ms += random.choice((0, 0, 1, 400))
    weights = WEIGHTS[preset]
    for _ in range(random.randint(1, ACTIONS_MOST[preset])):
        world.now_ms += random.choice(GAPS_MS[preset])
        possible = [verb for verb in weights if verb in _TOPICS or world.able(verb)]
        verb = random.choices(possible, [weights[verb] for verb in possible])[0]
        if verb in _TOPICS:
            _TOPICS[verb](world)
        else:
            _act(world, verb, random.choice(world.able(verb)))
    _heal(world)
    return world.lines, world.now_ms


def _act(world: _World, verb: Verb, who: str, *, for_ms: int | None = None) -> None:
    more: Line = {}
    match verb:
        case Verb.SLOW_REVOKE:
            more["for"] = f"{world.random.choice(SLOW_MS) if for_ms is None else for_ms}ms"
            world.slow[who] = None
        case Verb.SUBSCRIBE:
            topics = list(world.partitions)
            more["topics"] = world.random.sample(topics, world.random.randint(1, len(topics)))
    world.write(verb, who, **more)
    world.states[who] = _LEADS_TO.get(verb, world.states[who])


def _add_partitions(world: _World) -> None:
    topic = world.random.choice(list(world.partitions))
    world.partitions[topic] += world.random.choice((1, 1, 2, 4))
    world.write(Verb.ADD_PARTITIONS, topic, to=world.partitions[topic])


def _heal(world: _World) -> None:
    """Nothing goes wrong any more from here on."""
    for name in world.slow:
        if world.states[name] != DEAD:
            _act(world, Verb.SLOW_REVOKE, name, for_ms=0)
    for name, state in world.states.items():
        if state == PAUSED:
            _act(world, Verb.RESUME, name)


_TOPICS: Final[Mapping[Verb, Callable[[_World], None]]] = {Verb.ADD_PARTITIONS: _add_partitions}
"""What happens to no member."""
