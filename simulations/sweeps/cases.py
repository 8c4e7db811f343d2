"""The case of a shape, an event and a seed. The same three always give the same case.

The seed draws who came and went before the event, and what the event leaves open: between which members the newcomer
sorts, who leaves, which topic grows.
"""

from __future__ import annotations

import random
from dataclasses import replace

from simulations.laboratory import Before, Case, Event
from simulations.laboratory.cases import member_names
from simulations.laboratory.presets import happening as with_event
from simulations.laboratory.presets import preset, with_newcomers
from simulations.sweeps.axes import GroupShape, Happening

PLAIN = {Happening.FULL: Event.FULL, Happening.STABLE: Event.STABLE}


def case_of(shape: GroupShape, happening: Happening, seed: int) -> Case:
    """Raises ``simulations.laboratory.CaseError`` where the shape is beyond a bound of the laboratory."""
    case = preset(
        shape.size,
        sizes=shape.sizes,
        subscriptions=shape.subscriptions,
        racks=shape.racks,
        before=Before.OWN,
        seed=seed,
    )
    if happening in PLAIN:
        return with_event(case, PLAIN[happening])
    draw = random.Random(f"{happening} {seed}")
    match happening:
        case Happening.JOIN | Happening.JOIN_MANY:
            return _joined(case, 1 if happening is Happening.JOIN else shape.many, draw)
        case Happening.LEAVE | Happening.LEAVE_MANY:
            count = 1 if happening is Happening.LEAVE else shape.many
            if count >= len(case.members):
                # One member cannot go and stay: refused in the laboratory's own words.
                return with_event(case, Event.LEAVE, count)
            return replace(case, event=Event.LEAVE, leaving=drawn(draw, count, len(case.members)))
    [topic] = drawn(draw, 1, len(case.topics))
    return replace(case, event=Event.GROW, grown=(topic, max(1, case.topics[topic].partitions // 4)))


def _joined(case: Case, count: int, draw: random.Random) -> Case:
    """Newcomers whose names sort right behind those of members that are drawn."""
    case = with_newcomers(case, count)
    usual = member_names(len(case.everybody))
    behind = drawn(draw, count, len(case.members))
    joining = [
        replace(member, name=f"{usual[place]}a") for member, place in zip(case.joining, behind, strict=True)
    ]
    return replace(case, joining=tuple(joining))


def drawn(draw: random.Random, count: int, of: int) -> tuple[int, ...]:
    """``count`` different places below ``of``, ascending. Only ``random()`` is the same in every Python."""
    left = list(range(of))
    return tuple(sorted(left.pop(int(draw.random() * len(left))) for _ in range(count)))
