"""A fork of a moment: a simulated run continues as the same run if only faults are added; every other fork takes the state over."""

from __future__ import annotations

from typing import Final

from simulations.fork.continuing import continued, document_of
from simulations.fork.edits import lines_of
from simulations.fork.rows import Rows
from simulations.fork.taking_over import taken_over
from simulations.fork.values import TAIL_MS, Edits, Fork, How, Moment
from simulations.world.scenario import Verb
from simulations.world.scenario.values import UNTIL_MAX_MS

OF_THE_SAME_RUN: Final = ("length_ms",)
"""Settings that change nothing before the moment."""


def fork(moment: Moment, edits: Edits) -> Fork:
    """The branch of a moment with these edits. ``ForkError`` in one sentence if there is none."""
    settings = set(edits.settings).difference(OF_THE_SAME_RUN)
    if moment.scenario is not None and not settings:
        return _same_run(moment, edits)
    return taken_over(moment, edits)


def _same_run(moment: Moment, edits: Edits) -> Fork:
    scenario = moment.scenario
    assert scenario is not None
    moment_ms = moment.at_ms - scenario.start_ms
    added = [line for fault in edits.faults for line in lines_of(fault, moment_ms)]
    length = edits.settings.get("length_ms")
    text, left_out = scenario.text, list[str]()
    if added or length is not None or "group" not in document_of(scenario):
        last_ms = max((int(str(line["at"]).removesuffix("ms")) for line in added), default=0)
        until_ms = moment_ms + length if isinstance(length, int) else scenario.until_ms
        until_ms = min(
            max(until_ms, last_ms + TAIL_MS if added and length is None else last_ms), UNTIL_MAX_MS
        )
        text, left_out = continued(scenario, moment_ms, added, keeps_later=True, until_ms=until_ms)
    joins = [str(line[Verb.JOIN]) for line in added if Verb.JOIN in line]
    return Fork(
        text=text,
        semantics=moment.semantics,
        seed=moment.seed,
        how=How.SAME_RUN,
        members=tuple(dict.fromkeys((*scenario.members, *joins))),
        assumptions=tuple(_rows(moment).rows),
        left_out=tuple(left_out),
    )


def _rows(moment: Moment) -> Rows:
    """What the same run starts from: nothing is assumed, and whatever is changed here makes the fork take the state over."""
    scenario = moment.scenario
    assert scenario is not None
    rows = Rows(Edits())
    rows.fact("clock", "Clock of the fork", moment.at_ms, f"entry {moment.frame['sequence']}")
    rows.fact(
        "state",
        "Everything up to the moment",
        "as in the run",
        "the same scenario and seed are simulated again",
    )
    return rows
