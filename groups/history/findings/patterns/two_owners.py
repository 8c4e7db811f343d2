"""Two owners: a partition that two members have at once, so that its records are read twice.

Needs: records of assignments. Claims: which partitions, both members, since when and until when. Where records are missing since the
last one of the earlier owner, a release may be among them: then the gap is named (``release_missing``), and no two owners.
Cannot know: which of the two read what; why the coordinator, or a classic group's leader, gave the partition away.
"""

from __future__ import annotations

from typing import Final, cast

from groups.history.findings.declaring import Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.patterns.pattern import RECORDS, Pattern, Severity
from groups.history.words import lasting, listed_partitions

PATTERN: Final = Pattern(
    kind="two_owners",
    title="Two owners",
    severity=Severity.CRITICAL,
    rank=5,
    sources=((RECORDS,),),
    look_for="a member is given a partition that another member still has",
    causes=(
        "a fault of the coordinator (KAFKA-16147, before 3.7: it lost the epochs of partitions)",
        "an assignor of a classic group's leader that gives a partition twice",
    ),
    look_at=(
        "not the speed of a consumer: for a slow one the next owner waits, and is no owner meanwhile",
        "the release of the brokers",
        "the leader's assignor",
        "what the application writes: records of these partitions were read by both",
    ),
    classic=(
        "an assignor of a classic group's leader that gives a partition twice",
        "the leader's assignor",
    ),
    consumer=(
        "a fault of the coordinator (KAFKA-16147, before 3.7: it lost the epochs of partitions)",
        "the release of the brokers",
    ),
)

SHOWN_MAX: Final = 20
"""Times of two owners among the findings, by their beginning."""

Both = tuple[str, str, int, int | None]
"""The earlier owner and the later one, the step in which they were two, and that after which they were not."""


def found_two_owners(facts: Facts) -> list[Finding]:
    """``two_owners`` and ``release_missing``: what began and ended together as one."""
    shared: dict[Both, list[tuple[str, int]]] = {}
    times: dict[Both, tuple[int, int | None, bool]] = {}
    for key, one, over in facts.ownership.shared.all():
        both = (one.first, one.second, one.from_sequence, None if over is None else over.to_sequence)
        shared.setdefault(both, []).append(key)
        times[both] = (one.from_ms, None if over is None else over.to_ms, one.gap)
    ordered = sorted(shared, key=lambda both: (both[2], both[3] or facts.last_sequence, both[:2]))
    return [
        _finding(facts, both, facts.partitions(shared[both]), *times[both]) for both in ordered[:SHOWN_MAX]
    ]


def _finding(
    facts: Facts, both: Both, places: list[str], from_ms: int, to_ms: int | None, gap: bool
) -> Finding:
    first, second, sequence, until = both
    earlier, later, what = facts.name(first), facts.name(second), listed_partitions(places)
    steps = [sequence] if until is None else [sequence, until]
    length_ms = max((facts.last_ms if to_ms is None else to_ms) - from_ms, 0)
    them = "it" if len(places) == 1 else "them"
    fields = {
        "members": [first, second],
        "names": [earlier, later],
        "partitions": places,
        "from_ms": from_ms,
        "to_ms": to_ms,
        "length_ms": length_ms,
        "open": to_ms is None,
        "count": facts.ownership.shared.count,
        "steps": steps,
    }
    if gap:
        text = f"{later} got {what}, and the log has no release by {earlier}: records are missing before it, which can explain that"
        return finding("release_missing", text, steps, certain=False, more=fields)
    had = f"{later} got {what} while {earlier} still had {them}"
    found = PATTERN.found(f"{had}{lasting(length_ms, ', for ')}", steps, needs=[RECORDS])
    return cast(Finding, {**found, **fields})


FINDER: Final = PATTERN.finder(
    5,
    found_two_owners,
    more=(Row(kinds=("release_missing",), needs="records"),),
)
