"""Taking over: the script is left at a moment, and what the reader does is played on from there.

The same scenario and seed give the same run up to that moment, so that nothing has to be kept of it: what the reader
does becomes lines of the script, and everything is played again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from simulations.fork.continuing import continued
from simulations.fork.values import ForkError
from simulations.lessons.playing import Run, play
from simulations.world.scenario import Scenario, ScenarioError, Verb, load
from simulations.world.scenario.values import UNTIL_MAX_MS

VERBS: Final = (
    Verb.JOIN,
    Verb.LEAVE,
    Verb.KILL,
    Verb.PAUSE,
    Verb.RESUME,
    Verb.RESTART,
    Verb.ADD_PARTITIONS,
    Verb.FAIL_OVER,
)
"""What a reader can do, each by one button."""

ACTS_MAX: Final = 50
"""Done by hand, one after the other; more is a scenario, which has a page of its own."""

TAIL_MS: Final = 90_000
"""Played on after the last thing done: a session timeout, and the rebalance behind it."""

ACT_KEYS: Final = ("at_ms", "do", "who", "to")


class Act(NamedTuple):
    """Something that a reader did; ``to`` is the number of partitions, as it was given."""

    at_ms: int
    verb: Verb
    who: str
    to: object


class ActError(ValueError):
    """What cannot be done, in one line; ``field`` is where it is in the request."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def taken_over(scenario: Scenario, at_ms: int, acts: Sequence[Mapping[str, object]]) -> str:
    """The scenario's text with its script cut off after ``at_ms`` (of the run's clock), and ``acts`` in its place.

    An act is ``{"at_ms", "do", "who"}`` and, for ``add_partitions``, ``to``. ``ActError`` names the one that cannot be read. The rows
    of the story that were reached stay, so that moments and sequences up to there are what they were.
    """
    if len(acts) > ACTS_MAX:
        raise ActError(f"at most {ACTS_MAX} things are done by hand, these are {len(acts)}", "acts")
    from_ms = at_ms - scenario.start_ms
    done = [_act(act, number, scenario, from_ms) for number, act in enumerate(acts)]
    last_ms = max([from_ms, *(act.at_ms - scenario.start_ms for act in done)])
    try:
        text, _ = continued(
            scenario,
            from_ms,
            [_line(act, scenario) for act in done],
            keeps_later=False,
            until_ms=min(last_ms + TAIL_MS, UNTIL_MAX_MS),
            rows=_rows_reached(scenario, at_ms),
        )
    except ForkError as error:
        raise ActError(str(error), "acts") from None
    return text


def played_on(scenario: Scenario, at_ms: int, acts: Sequence[Mapping[str, object]]) -> tuple[Run, str]:
    """The run from its beginning, and the text of its scenario. ``ActError`` where what was done cannot happen."""
    text = taken_over(scenario, at_ms, acts)
    try:
        return play(load(text, scenario.name)), text
    except ScenarioError as error:
        raise ActError(error.message, "acts") from None


def _rows_reached(scenario: Scenario, at_ms: int) -> int:
    if not scenario.steps:
        return 0
    steps = (moment["step"] or 0 for moment in play(scenario).moments if moment["at_ms"] <= at_ms)
    return max(steps, default=0)


def _act(act: Mapping[str, object], number: int, scenario: Scenario, from_ms: int) -> Act:
    """An act of the request, checked."""
    field = f"acts[{number}]"
    if unknown := [key for key in act if key not in ACT_KEYS]:
        raise ActError(f"{unknown[0][:40]} is no field of an act; there are {', '.join(ACT_KEYS)}", field)
    verb, who, at = act.get("do"), act.get("who"), act.get("at_ms")
    if not isinstance(verb, str) or verb not in VERBS:
        raise ActError(f"do must be one of {', '.join(VERBS)}", f"{field}.do")
    if not isinstance(who, str) or not who:
        raise ActError("who must be a member's or a topic's name", f"{field}.who")
    if (
        not isinstance(at, int)
        or isinstance(at, bool)
        or not from_ms <= at - scenario.start_ms <= UNTIL_MAX_MS
    ):
        raise ActError("at_ms must be a time of the run from the moment of taking over on", f"{field}.at_ms")
    return Act(at, Verb(verb), who, act.get("to"))


def _line(act: Act, scenario: Scenario) -> dict[str, object]:
    line: dict[str, object] = {"at": f"{act.at_ms - scenario.start_ms}ms", str(act.verb): act.who}
    if act.verb is Verb.ADD_PARTITIONS:
        line["to"] = act.to
    return line
