"""What a stage noted, put together to the facts file: the script's acts, and what followed from them.

Four kinds of facts follow: members that the coordinator removed (its own log says so), members that came back under their
id, partitions that stayed assigned while nobody read them (*silent*), and partitions that were nobody's (*unassigned*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from .coordinator_log import Removal, arrivals, removals
from .facts import Fact, Facts, Kind, Process, Protocol, Reading
from .ledger import Hole, Stop

if TYPE_CHECKING:
    from .stage import Stage

MERGED_MS = 1_500
"""Holes of one process that begin this close to each other are one thing that happened."""

NOTABLE_MS = 1_500
"""A partition changes hands within a heartbeat or two; a hole that is no longer than this is no fact of an incident."""

COMMITS_MISSED = 3
"""A silence of fewer commits than this is not told from a commit that was late."""

COMMIT_MS = 2_000

SHORT = f"Clients commit every {COMMIT_MS // 1000} s; so short a silence is not told from a late commit."
CLEANED = "Kafka's cleaner has taken the records that told it."
IDLE = "Nothing is written to their topic, so that nothing is committed, whether somebody reads or not."
CLASSIC = "A classic group writes a record when a rebalance is over; of its joining phase there is none."


def finished(stage: Stage, *, title: str, done: str, protocol: Protocol, copied_ms: int) -> Facts:
    log = (stage.node.folder / "broker.log").read_text()
    gone = [each for each in removals(log, stage.group) if stage.began_ms <= each.at_ms < copied_ms]
    owners = {member: process for process in stage.processes for member in process["member_ids"]}
    facts = [
        *stage.facts,
        *_removed(stage, gone, owners),
        *_returned(stage, log, owners, copied_ms),
        *_once_empty(_unread(stage, gone, owners, copied_ms, classic=protocol == "classic")),
    ]
    for fact in facts:
        if fact["tellable"] and fact["at_ms"] < stage.cleaned_ms:
            fact |= {"tellable": False, "why_not": CLEANED}
    return Facts(
        incident=stage.name,
        title=title,
        done=done,
        group=stage.group,
        protocol=protocol,
        settings=stage.settings,
        began_ms=stage.began_ms,
        copied_ms=copied_ms,
        facts=sorted(facts, key=lambda each: each["at_ms"]),
        processes=stage.processes,
        readings={
            partition: [
                Reading(client_id=each.client_id, from_ms=each.from_ms, to_ms=each.to_ms)
                for each in sorted(stretches, key=lambda each: each.from_ms)
            ]
            for partition, stretches in sorted(stage.ledger.stretches.items())
        },
    )


def _removed(stage: Stage, gone: Iterable[Removal], owners: dict[str, Process]) -> Iterator[Fact]:
    overruns = [each for each in stage.facts if each["kind"] == "poll_overrun"]
    for each in gone:
        process = owners.get(each.member_id)
        if process is None:
            continue
        client, cause = process["client_id"], str(each.cause)
        if any(
            client in f["clients"] and f["at_ms"] <= each.at_ms <= f["at_ms"] + (f["duration_ms"] or 0)
            for f in overruns
        ):
            cause = "poll_overrun"
        if cause == "left":
            # The script made it leave, and noted that.
            continue
        yield Fact(
            at_ms=each.at_ms,
            kind="removed",
            sentence=f"The coordinator removes {client}: {cause.replace('_', ' ')}.",
            source="broker",
            clients=[client],
            partitions=[],
            duration_ms=None,
            tellable=True,
            cause=cause,
        )


def _returned(stage: Stage, log: str, owners: dict[str, Process], copied_ms: int) -> Iterator[Fact]:
    seen: set[str] = set()
    for each in arrivals(log, stage.group):
        if each.member_id in seen and each.member_id in owners and each.at_ms < copied_ms:
            client = owners[each.member_id]["client_id"]
            yield Fact(
                at_ms=each.at_ms,
                kind="rejoined",
                sentence=f"{client} joins again under its member id.",
                source="broker",
                clients=[client],
                partitions=[],
                duration_ms=None,
                tellable=True,
            )
        seen.add(each.member_id)


def _unread(
    stage: Stage, gone: list[Removal], owners: dict[str, Process], copied_ms: int, *, classic: bool
) -> Iterator[Fact]:
    seats = {(each.client_id, each.life): each.process for each in stage.clients}
    deleted = {each["detail"]: each["at_ms"] for each in stage.facts if each["kind"] == "topic_deleted"}
    holes = [
        each
        for each in stage.ledger.holes(copied_ms)
        if (each.to_ms or copied_ms) > stage.began_ms and not _is_of_deleted(each, deleted)
    ]

    def culprit(hole: Hole) -> tuple[str, int, Stop]:
        return hole.client_id, hole.life, hole.stop

    for (client, life, stop), one in groupby(
        sorted(holes, key=lambda h: (culprit(h), h.from_ms)), key=culprit
    ):
        process = seats[client, life]
        for several in _together(list(one)):
            start = min(hole.from_ms for hole in several)
            until = max(hole.to_ms or copied_ms for hole in several)
            partitions = sorted({hole.partition for hole in several})
            if until - start < NOTABLE_MS:
                continue
            removal = next(
                (
                    each.at_ms
                    for each in gone
                    if owners.get(each.member_id) is process and start <= each.at_ms <= until
                ),
                None,
            )
            if stop == "revoked" and stage.revoke_ms[client, life] >= NOTABLE_MS:
                yield _hole_fact("revocation_slow", client, stop, partitions, start, until)
                continue
            if not any(_is_alive(each, start, until) for each in stage.processes):
                yield _hole_fact("emptied", client, stop, partitions, start, until)
                continue
            if stop == "revoked" or (stop == "left" and process["instance_id"] is None):
                yield _hole_fact("unassigned", client, stop, partitions, start, until, classic=classic)
                continue
            # Its member stays, and has them, until the coordinator removes it; a static one that left keeps its place.
            silent_until = until if removal is None else removal
            idle = [each for each in partitions if each.rpartition("-")[0] in stage.idle_topics]
            if busy := [each for each in partitions if each not in idle]:
                yield _hole_fact("silent", client, stop, busy, start, silent_until, classic=classic)
            if idle:
                unheard = _hole_fact("silent", client, stop, idle, start, silent_until, classic=classic)
                yield unheard | {"tellable": False, "why_not": IDLE}
            if until - silent_until >= NOTABLE_MS:
                yield _hole_fact("unassigned", client, stop, partitions, silent_until, until, classic=classic)


def _once_empty(facts: Iterable[Fact]) -> Iterator[Fact]:
    """The group is empty when the last of its members has left: each of them leaves a hole of its own."""
    empty: list[Fact] = []
    for fact in facts:
        if fact["kind"] == "emptied":
            empty.append(fact)
        else:
            yield fact
    if empty:
        yield max(empty, key=lambda each: each["at_ms"])


def _is_alive(process: Process, from_ms: int, to_ms: int) -> bool:
    """Whether it was there in the middle of that time."""
    middle = (from_ms + to_ms) // 2
    return process["started_ms"] < middle and (process["ended_ms"] is None or process["ended_ms"] > middle)


def _is_of_deleted(hole: Hole, deleted: Mapping[str, int]) -> bool:
    """What is deleted is nobody's loss."""
    at_ms = deleted.get(hole.partition.rpartition("-")[0])
    return at_ms is not None and (hole.to_ms is None or hole.to_ms > at_ms)


