"""Reads ``script``: what happens when. Each line by itself (``verbs``), then all of them in time (``order``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from simulations.world.scenario.access import Denial
from simulations.world.scenario.actions import Action, Verb
from simulations.world.scenario.errors import ScenarioError
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.order import check_order
from simulations.world.scenario.values import SCRIPT_MAX, Member, ScenarioTopic
from simulations.world.scenario.verbs import Names, read_line


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
