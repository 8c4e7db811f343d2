"""Rebalance storm: group epochs (or generations) that follow each other without a rest, because the same processes come and go.

Needs: records. Claims: from when to when, how many epochs, who went how often. A deployment that takes each process once, or a
scale-up, is no storm. Cannot know: the cause behind the causes (a deployment system, memory, a network).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.findings.patterns.poll_interval import found_overruns
from groups.history.findings.patterns.restart_advice import restart_advice
from groups.history.findings.patterns.short_rebalance_timeout import found_short
from groups.history.findings.repeated import usual_ms
from groups.history.findings.rolling_restart import APART_MOST_MS as ROLLING_APART_MOST_MS
from groups.history.findings.rolling_restart import bounces_of, chains, found_rolling_restarts
from groups.history.story.epochs import EpochStart
from groups.history.words import counted, lasting, listed

CLASSIC: Final = ("session.timeout.ms and heartbeat.interval.ms (at most a third of it)",)
CONSUMER: Final = (
    "group.consumer.session.timeout.ms and group.consumer.heartbeat.interval.ms (at most a third of it)",
)

PATTERN: Final = Pattern(
    kind="storm",
    title="Rebalance storm",
    severity=Severity.CRITICAL,
    rank=95,
    sources=((RECORDS,),),
    look_for="eight epochs or more, at most 20 s apart or with restarts of three processes in turn, in which a process is removed "
    "three times or more",
    causes=(
        "a crash loop",
        "a session timeout that is shorter than the pauses of the process",
        "an autoscaler, or a deployment that restarts again and again",
    ),
    look_at=(
        "the exits of the processes that come and go",
        *CLASSIC,
        *CONSUMER,
        "how the processes end: group.instance.id helps against some restarts alone",
    ),
    classic=CLASSIC,
    consumer=CONSUMER,
)

EPOCHS_LEAST: Final = 8
APART_MOST_MS: Final = 20_000
"""Three epochs a minute or more: the group has no rest in between."""

IN_TURN_LEAST: Final = 3
"""Processes that are each restarted more than once, one after the other: fewer are loops of their own."""

TIMES_LEAST: Final = 3
"""Removals of one process within the stretch: a deployment in two bounces takes each of them twice."""

EXPLAINED_RANK: Final = 145
"""Of a storm whose processes have a pattern of their own, which has more."""


def found_storms(facts: Facts) -> Iterator[Finding]:
    """``storm``: each stretch; ``steps`` are where its epochs begin."""
    stretches: list[list[EpochStart]] = []
    in_turn = list(_in_turn(facts))
    for start in facts.epochs.starts:
        last_ms = stretches[-1][-1]["at_ms"] if stretches else start["at_ms"]
        follows = start["at_ms"] - last_ms <= APART_MOST_MS
        if stretches and (follows or any(one <= last_ms and start["at_ms"] <= to for one, to in in_turn)):
            stretches[-1].append(start)
        else:
            stretches.append([start])
    explains: dict[str, str] = {str(one["name"]): one["title"] for one in found_overruns(facts)}
    explains |= {name: one["title"] for one in found_short(facts) for name in one["names"]}
    for stretch in stretches:
        first, last = stretch[0]["sequence"], stretch[-1]["sequence"]
        goings = [going for going in facts.lives.goings if first <= going.sequence <= last]
        lanes = [going.lane for going in goings]
        often = max(Counter(lanes).values(), default=0)
        if len(stretch) < EPOCHS_LEAST or often < TIMES_LEAST:
            continue
        names = sorted({facts.process(lane) for lane in lanes if lanes.count(lane) > 1})
        length = stretch[-1]["at_ms"] - stretch[0]["at_ms"]
        titles = dict.fromkeys(explains.get(name, "") for name in names)
        explained_by = "" if "" in titles else listed(list(titles))
        word = "generation" if stretch[-1].get("classic") else "group epoch"
        yield PATTERN.found(
            f"{counted(len(stretch), word)}{lasting(length, ' in ')}, as {listed(names)} came and went",
            [first, last],
            needs=[RECORDS],
            rank=EXPLAINED_RANK if explained_by else PATTERN.rank,
            advice=restart_advice(facts, goings),
            explained_by=explained_by,
            names=names,
            from_ms=stretch[0]["at_ms"],
            to_ms=stretch[-1]["at_ms"],
            length_ms=length,
            count=len(stretch),
            steps=[start["sequence"] for start in stretch],
        )


def _in_turn(facts: Facts) -> Iterator[tuple[int, int]]:
    """From when to when processes are restarted in turn, without a break of twice the usual one; no rolling restart."""
    rolling = {step for one in found_rolling_restarts(facts) for step in one["steps"]}
    for chain in chains(bounces_of(facts), ROLLING_APART_MOST_MS):
        for part in chains(chain, 2 * usual_ms([bounce.at_ms for bounce in chain])):
            times = Counter(bounce.lane for bounce in part).values()
            if sum(often > 1 for often in times) >= IN_TURN_LEAST and part[0].sequence not in rolling:
                yield part[0].at_ms, max(bounce.back_ms for bounce in part)


FINDER: Final = PATTERN.finder(60, found_storms)