def _together(holes: list[Hole]) -> Iterator[list[Hole]]:
    several: list[Hole] = []
    for hole in holes:
        if several and hole.from_ms - several[0].from_ms > MERGED_MS:
            yield several
            several = []
        several.append(hole)
    if several:
        yield several


_SENTENCES: Mapping[Kind, str] = {
    "silent": "{partitions} stay assigned to {client}, which reads nothing for {seconds:.1f} s ({stop}).",
    "unassigned": "{partitions} are nobody's for {seconds:.1f} s, after {client} ({stop}).",
    "emptied": "The group has no member for {seconds:.1f} s; {client} was the last.",
    "revocation_slow": "{client} takes {seconds:.1f} s until another client has {partitions}.",
}


def _hole_fact(
    kind: Kind,
    client: str,
    stop: Stop,
    partitions: list[str],
    from_ms: int,
    to_ms: int,
    *,
    classic: bool = False,
) -> Fact:
    duration_ms = to_ms - from_ms
    fact = Fact(
        at_ms=from_ms,
        kind=kind,
        sentence=_SENTENCES[kind].format(
            partitions=", ".join(partitions),
            client=client,
            seconds=duration_ms / 1000,
            stop=stop.replace("_", " "),
        ),
        source="client",
        clients=[client],
        partitions=partitions,
        duration_ms=duration_ms,
        tellable=True,
        cause=stop,
    )
    # A static member of the consumer protocol that left is in the log with member epoch -2, however short it is away.
    if kind == "silent" and (stop != "left" or classic) and duration_ms < COMMITS_MISSED * COMMIT_MS:
        fact |= {"tellable": False, "why_not": SHORT}
    elif kind == "unassigned" and classic:
        fact |= {"tellable": False, "why_not": CLASSIC}
    return fact
