"""Reads ``steps``: where the rows of a story stand, and what they say."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from simulations.world.scenario.actions import COORDINATOR, EVERYTHING, Event
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.values import STEPS_MAX, Member, NarratedStep

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
