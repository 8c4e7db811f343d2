"""What a stopped broker left, judged group by group: ``conform`` as the tests of the broker use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from simulations.proof.conformance import Judge, NotJudged, Report, recordings, report, settings_of
from simulations.proof.conformance.configs import BROKER_SETTINGS
from simulations.recorded_files import read

from . import played
from .node import SETTINGS, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Conformed:
    """By group: the verdict on it, and what went wrong while it was played. ``errors`` are codes that were answered."""

    verdicts: dict[str, Report]
    problems: dict[str, Exception]
    errors: frozenset[int]


def conform(
    node: Node, problems: dict[str, Exception], settings_told: Mapping[str, object] = played.SETTINGS
) -> Conformed:
    """Puts the node's request log and segments to the simulated coordinator, with the settings that it ran with."""
    told = {**SETTINGS, **settings_told}
    settings = settings_of({name: str(told[name]) for name in BROKER_SETTINGS if name in told})
    files = read(str(node.folder / "broker.log.requests"), [str(node.data)], timedelta())
    not_judged = NotJudged()
    verdicts = {}
    for recording in recordings(files.requests, files.written, files.images, not_judged):
        judge = Judge(recording, settings)
        judge.judge()
        verdicts[recording.group] = report([judge.tally], NotJudged())
    errors = {each.response.get("errorCode", 0) for each in files.requests}
    for each in files.requests:
        for name in ("groups", "results"):
            errors |= {part["errorCode"] for part in each.response.get(name, ())}
    return Conformed(verdicts=verdicts, problems=problems, errors=frozenset(errors))
