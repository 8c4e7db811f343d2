"""Rolling restart: several processes that each went and came back once, one after the other.

Needs: records. Claims: who, from when to when, how long each was away. Static members that leave for now and come back are told
by their replacements. Cannot know: that somebody meant it.
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row, Section
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.repeated import spans
from groups.history.words import listed

AWAY_MOST_MS: Final = 120_000
APART_MOST_MS: Final = 300_000
"""A deployment waits for a process to be ready before it takes the next; beyond this it is no chain."""

PROCESSES_LEAST: Final = 2


def found_rolling_restarts(facts: Facts) -> list[Finding]:
    """``rolling_restart``: each chain; ``steps`` are where the processes went."""
    bounces = [
        (going.at_ms, going.sequence, going.lane, going.back_ms, going.back_sequence or going.sequence)
        for going in facts.lives.goings
        if going.back_ms is not None
        and not going.back_same_id
        and going.back_ms - going.at_ms <= AWAY_MOST_MS
    ]
    bounces += [
        (one["at_ms"], one["sequence"], facts.cast.lane(one["new"]), one["at_ms"], one["sequence"])
        for one in facts.troubles.kept["replaced"]
        if one.get("at_ms") is not None
    ]
    bounces.sort(key=lambda bounce: bounce[:2])
    chains: list[list[tuple[int, int, str, int, int]]] = []
    for bounce in bounces:
        last = chains[-1] if chains else None
        if last is None or bounce[0] - last[-1][0] > APART_MOST_MS:
            chains.append([bounce])
        else:
            last.append(bounce)
    found = []
    for chain in chains:
        lanes = [bounce[2] for bounce in chain]
        # Who bounces twice is in trouble of its own; who went at the same moment did not go one after the other.
        together = len({bounce[1] for bounce in chain}) < len(chain)
        if len(set(lanes)) < PROCESSES_LEAST or len(set(lanes)) < len(lanes) or together:
            continue
        names = [facts.process(lane) for lane in lanes]
        found.append(
            finding(
                "rolling_restart",
                f"{listed(names)} were restarted one after the other",
                spans(bounce[1] for bounce in chain),
                certain=False,
                names=names,
                lanes=lanes,
                from_ms=chain[0][0],
                to_ms=max(bounce[3] for bounce in chain),
                count=len(chain),
                steps=spans(bounce[1] for bounce in chain),
            )
        )
    return found


FINDER: Final = Declared(
    place=50,
    find=found_rolling_restarts,
    rows=(
        Row(
            kinds=("rolling_restart",),
            says="two processes or more that each went and came back once, one after the other",
            incident=True,
            section=Section.PATTERNS,
        ),
    ),
)
