"""Silent: members that were assigned partitions and committed none of them.

Needs: offset commits in the log, and topics whose names are known (commits name topics, assignments their ids).
Claims: since when, until when, which partitions stopped, whether it resumed, was removed or still is silent. Inferred, always.
Cannot know: whether records were read and not committed; how many waited; anything of a client that never commits to Kafka.
See ``groups.history.evidence.rhythm`` for the evidence that is asked for.
"""

from __future__ import annotations

from typing import Final, TypedDict

from groups.history.evidence.paces import SILENCE_LEAST_MS, Silence, Stop
from groups.history.findings.declaring import Declared, Row, each_of
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration, lasting, listed_partitions

SHOWN_MAX: Final = 100
"""Silences, and stops, that stand among the findings, the longest ones."""

ENDS: Final = {
    "resumed": "until it committed again",
    "removed": "until it was removed",
    "replaced": "until another process took its place",
}


class SilentSpan(TypedDict):
    """A member that was assigned and silent, as a board draws it (open dots): each partition from its last commit on.

    ``to_ms`` and ``to_sequence`` are ``None`` where it lasts to the log's end.
    """

    member: str
    from_ms: int
    to_ms: int | None
    from_sequence: int
    to_sequence: int | None
    ended: str
    """``resumed``, ``removed``, ``replaced``, or ``open`` to the log's end."""
    partitions: list[SilentPartition]


class SilentPartition(TypedDict):
    topic: str
    partition: int
    from_ms: int
    from_sequence: int


def silent_spans(facts: Facts) -> list[SilentSpan]:
    return [
        SilentSpan(
            member=one.member,
            from_ms=one.from_ms,
            to_ms=None if one.ended == "open" else one.to_ms,
            from_sequence=one.from_sequence,
            to_sequence=None if one.ended == "open" else one.to_sequence,
            ended=one.ended,
            partitions=[
                SilentPartition(
                    topic=stop.topic,
                    partition=stop.partition,
                    from_ms=stop.from_ms,
                    from_sequence=stop.from_sequence,
                )
                for stop in one.stops
            ],
        )
        for one in sorted(facts.silences, key=lambda one: (one.from_sequence, one.member))
    ]


def found_silent(facts: Facts) -> list[Finding]:
    """``silent``: of a member; the longest first. ``steps`` are where the silences of the same process begin."""
    longest_first = sorted(facts.silences, key=lambda one: (-one.length_ms, one.from_sequence))
    return [_silent(one, facts, len(longest_first)) for one in longest_first[:SHOWN_MAX]]


def _silent(one: Silence, facts: Facts, count: int) -> Finding:
    name = facts.process(one.member)
    places = facts.partitions((stop.topic, stop.partition) for stop in one.stops)
    what = listed_partitions(places)
    if one.ended == "open":
        text = f"{name} is assigned {what} and has been silent for {duration(one.length_ms)}"
    else:
        text = f"{name} was assigned {what} and silent for {duration(one.length_ms)}, {ENDS[one.ended]}"
    return finding(
        "silent",
        text,
        [one.from_sequence] if one.ended == "open" else [one.from_sequence, one.to_sequence],
        certain=False,
        member=one.member,
        name=name,
        partitions=places,
        from_ms=one.from_ms,
        to_ms=None if one.ended == "open" else one.to_ms,
        length_ms=one.length_ms,
        ended=one.ended,
        open=one.ended == "open",
        count=count,
    )


def found_stopped(facts: Facts) -> list[Finding]:
    """``stopped``: a partition whose commits stopped for longer than its rhythm allows, though records had come meanwhile.

    It holds the time in which its owner was silent and the time without an owner, and is what its readers missed; not the time
    in which the group was empty, when nobody was to read.
    """
    stops = [(stop, _empty_ms(facts, stop)) for stop in facts.rhythm.longest_stops() if _missed(stop)]
    stops = [(stop, empty) for stop, empty in stops if stop.length_ms - empty > SILENCE_LEAST_MS]
    stops.sort(key=lambda one: one[1] - one[0].length_ms)
    return [
        finding(
            "stopped",
            f"No commit of {stop.topic}-{stop.partition} for {duration(stop.length_ms - empty)}"
            f"{lasting(empty, ', beside ')}{' in which the group was empty' if empty else ''}",
            [stop.from_sequence, stop.to_sequence or stop.from_sequence],
            certain=False,
            partition=f"{stop.topic}-{stop.partition}",
            from_ms=stop.from_ms,
            to_ms=stop.to_ms,
            length_ms=stop.length_ms - empty,
            count=len(stops),
        )
        for stop, empty in stops[:SHOWN_MAX]
    ]


def _empty_ms(facts: Facts, stop: Stop) -> int:
    """For how long of a stop the group had no member."""
    to_ms = stop.to_ms or facts.last_ms
    spans = [
        (max(one.from_ms, stop.from_ms), min(facts.last_ms if one.to_ms is None else one.to_ms, to_ms))
        for one in facts.lives.emptied
    ]
    return sum(max(end - begin, 0) for begin, end in spans)


def _missed(stop: Stop) -> bool:
    """Whether records had come while nobody committed: at least half of what usually comes."""
    return stop.expected > 0 and (stop.moved or 0) * 2 >= stop.expected


FINDER: Final = Declared(
    place=110,
    find=each_of(found_silent, found_stopped),
    rows=(Row(kinds=("silent", "stopped"), needs="commits", incident=True),),
)
