"""Planted lies: what is said of a recording, moved to another time or another client, is found to be false."""

from __future__ import annotations

import pytest

from .claims import Claim
from .facts import recorded_names
from .judge import Judgement
from .telling import told_by
from .truth import OF_WORK, false_because

NAMES = recorded_names()
AWAY_MS = 600_000
"""Beyond the end of the recordings that are held against it, which last two minutes."""

TIMELESS = frozenset(
    {
        "epochs",
        "commits",
        "moves",
        "matched",
        "gap",
        "group_type",
        "midway",
        "began",
        "emptied",
        "flapping",
        "crash_loop",
        "left_and_back",
        "poll_interval_exceeded",
    }
)
"""Kinds that are judged by how often something happened, or by the log as a whole."""

SHORT = tuple(name for name in NAMES if name != "quiet-hour")


def moved(claim: Claim) -> Claim:
    return claim._replace(
        from_ms=claim.from_ms + AWAY_MS,
        to_ms=None if claim.to_ms is None else claim.to_ms + AWAY_MS,
        steps_ms=tuple(step + AWAY_MS for step in claim.steps_ms),
    )


@pytest.mark.parametrize("name", SHORT)
def test_what_is_said_of_another_time_is_false(judged: dict[str, Judgement], name: str) -> None:
    one = judged[name]
    unjudged = OF_WORK if one.world.of("group_type") else frozenset[str]()
    lies = [
        moved(claim)
        for claim in one.said.claims
        if claim.kind not in TIMELESS | {"stable", "idle_members"} | unjudged
    ]
    assert lies
    assert [lie.says for lie in lies if false_because(lie, one.world) is None] == []


@pytest.mark.parametrize("name", SHORT)
def test_a_fact_is_not_told_by_what_is_said_of_another_time(judged: dict[str, Judgement], name: str) -> None:
    one = judged[name]
    lies = one.said._replace(
        claims=tuple(moved(claim) for claim in one.said.claims if claim.kind not in TIMELESS)
    )
    found = [
        fact["sentence"]
        for fact, _ in one.told
        if fact["kind"] not in ("idle_member", "scaled", "quiet", "group_type")
        and told_by(fact, lies, one.world)
    ]
    assert found == []


@pytest.mark.parametrize("name", SHORT)
def test_a_silence_or_removal_of_somebody_who_was_not_there_is_false(
    judged: dict[str, Judgement], name: str
) -> None:
    one = judged[name]
    lies = [
        claim._replace(clients=("somebody",))
        for claim in one.said.claims
        if claim.kind in ("silent", "away", "removed", "joined", "waited_for")
    ]
    assert [lie.says for lie in lies if false_because(lie, one.world) is None] == []


@pytest.mark.parametrize("name", SHORT)
def test_without_findings_nothing_is_told(judged: dict[str, Judgement], name: str) -> None:
    one = judged[name]
    assert [fact for fact, _ in one.told if told_by(fact, one.said._replace(claims=()), one.world)] == []
