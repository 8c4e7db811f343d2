"""Loops: a process that comes and goes three times or more.

Needs: records; commits, requests and timers make the reason surer. ``crash_loop``: it comes back as a new member each time; a pattern
where most of its ends look like those of a process that was killed or crashed, which explains its expired sessions;
``left_and_back``: most of its removals look like ``max.poll.interval.ms`` exceeded (see ``removed``), after which a client
leaves by itself and comes back. Members that had no time to rejoin are ``short_rebalance_timeout``.
Claims: how often, how far apart, whether all moves followed it; that it was killed or restarted, only with evidence of that.
Cannot know: why the process ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Final

from groups.history.evidence.lives import Going
from groups.history.findings.declaring import Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.findings.patterns.poll_interval import PollLeaves
from groups.history.findings.patterns.restart_advice import restart_advice
from groups.history.findings.removed import Guess, guessed
from groups.history.findings.repeated import about, by_process, several, spans, usual_ms
from groups.history.words import lasting

PATTERN: Final = Pattern(
    kind="crash_loop",
    title="Crash loop",
    severity=Severity.WARNING,
    rank=145,
    sources=((RECORDS,),),
    look_for="the same process ends without a leave three times or more, at most 15 min apart, and comes back as a new member each time",
    causes=(
        "a record or a dependency that the process cannot handle",
        "a limit of memory",
        "a liveness probe that kills it",
    ),
    look_at=(
        "the last lines of its log and its exit code",
        "what starts it again, and how long that waits",
    ),
)

CRASHES: Final = frozenset({"was killed", "was restarted without a leave", "vanished and came back"})
"""Ways of ending that are those of a crash; who leaves each time did not crash."""

TIMES_LEAST: Final = 3
"""Twice is a restart and another one; three times is a pattern."""

OVERRUNS: Final = frozenset({"poll_overrun", "stalled"})

APART_MOST_MS: Final = 15 * 60_000
"""Restarts farther apart than this are no loop."""


def found_crash_loops(facts: Facts) -> Iterator[Finding]:
    """``crash_loop`` and ``left_and_back``, of each process; ``steps`` are its removals."""
    for lane, goings in _loops(facts):
        make = _left_and_back if _overruns(facts, goings) else _loop
        yield make(facts, lane, goings)


def crashing(facts: Facts) -> frozenset[str]:
    """Lanes of processes whose removals are a crash loop."""
    return frozenset(
        lane
        for lane, goings in _loops(facts)
        if not _overruns(facts, goings) and _what_happened(facts, goings) in CRASHES
    )


def _loops(facts: Facts) -> Iterator[tuple[str, list[Going]]]:
    for lane, goings in by_process(facts).items():
        times = [going.at_ms for going in goings]
        if len(goings) < TIMES_LEAST or usual_ms(times) > APART_MOST_MS:
            continue
        back = [going for going in goings if going.back_ms is not None]
        if len(back) < len(goings) - 1:
            continue
        if sum(going.join_phase_ms is not None for going in goings) * 2 <= len(goings):
            yield lane, goings


def _overruns(facts: Facts, goings: list[Going]) -> bool:
    """Whether most of them look like ``max.poll.interval.ms`` exceeded."""
    return sum(_overran(facts, going) for going in goings) * 2 > len(goings)


def _overran(facts: Facts, going: Going) -> bool:
    guess = guessed(facts, going)
    return _states_overrun(facts, going) or (guess is not None and guess.looks_like in OVERRUNS)


def _states_overrun(facts: Facts, going: Going) -> bool:
    """Whether its own LeaveGroup gives that reason."""
    return facts.watch(PollLeaves).reasons.get(going.member, going.sequence + 1) <= going.sequence


def _loop(facts: Facts, lane: str, goings: list[Going]) -> Finding:
    name = facts.process(lane)
    comings = [one.at_ms for one in facts.lives.comings if one.lane == lane]
    every_ms = usual_ms(comings if len(comings) > 2 else [going.at_ms for going in goings])
    way = _what_happened(facts, goings)
    text = f"{name} {way} {several(len(goings))}, about every {about(every_ms)}"
    steps = spans(going.sequence for going in goings)
    make = partial(finding, "crash_loop")
    if way in CRASHES:
        make = partial(PATTERN.found, advice=restart_advice(facts, goings))
    found = make(
        text,
        steps,
        needs=[RECORDS],
        certain=False,
        name=name,
        lane=lane,
        count=len(goings),
        every_ms=every_ms,
        from_ms=goings[0].at_ms,
        to_ms=goings[-1].back_ms or goings[-1].at_ms,
        steps=steps,
    )
    # Its text has no title: lists and headlines begin with the process.
    return {**found, "says": text}


def _what_happened(facts: Facts, goings: list[Going]) -> str:
    """What the evidence of most removals supports.

    A consumer keeps its member id for as long as its process lives; a classic client also gets a new one without a restart.
    """
    ways: Counter[str] = Counter()
    for going in goings:
        guess = guessed(facts, going) if going.why is None else None
        how = going.why if guess is None else guess.looks_like
        returned_before = going.back_ms is not None and going.back_ms < going.at_ms
        if going.killed_ms is not None:
            ways["was killed"] += 1
        elif how == "left":
            ways["left and came back" if going.classic else "was restarted"] += 1
        elif how in ("session_expired", "stopped") or returned_before:
            ways["vanished and came back" if going.classic else "was restarted without a leave"] += 1
    way, count = ways.most_common(1)[0] if ways else ("", 0)
    return way if count * 2 > len(goings) else "was removed and came back"


def _left_and_back(facts: Facts, lane: str, goings: list[Going]) -> Finding:
    name = facts.process(lane)
    moves = facts.ownership.moved_count
    returned = sum(going.back_ms is not None for going in goings)
    until_ms = goings[-1].back_ms or goings[-1].at_ms
    sure = any(_states_overrun(facts, going) for going in goings) or any(
        guess is not None and guess.looks_like == "poll_overrun" for guess in _guesses(facts, goings)
    )
    verb = "left" if sure else "was removed"
    text = f"{name} {verb} and came back {several(returned)}{lasting(until_ms - goings[0].at_ms, ' in ')}"
    if moves and facts.ownership.followed.get(lane) == moves:
        text += f"; all {moves:,} moves follow {name}"
    return finding(
        "left_and_back",
        text,
        spans(going.sequence for going in goings),
        certain=False,
        name=name,
        lane=lane,
        count=returned,
        looks_like="poll_overrun" if sure else "stalled",
        because=_because(facts, goings),
        from_ms=goings[0].at_ms,
        to_ms=until_ms,
        steps=spans(going.sequence for going in goings),
    )


def _guesses(facts: Facts, goings: list[Going]) -> list[Guess | None]:
    return [guessed(facts, going) for going in goings]


def _because(facts: Facts, goings: list[Going]) -> str:
    """The evidence of the first of them that has any."""
    return next(
        (
            guess.because
            for guess in _guesses(facts, goings)
            if guess is not None and guess.looks_like in OVERRUNS
        ),
        "",
    )


FINDER: Final = PATTERN.finder(40, found_crash_loops, more=(Row(kinds=("left_and_back",), incident=True),))
