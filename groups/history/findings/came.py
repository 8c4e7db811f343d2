"""Came: who was there, who joined, and when the group had formed.

Needs: records. Claims: the order of joining; that the log begins in the middle, where its first records show a past.
Cannot know: when a process began.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import counted, lasting, listed


def found_came(facts: Facts) -> Iterator[Finding]:
    """``midway``, ``began``, ``formed``, and each ``joined`` (``again``: the ordinal of its process's joins)."""
    lives, midway, began = facts.lives, facts.midway, facts.began
    if midway is not None:
        yield finding("midway", "The log begins in the middle", [midway])
    if began is not None:
        who = list(dict.fromkeys(facts.process(member_id) for member_id in began["members"]))
        count = began["count"]
        whom = listed(who) if count == len(began["members"]) else counted(count, "member")
        text = f"{whom} {'was already a member' if count == 1 else 'were already members'}"
        yield finding("began", text, [began["sequence"]], members=began["members"], names=who, count=count)
    forming = lives.forming
    if forming is not None:
        names = [facts.process(one.member) for one in lives.comings if lives.is_forming(one.sequence)]
        names = list(dict.fromkeys(names))
        took = forming.to_ms - forming.from_ms
        starts = [start for start in facts.epochs.starts if lives.is_forming(start["sequence"])]
        joined = len(names) if len(lives.comings) == lives.comings_count else max(len(names), forming.joined)
        whom = listed(names) if joined == len(names) else counted(joined, "member")
        text = f"The group formed with {whom}{lasting(took, ' in ')}"
        yield finding(
            "formed",
            text,
            [forming.sequence],
            names=names,
            joined=joined,
            from_ms=forming.from_ms,
            to_ms=forming.to_ms,
            length_ms=took,
            first=starts[0]["epoch"] if starts else None,
            last=starts[-1]["epoch"] if starts else None,
            classic=bool(starts) and bool(starts[-1].get("classic")),
            steps=[one.sequence for one in lives.comings if lives.is_forming(one.sequence)],
        )
    for one in lives.comings:
        name = facts.process(one.member)
        yield finding(
            "joined",
            f"{name} {'joined' if one.again == 1 else 'rejoined'}",
            [one.sequence],
            member=one.member,
            name=name,
            lane=one.lane,
            at_ms=one.at_ms,
            again=one.again,
            same_id=one.same_id,
            count=lives.comings_count,
            forming=lives.is_forming(one.sequence),
        )


FINDER: Final = Declared(
    place=20,
    find=found_came,
    rows=(Row(kinds=("midway", "began", "formed", "joined"), needs="records"),),
)
