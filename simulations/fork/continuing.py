"""A simulated run that continues otherwise: its scenario with other lines after a moment.

The same scenario and seed give the same run up to that moment, so that nothing has to be kept of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NotRequired, TypedDict

import yaml

from simulations.fork.values import Document, ForkError
from simulations.world.scenario import Scenario, ScenarioError, Verb, load
from simulations.world.scenario.environment import CALM
from simulations.world.scenario.nodes import parse
from simulations.world.scenario.values import UNTIL_MAX_MS

LEFT_OUT_MOST: Final = 50
"""Later lines that an edit makes impossible: each costs a reading of the whole scenario."""

Line = dict[str, object]


class ScenarioParts(TypedDict):
    """The parts of a scenario's document that a fork changes."""

    script: list[Line]
    members: dict[str, Document]
    steps: NotRequired[list[object] | None]


def document_of(scenario: Scenario) -> ScenarioParts:
    """The document of a scenario's text, which has been read from it, so that its parts are what they have to be."""
    parts: ScenarioParts = yaml.safe_load(scenario.text)
    return parts


def lines_at(scenario: Scenario, script: Sequence[Line]) -> list[tuple[int, Line]]:
    """Each line of the script, with its time."""
    nodes = parse(scenario.text).mapping()["script"].items()
    times = (node.mapping()["at"].duration_ms(UNTIL_MAX_MS) for node in nodes)
    return list(zip(times, script, strict=True))


def lasting_lines(scenario: Scenario, now_ms: int, running: Collection[str]) -> list[Line]:
    """What the script did to applications before ``now_ms``, as far as it lasts: slow callbacks, late polls. A new process has neither."""
    lasting: dict[tuple[str, Verb], int] = {}
    for action in scenario.script:
        if action.at_ms > now_ms:
            break
        match action.verb:
            case Verb.SLOW_REVOKE if action.length_ms is not None:
                lasting[action.who, action.verb] = action.length_ms
            case Verb.POLL_LATE if action.length_ms is not None:
                lasting[action.who, action.verb] = action.at_ms + action.length_ms - now_ms
            case Verb.KILL | Verb.RESTART | Verb.BOUNCE:
                for verb in (Verb.SLOW_REVOKE, Verb.POLL_LATE):
                    lasting.pop((action.who, verb), None)
    return [
        {"at": "0ms", str(verb): name, "for": f"{length_ms}ms"}
        for (name, verb), length_ms in lasting.items()
        if name in running and length_ms > 0
    ]


def with_newcomers(members: dict[str, Document], added: Iterable[Mapping[str, object]]) -> None:
    """A member that joins and is none of the scenario's is like the first one, but no second one of the same instance."""
    like = next(iter(members.values()))
    for line in added:
        who = line.get(str(Verb.JOIN))
        if isinstance(who, str) and who not in members:
            own = ("instance_id", "client_id", "client_host")
            members[who] = {key: value for key, value in like.items() if key not in own}


def continued(
    scenario: Scenario,
    moment_ms: int,
    added: Sequence[Line],
    *,
    keeps_later: bool,
    until_ms: int | None = None,
    rows: int | None = None,
) -> tuple[str, list[str]]:
    """The text with ``added`` after ``moment_ms`` (from the run's beginning), and the later lines that it leaves out.

    ``keeps_later``: the script's own lines after the moment stay, as far as they can still happen. ``until_ms`` is the
    run's end, never one before what is left of the script; ``None`` for the scenario's. ``rows``: of the story's, the first ones.
    """
    parts = document_of(scenario)
    timed = lines_at(scenario, parts["script"])
    kept = [line for at_ms, line in timed if at_ms <= moment_ms]
    later = [line for at_ms, line in timed if at_ms > moment_ms] if keeps_later else []
    with_newcomers(parts["members"], added)
    document: dict[str, object] = {
        **parts,
        "name": scenario.title,
        "group": scenario.group,
        "until": f"{scenario.until_ms if until_ms is None else until_ms}ms",
    }
    document.pop("title", None)
    if rows is not None:
        document["steps"] = (parts.get("steps") or [])[:rows]
    if scenario.world != CALM:
        # A preset's troubles are spread over the run's length: another one would change them from the beginning on.
        document["until"] = f"{scenario.until_ms}ms"
    return without_impossible(document, kept, later, added, scenario.name)


def without_impossible(
    document: Mapping[str, object],
    kept: Sequence[Line],
    later: Sequence[Line],
    added: Sequence[Line],
    name: str,
) -> tuple[str, list[str]]:
    """The text, and the ``later`` lines that cannot happen after those that are ``added``, each with its reason."""
    later, left_out = list(later), list[str]()
    while True:
        script = [*kept, *later, *added]
        text, first = text_of(document, script)
        try:
            load(text, name)
        except ScenarioError as error:
            place = error.line - first - len(kept)
            if not 0 <= place < len(later) or len(left_out) == LEFT_OUT_MOST:
                of_script = 0 <= error.line - first < len(script)
                raise ForkError(error.message, "faults" if of_script else "set") from None
            left_out.append(f"{_shown(later.pop(place))}: {error.message}")
        else:
            return text, left_out


def text_of(document: Mapping[str, object], script: Sequence[Line]) -> tuple[str, int]:
    """The document as a scenario's text with a line for each line of the script, and the first of these lines."""
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items() if key != "script")
    lines = "".join(f"- {json.dumps(line)}\n" for line in script)
    return f"{head}script:{'' if script else ' []'}\n{lines}", head.count("\n") + 2


def _shown(line: Line) -> str:
    return ", ".join(f"{key}: {value}" for key, value in line.items())
