"""Rolling restart: several processes that each went and came back once, one after the other; in one round, or in two or three.

Needs: records. Claims: who, from when to when, how long each was away. Static members that leave for now and come back are reported
by their replacements. Cannot know: that somebody meant it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.repeated import spans
from groups.history.words import listed

AWAY_MOST_MS: Final = 120_000
APART_MOST_MS: Final = 300_000
"""A deployment waits for a process to be ready before it takes the next; beyond this it is no chain."""

PROCESSES_LEAST: Final = 2

ROUNDS_MOST: Final = 3
"""An upgrade takes two (KIP-429); processes that are all restarted more often than this are in trouble."""


class Bounce(NamedTuple):
    """A process that went, and when it was back."""

    at_ms: int
    sequence: int
    lane: str
    back_ms: int


def found_rolling_restarts(facts: Facts) -> Iterator[Finding]:
    """``rolling_restart``: each chain; ``steps`` are where the processes went."""
    for chain in chains(bounces_of(facts), APART_MOST_MS):
        rounds = _rounds(chain, facts)
        for number, bounced in enumerate(rounds, 1):
            lanes = [bounce.lane for bounce in bounced]
            names = [facts.process(lane) for lane in lanes]
            steps = spans(bounce.sequence for bounce in bounced)
            which = f" (round {number} of {len(rounds)})" if len(rounds) > 1 else ""
            yield finding(
                "rolling_restart",
                f"{listed(names)} were restarted one after the other{which}",
                steps,
                certain=False,
                names=names,
                lanes=lanes,
                from_ms=bounced[0].at_ms,
                to_ms=max(bounce.back_ms for bounce in bounced),
                count=len(bounced),
                steps=steps,
                round=number,
                rounds=len(rounds),
            )


def bounces_of(facts: Facts) -> list[Bounce]:
    """Processes that went and came back under another member id, in order."""
    bounces = [
        Bounce(going.at_ms, going.sequence, going.lane, going.back_ms)
        for going in facts.lives.goings
        if going.back_ms is not None
        and not going.back_same_id
        and going.back_ms - going.at_ms <= AWAY_MOST_MS
    ]
    bounces += [
        Bounce(one["at_ms"], one["sequence"], facts.cast.lane(one["new"]), one["at_ms"])
        for one in facts.troubles.kept["replaced"]
        if one.get("at_ms") is not None
    ]
    return sorted(bounces, key=lambda bounce: bounce[:2])


def chains(bounces: Iterable[Bounce], apart_most_ms: int) -> list[list[Bounce]]:
    """Restarts that follow each other."""
    found: list[list[Bounce]] = []
    for bounce in bounces:
        if found and bounce.at_ms - found[-1][-1].at_ms <= apart_most_ms:
            found[-1].append(bounce)
        else:
            found.append([bounce])
    return found


def _rounds(chain: Sequence[Bounce], facts: Facts) -> list[list[Bounce]]:
    """The chain as one round, or as rounds that each restart every member once; none where it is no rolling restart.

    A process that goes more often than the others is in trouble of its own. Processes that went at the same moment, or were all away
    together, did not go one after the other.
    """
    if len({bounce.sequence for bounce in chain}) < len(chain):
        return []
    rounds: list[list[Bounce]] = [[]]
    for bounce in chain:
        if bounce.lane in {each.lane for each in rounds[-1]}:
            rounds.append([])
        rounds[-1].append(bounce)
    of_round = [{bounce.lane for bounce in one} for one in rounds]
    away_together = any(one[-1].at_ms < min(bounce.back_ms for bounce in one) for one in rounds)
    if len(of_round[0]) < PROCESSES_LEAST or away_together:
        return []
    if len(rounds) == 1:
        return rounds
    members = {facts.cast.lane(member) for member in facts.members}
    same = all(lanes == of_round[0] for lanes in of_round) and members <= of_round[0]
    return rounds if same and len(rounds) <= ROUNDS_MOST else []


FINDER: Final = Declared(
    place=50,
    find=found_rolling_restarts,
    rows=(Row(kinds=("rolling_restart",), incident=True),),
)
