"""The child that explores and judges: ``python -m simulations.jobs.proof_child``, without Django.

It reads one line of JSON from standard input. ``{"scenario", "semantics", "release", "budgets", "unhurried", "states_most"}`` asks for an
exploration; ``{"sample"}``, or ``{"requests", "paths", "settings"}``, whether Kafka would have answered a recording so. It
writes JSON Lines: ``progress`` with ``stage`` or ``answer``, and last ``done`` or ``error``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from groups.child_side import Lines, Message, answer_question
from groups.releases import release_of
from simulations import samples
from simulations.jobs.run import scenario_of
from simulations.proof.conformance import settings_of
from simulations.proof.conformance.judging import judged
from simulations.proof.exploration import Budgets, NotExplorable, explore
from simulations.proof.exploration.report import as_json
from simulations.recorded_files import read
from simulations.world.scenario import with_release

EVERY_S: Final = 0.5
"""A page that shows the progress needs no more."""

EXPLORED_S_MOST: Final = 15 * 60
"""A scenario with many members has far fewer states in this time than are allowed; a worker is for everybody."""

DIFFERENCES_MOST: Final = 1_000
"""Differences that are listed; a page of each request of a day's log helps nobody."""

PROBLEMS_MOST: Final = 20


class Asked(Exception):
    """What is wrong with the question: a sentence."""


def explored(question: dict[str, Any]) -> Mapping[str, object]:
    scenario = scenario_of(question["scenario"])
    if release := question.get("release"):
        scenario = with_release(scenario, release_of(release))
    began_s = sent_s = time.monotonic()

    def progress(states: int, transitions: int, depth: int) -> None:
        nonlocal sent_s
        if time.monotonic() - began_s > EXPLORED_S_MOST:
            raise Asked(
                f"After {EXPLORED_S_MOST / 60:g} minutes there are {states:,} states and no end: take fewer members or faults, "
                "or the command explore."
            )
        if time.monotonic() - sent_s >= EVERY_S:
            sent_s = time.monotonic()
            say(type="progress", stage=f"{states:,} states, {transitions:,} transitions, depth {depth}")

    try:
        report, worlds = explore(
            scenario,
            question["semantics"],
            Budgets(**question["budgets"]),
            states_max=question["states_most"],
            unhurried=question["unhurried"],
            progress=progress,
        )
    except NotExplorable as error:
        raise Asked(f"{error}.") from error
    return as_json(report, worlds)


def conforms(question: dict[str, Any]) -> Mapping[str, object]:
    if name := question.get("sample"):
        sample = samples.sample(name)
        requests, paths, settings = str(sample.requests), [str(sample.segments)], sample.settings
    else:
        requests, paths, settings = question["requests"], question["paths"], question["settings"]
    say(type="progress", stage="Reads the recording")
    try:
        files = read(requests, paths, timedelta())
    except (OSError, UnicodeDecodeError) as error:
        raise Asked(f"The request log cannot be read: {error}.") from error
    if not files.requests:
        raise Asked("The request log has no group request: is kafka.request.logger at DEBUG?")
    if not files.images:
        raise Asked("There are no topics: add segments of __cluster_metadata.")
    say(type="progress", stage=f"Judges {len(files.requests):,} requests")
    result, _, _ = judged(files.requests, files.written, files.images, settings_of(settings))
    return bounded(result, files.problems[:PROBLEMS_MOST])


def bounded(result: Mapping[str, Any], problems: list[str]) -> Mapping[str, object]:
    """The report with its first differences; how many more there are is the last of its problems."""
    differences = result["differences"]
    if more := len(differences[DIFFERENCES_MOST:]):
        problems = [*problems, f"{more:,} more differences are not listed: the command conform lists all."]
    return {**result, "differences": differences[:DIFFERENCES_MOST], "problems": problems}


def say(**message: object) -> None:
    Lines(sys.stdout.buffer).say(message)


def answer(question: dict[str, Any]) -> Iterator[Message]:
    try:
        found = explored(question) if "scenario" in question else conforms(question)
    except Asked as error:
        yield {"type": "error", "message": str(error)}
        return
    yield {"type": "progress", "answer": found}
    yield {"type": "done"}


if __name__ == "__main__":
    sys.exit(answer_question(answer))
