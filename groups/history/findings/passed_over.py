"""Passed over: partitions whose committed offset did not move under several owners, one after the other, while others of their topic did.

Needs: offset commits in the log, and topics whose names are known. Claims: which partition, since when, up to the log's end, and who
had it meanwhile. Inferred. Cannot know: whether records come; whether one of them is read and fails each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.paces import Pace
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration, listed

SHOWN_MAX: Final = 100
"""As many as of silences, the longest ones."""


def found_passed_over(facts: Facts) -> Iterator[Finding]:
    """``passed_over``: each partition."""
    passed = [
        (pace, owners, names)
        for pace, owners in _standing(facts)
        if len(names := list(dict.fromkeys(facts.process(member) for member in owners))) > 1
    ]
    passed.sort(key=lambda one: (one[0].moved_ms, one[0].topic, one[0].partition))
    for pace, owners, names in passed[:SHOWN_MAX]:
        name, length_ms = facts.partition(pace.topic, pace.partition), facts.last_ms - pace.moved_ms
        yield finding(
            "passed_over",
            f"The committed offset of {name} has not moved from {pace.last_offset:,} for {duration(length_ms)}, across "
            f"{len(names)} owners ({listed(names)}), while others of its topic moved: no record came, or none of them got past one",
            [pace.moved_sequence],
            certain=False,
            partition=name,
            partitions=[name],
            names=names,
            members=owners,
            causes=["no record came", "a record on which each owner fails"],
            look_at=[
                f"the end of {name}'s log (kafka-get-offsets.sh): beyond {pace.last_offset:,} there are records to read",
                f"the record at offset {pace.last_offset:,}, and the owners' logs: what fails at it",
            ],
            from_ms=pace.moved_ms,
            to_ms=None,
            length_ms=length_ms,
            open=True,
            count=len(passed),
        )


def _standing(facts: Facts) -> list[tuple[Pace, list[str]]]:
    """Partitions whose offsets have not moved under several owners, while others of their topic did until now."""
    paces, newest = facts.rhythm.paces.values(), dict[str, int]()
    for pace in paces:
        newest[pace.topic] = max(newest.get(pace.topic, 0), pace.moved_ms)
    return [
        (pace, owners)
        for pace in paces
        if len(set(owners := pace.passed_over(facts.last_ms))) > 1
        and facts.last_ms - newest[pace.topic] <= pace.limit_ms
        and not pace.sparse
    ]


FINDER: Final = Declared(
    place=111,
    find=found_passed_over,
    rows=(Row(kinds=("passed_over",), needs="commits", incident=True),),
)
