"""Moves: partitions that went from one owner to another.

Needs: records of assignments. Claims: each move, how many of how many partitions after the group had formed, and whether all
followed one process's coming and going. Cannot know: what the clients themselves held.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import counted


def found_moves(facts: Facts) -> Iterator[Finding]:
    """``moves`` (all of them, with ``moved`` and ``distinct`` after forming, ``follows``), then each as ``moved``."""
    own = facts.ownership
    if not own.moves_count:
        return
    count = own.moves_count
    noun = facts.wording.noun
    text = f"{counted(count, noun)} moved"
    after = own.moved_count
    # A topic's name may be known only since some of them had moved.
    distinct = len({(facts.topic_names.get(topic, topic), number) for topic, number in own.moved})
    if after and after != distinct:
        text = f"{counted(after, 'move')} of {counted(distinct, noun)}"
    elif after:
        text = f"{counted(after, noun)} moved"
    # Where others came and went at the same time, too, nothing shows whose moves they were.
    follows = list(own.followed) if list(own.followed.values()) == [after] else []
    later_moves = [move for move in own.moves if not facts.lives.is_forming(move[5])]
    yield finding(
        "moves",
        text,
        [own.moves_last_sequence],
        count=count,
        after_forming=after,
        distinct=distinct,
        noun=noun,
        released_before_taken=not own.overlapped and not facts.contradicted,
        follows=facts.process(follows[0]) if follows and after >= 3 else None,
        steps=sorted({move[5] for move in later_moves}),
    )
    for topic, partition, before, to, released, taken, at_ms in own.moves:
        name = facts.partition(topic, partition)
        text = f"{name} moved from {facts.name(before)} to {facts.name(to)}"
        sequences = [released, taken] if released != taken else [taken]
        yield finding(
            "moved",
            text,
            sequences,
            partition=name,
            at_ms=at_ms,
            forming=facts.lives.is_forming(taken),
            more={"from": before, "to": to},
        )


FINDER: Final = Declared(
    place=130,
    find=found_moves,
    rows=(Row(kinds=("moves", "moved"), needs="records"),),
)
