"""Idle members: members that hold nothing while the group is at rest, as where there are more members than partitions.

Needs: records of assignments. Claims: who, since when, until when or to the log's end, and how many partitions the group shares.
Cannot know: whether they are meant to stand by.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.lives import IDLE_LEAST_MS
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.state.group import Protocol
from groups.history.words import CONNECT_TASKS, counted, duration, is_or_are, listed, listed_partitions


def found_idle(facts: Facts) -> list[Finding]:
    """``idle_members``: those of the log's end as one, then each that was idle before.

    A streams group's members may hold copies of tasks: of those nothing is said.
    """
    return [*_still(facts), *_before(facts)] if facts.frame["protocol"] != Protocol.STREAMS else []


def _still(facts: Facts) -> Iterator[Finding]:
    idle = {
        member_id: since
        for member_id, since in facts.lives.idle.items()
        if facts.last_ms - since[0] >= IDLE_LEAST_MS and member_id in facts.members
    }
    if facts.frame["state"] != "Stable" or not idle or len(idle) == len(facts.members):
        return
    names = sorted(facts.name(member_id) for member_id in idle)
    latest, noun = max(since for since, _ in idle.values()), facts.wording.noun
    shared = len({place for one in facts.members.values() for place in _held(one["assigned"])})
    why = ""
    if len(facts.members) > shared:
        why = f" ({len(facts.members):,} members share {counted(shared, noun)})"
    text = f"{listed(names)} {is_or_are(names)} idle{why}: no {noun} for {duration(facts.last_ms - latest)}"
    steps = sorted({sequence for _, sequence in idle.values()})
    yield finding(
        "idle_members",
        text,
        steps,
        members=sorted(idle),
        names=names,
        from_ms=latest,
        to_ms=None,
        length_ms=facts.last_ms - latest,
        open=True,
        count=len(idle),
        steps=steps,
    )


def _before(facts: Facts) -> Iterator[Finding]:
    noun = facts.wording.noun
    # Of a member that was there before the log, or where records are missing, an assignment may be unknown.
    unknown = set(facts.began["members"]) if facts.began is not None else set()
    # A log in which no topic is named, of lines of a coordinator, has no assignments at all; workers of Kafka Connect share no topics.
    assigned = facts.frame["topics"] or facts.wording is CONNECT_TASKS
    for one in facts.lives.idled if not facts.notes.gaps and assigned else ():
        if one.member in unknown:
            continue
        name = facts.process(one.member)
        got = facts.partitions(one.places)
        how = f"it got {listed_partitions(got, noun)}" if got else "it got a connector"
        how = "it was gone" if one.gone else how
        yield finding(
            "idle_members",
            f"{name} was idle for {duration(one.to_ms - one.from_ms)}, without a {noun}, until {how}",
            [one.from_sequence, one.to_sequence],
            members=[one.member],
            names=[name],
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=one.to_ms - one.from_ms,
            open=False,
            count=1,
            steps=[one.from_sequence],
        )


def _held(assigned: object) -> list[tuple[str, int]]:
    return (
        [(topic, number) for topic, numbers in assigned.items() for number in numbers]
        if isinstance(assigned, dict)
        else []
    )


FINDER: Final = Declared(
    place=180,
    find=found_idle,
    rows=(Row(kinds=("idle_members",), incident=True),),
)
