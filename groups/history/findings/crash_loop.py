"""Crash loop, and its relative: a process that goes and comes back again and again.

Needs: records; commits make the reason surer. ``crash_loop``: a new process each time; ``left_and_back``: most of its removals
look like ``max.poll.interval.ms`` exceeded (see ``removed``), after which a client leaves by itself and comes back.
Claims: how often, how far apart, whether all moves followed it. Cannot know: why the process ended.
"""

from __future__ import annotations

from typing import Final

from groups.history.evidence.lives import Going
from groups.history.findings.declaring import Declared, Row, Section
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.removed import guessed
from groups.history.findings.repeated import about, by_process, several, spans, usual_ms
from groups.history.words import duration

TIMES_LEAST: Final = 3
"""Twice is a restart and another one; three times is a pattern."""

OVERRUNS: Final = frozenset({"poll_overrun", "stalled"})

APART_MOST_MS: Final = 15 * 60_000
"""Restarts farther apart than this are no loop."""


def found_crash_loops(facts: Facts) -> list[Finding]:
    """``crash_loop`` and ``left_and_back``, of each process; ``steps`` are its removals."""
    found = []
    for lane, goings in by_process(facts).items():
        times = [going.at_ms for going in goings]
        if len(goings) < TIMES_LEAST or usual_ms(times) > APART_MOST_MS:
            continue
        back = [going for going in goings if going.back_ms is not None]
        if len(back) < len(goings) - 1:
            continue
        guesses = [guessed(facts, going) for going in goings]
        overruns = sum(guess is not None and guess.looks_like in OVERRUNS for guess in guesses)
        make = _left_and_back if overruns * 2 > len(goings) else _loop
        found.append(make(facts, lane, goings))
    return found


def _loop(facts: Facts, lane: str, goings: list[Going]) -> Finding:
    name = facts.process(lane)
    comings = [one.at_ms for one in facts.lives.comings if one.lane == lane]
    every_ms = usual_ms(comings if len(comings) > 2 else [going.at_ms for going in goings])
    left = sum(
        (guess := guessed(facts, going)) is not None and guess.looks_like == "left" for going in goings
    )
    verb = "was restarted" if left * 2 > len(goings) else "died"
    says = f"{name} {verb} {several(len(goings))}, about every {about(every_ms)}"
    return finding(
        "crash_loop",
        says,
        spans(going.sequence for going in goings),
        certain=False,
        name=name,
        lane=lane,
        count=len(goings),
        every_ms=every_ms,
        from_ms=goings[0].at_ms,
        to_ms=goings[-1].back_ms or goings[-1].at_ms,
        steps=spans(going.sequence for going in goings),
    )


def _left_and_back(facts: Facts, lane: str, goings: list[Going]) -> Finding:
    name = facts.process(lane)
    moves = facts.ownership.moved_count
    returned = sum(going.back_ms is not None for going in goings)
    until_ms = goings[-1].back_ms or goings[-1].at_ms
    says = f"{name} left and came back {several(returned)} in {duration(until_ms - goings[0].at_ms)}"
    if moves and facts.ownership.followed.get(lane) == moves:
        says += f"; all {moves:,} moves follow {name}"
    return finding(
        "left_and_back",
        says,
        spans(going.sequence for going in goings),
        certain=False,
        name=name,
        lane=lane,
        count=returned,
        looks_like="poll_overrun",
        because=_because(facts, goings),
        from_ms=goings[0].at_ms,
        to_ms=until_ms,
        steps=spans(going.sequence for going in goings),
    )


def _because(facts: Facts, goings: list[Going]) -> str:
    """The evidence of the first of them that has any."""
    guesses = [guessed(facts, going) for going in goings]
    return next(
        (guess.because for guess in guesses if guess is not None and guess.looks_like in OVERRUNS), ""
    )


FINDER: Final = Declared(
    place=40,
    find=found_crash_loops,
    rows=(
        Row(
            kinds=("crash_loop",),
            says="the same process was removed three times or more, at most 15 min apart, and came back as a new one each time",
            incident=True,
            section=Section.PATTERNS,
        ),
        Row(
            kinds=("left_and_back",),
            says="the same, where most of the removals look like `max.poll.interval.ms` exceeded",
            incident=True,
            section=Section.PATTERNS,
        ),
    ),
)
