"""Committed offsets that were set, lost or fought over.

Needs: offset commits in the log; who held a partition needs records of the group, and topics whose names are known.
Claims: which partitions went back, from which offset to which, under whom; what was committed or deleted while the group had no
member; which partitions two write; which are committed though no member holds them.
Cannot know: who sent a commit (records do not contain it), whether the records in between were read twice or are gone, why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from groups.history.evidence.positions import Back, Burst, Moved, Series
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.repeated import several
from groups.history.words import counted, duration, listed_partitions, was_or_were

TOGETHER_MS: Final = 3_000
"""Steps back this close to each other, for one reason and under one owner, are one."""

SHOWN_MAX: Final = 50
"""Findings of one kind, the first ones."""

TURNS_LEAST: Final = 3
"""So often a partition's offset goes back under one owner before two are said to write it: once may be a seek."""

UNOWNED_LEAST: Final = 3
"""Commits of a partition that nobody holds, over at least ``UNOWNED_LEAST_MS``: one may come late from a former owner."""

UNOWNED_LEAST_MS: Final = 5_000

NEEDS: Final = ["records", "commits"]

RESET: Final = "to set it right: stop the group, then kafka-consumer-groups.sh --reset-offsets --to-offset {before}, first with --dry-run"

WHO_COMMITS: Final = "who commits: the brokers' request log (kafka.request.logger at DEBUG) has the client id and address of each OffsetCommit"

BACK_CAUSES: Final = {
    "handover": (
        "a new owner that did not begin at the committed offset: it sought, keeps its positions elsewhere, or resumed from a position of its own",
        "a committed offset outside of what the partition has (retention, an unclean election), so that auto.offset.reset applied",
    ),
    "owner": (
        "an application that sought back, or commits its batches out of order",
        "a second program that commits to this group (a script, an administrator's tool)",
    ),
    "deleted": (
        "no offset was there when a client began, so auto.offset.reset applied (earliest begins at the log's start)",
    ),
}
"""What usually brings an offset back, by ``why``."""

BACK_LOOK_AT: Final = {
    "handover": (
        "the client, not the rebalance: a rebalance changes no committed offset; {name} committed the lower one",
        "the log of {name} as it got the partition: the position from which it fetches, calls of seek, resets (auto.offset.reset)",
        "what {name} does in onPartitionsAssigned, and the release of its client library",
    ),
    "owner": ("calls of seek and commit in {name}, with the offsets that they pass",),
    "deleted": ("offsets.retention.minutes, and who deletes offsets", "auto.offset.reset of the clients"),
}
"""Where to look, by ``why``."""


def found_back(facts: Facts) -> list[Finding]:
    """``offset_back``: each time; ``why`` is ``handover``, ``owner``, ``deleted`` or ``unknown``."""
    # A topic that was made again restarts: its deleted offsets show that.
    again = [(one.sequence, one.last_sequence) for one in facts.positions.deletions if not one.is_empty]
    twice = {(one.topic, one.partition) for one in _turning(facts)}
    groups: list[list[Back]] = []
    for one in facts.positions.backs:
        if (one.topic, one.partition) in twice and one.why in ("owner", "unknown"):
            continue
        if one.why == "deleted" and any(first <= one.since <= last for first, last in again):
            continue
        last = groups[-1] if groups else None
        alike = last is not None and (last[0].why, last[0].holder, last[0].giver) == (
            one.why,
            one.holder,
            one.giver,
        )
        if last is not None and alike and one.at_ms - last[0].at_ms <= TOGETHER_MS:
            last.append(one)
        else:
            groups.append([one])
    return [_back(some, facts, len(groups)) for some in groups[:SHOWN_MAX]]


def _back(some: Sequence[Back], facts: Facts, count: int) -> Finding:
    most = max(some, key=lambda one: (one.before - one.offset, -one.sequence))
    places = facts.partitions({(one.topic, one.partition) for one in some})
    name = facts.process(most.holder) if most.holder is not None else None
    giver = facts.process(most.giver) if most.giver is not None else None
    text = _fell(facts, places, most.topic, most.partition, most.before, most.offset)
    cannot_know = "whether the records in between were read twice"
    match most.why:
        case "handover":
            text += f": {name} took over from {giver} and began behind its commits"
            cannot_know = f"where {name} began to read, and why not at the committed offset"
        case "deleted":
            text += ": the offset was deleted in between"
            text += f", and {name} began again" if name is not None else ""
            cannot_know = "whether it expired or somebody deleted it"
        case "owner":
            text += f": {name} held it all the time"
            cannot_know = "whether it sought back, committed out of order, or somebody else committed"
        case _:
            text += "; the log does not say by whom"
    look_at = [each.format(name=name or "the owner") for each in BACK_LOOK_AT.get(most.why, ())]
    # It begins with the commit that went back; what proves it was before.
    steps = sorted({one.sequence for one in some})
    proof = [*steps, most.before_sequence, *([most.since] if most.since else [])]
    return finding(
        "offset_back",
        text,
        proof,
        needs=NEEDS,
        severity="warning",
        member=most.holder,
        name=name,
        giver=giver,
        why=most.why,
        at_ms=some[0].at_ms,
        partition=facts.partition(most.topic, most.partition),
        partitions=places,
        from_offset=most.before,
        to_offset=most.offset,
        causes=list(BACK_CAUSES.get(most.why, (*BACK_CAUSES["handover"], *BACK_CAUSES["owner"]))),
        look_at=[*look_at, RESET.format(before=most.before)],
        cannot_know=cannot_know,
        count=count,
        steps=steps,
    )


def _fell(facts: Facts, places: Sequence[str], topic: str, number: int, before: int, after: int) -> str:
    """``The committed offset of in-0 went back by 8,138,305, from 29,138,305 to 21,000,000``."""
    length = f"{before - after:,}, from {before:,} to {after:,}"
    if len(places) == 1:
        return f"The committed offset of {places[0]} went back by {length}"
    what = listed_partitions(places)
    return f"The committed offsets of {what} went back, {facts.partition(topic, number)} by {length}"


def found_set(facts: Facts) -> list[Finding]:
    """``offsets_set``: while the group had no member; ``why`` is ``back``, ``forward``, ``both`` or ``first``."""
    return [_set(burst, facts) for burst in facts.positions.sets[:SHOWN_MAX]]


def _set(burst: Burst, facts: Facts) -> Finding:
    back = [one for one in burst.places if _step(one) < 0]
    forward = [one for one in burst.places if _step(one) > 0]
    why = "both" if back and forward else "back" if back else "forward" if forward else "first"
    moved = back or forward or burst.places
    most = max(moved, key=lambda one: (abs(_step(one)), one.after or 0))
    places = facts.partitions((one.topic, one.partition) for one in moved)
    what = listed_partitions(places)
    here = f"{facts.partition(most.topic, most.partition)} from {most.before or 0:,} to {most.after or 0:,}"
    if why == "first":
        did = f"{what} {was_or_were(places)} committed"
    else:
        of = "the committed offset" if len(places) == 1 else "the committed offsets"
        where = {"back": "back", "forward": "forward", "both": "back"}[why]
        did = f"{of} of {what} {was_or_were(places)} set {where} ({here})"
        did += f", and {counted(len(forward), 'partition')} forward" if why == "both" else ""
    return finding(
        "offsets_set",
        f"While the group was empty, {did}, by nobody of the group: an administrator's reset, or a client without membership",
        sorted({burst.sequence, burst.last_sequence}),
        needs=NEEDS,
        more={"severity": "warning"} if back else None,
        why=why,
        at_ms=burst.at_ms,
        to_ms=burst.to_ms,
        partition=facts.partition(most.topic, most.partition),
        partitions=places,
        from_offset=most.before,
        to_offset=most.after,
        causes=["kafka-consumer-groups.sh --reset-offsets, or another tool of an administrator"],
        look_at=[WHO_COMMITS],
        cannot_know="who committed them",
        count=burst.count,
        steps=sorted({burst.sequence, burst.last_sequence}),
    )


def _step(one: Moved) -> int:
    return 0 if one.before is None or one.after is None else one.after - one.before


def found_deleted(facts: Facts) -> list[Finding]:
    """``offsets_deleted``: expired, deleted with their topic, or by somebody; ``why`` is ``empty``, ``topic`` or ``members``."""
    return [_deleted(burst, facts) for burst in facts.positions.deletions[:SHOWN_MAX]]


def _deleted(burst: Burst, facts: Facts) -> Finding:
    places = facts.partitions((one.topic, one.partition) for one in burst.places)
    what = listed_partitions(places) if burst.count == len(places) else counted(burst.count, "partition")
    one = burst.count == 1
    did = f"The committed offset{'' if one else 's'} of {what} {'was' if one else 'were'} deleted"
    topics = sorted({each.topic for each in burst.places})
    if burst.is_empty:
        why = "empty"
        since = next(
            (
                each
                for each in facts.lives.emptied
                if each.from_ms <= burst.at_ms and (each.to_ms is None or each.to_ms >= burst.at_ms)
            ),
            None,
        )
        how_long = f" for {duration(burst.at_ms - since.from_ms)}" if since is not None else ""
        text = f"{did} while the group was empty{how_long}: they expired, or somebody deleted them"
    elif all(_is_whole(topic, facts) for topic in topics):
        why = "topic"
        text = f"{did}, all of {' and '.join(topics)}, while the group had members: the topic was deleted, or nobody subscribes to it and they expired"
    else:
        why = "members"
        text = f"{did} while the group had members: they expired, as nobody subscribes to the topic, or somebody deleted them"
    return finding(
        "offsets_deleted",
        text,
        sorted({burst.sequence, burst.last_sequence}),
        needs=NEEDS,
        why=why,
        at_ms=burst.at_ms,
        to_ms=burst.to_ms,
        partitions=places,
        names=topics,
        look_at=[
            "offsets.retention.minutes (7 days by default): since when the group was empty, or nobody subscribed to the topic",
            "who deletes topics, or offsets (kafka-consumer-groups.sh --delete-offsets)",
            "auto.offset.reset of the clients: where they begin without a committed offset",
        ],
        cannot_know="who or what deleted them",
        count=burst.count,
    )


def _is_whole(topic: str, facts: Facts) -> bool:
    """Whether no offset of the topic was committed after it was deleted."""
    paces = [pace for place, pace in facts.rhythm.paces.items() if place[0] == topic]
    return bool(paces) and all(pace.gone_sequence > 0 for pace in paces)


def _turning(facts: Facts) -> list[Series]:
    return [one for one in facts.positions.turns if one.count >= TURNS_LEAST]


def found_two_writers(facts: Facts) -> list[Finding]:
    """``two_writers``: a partition whose offset goes back repeatedly under one owner."""
    return [
        finding(
            "two_writers",
            f"The committed offset of {_place(one, facts)} went back {one.count:,} times within {duration(one.last_ms - one.first_ms)}, "
            f"between {one.least:,} and {one.most:,}, and nobody else took it: two clients commit it",
            [one.first_sequence, one.last_sequence],
            needs=NEEDS,
            certain=False,
            severity="warning",
            partition=_place(one, facts),
            partitions=[_place(one, facts)],
            from_ms=one.first_ms,
            to_ms=one.last_ms,
            length_ms=one.last_ms - one.first_ms,
            from_offset=one.most,
            to_offset=one.least,
            causes=["another group of consumers, or a program without membership, with the same group.id"],
            look_at=[WHO_COMMITS],
            cannot_know="which clients; one that commits out of order looks the same",
            count=one.count,
        )
        for one in _turning(facts)[:SHOWN_MAX]
    ]


def found_unowned(facts: Facts) -> Iterator[Finding]:
    """``unowned_commits``: a partition is committed that no member of the group holds."""
    shown = [
        one
        for one in facts.positions.unowned
        if one.count >= UNOWNED_LEAST and one.last_ms - one.first_ms >= UNOWNED_LEAST_MS
    ]
    if not shown:
        return
    places = facts.partitions((one.topic, one.partition) for one in shown)
    first = min(shown, key=lambda one: (one.first_sequence, one.first_ms))
    last = max(shown, key=lambda one: (one.last_sequence, one.last_ms))
    yield finding(
        "unowned_commits",
        f"{listed_partitions(places)} {was_or_were(places)} committed {several(sum(one.count for one in shown))} "
        f"for {duration(last.last_ms - first.first_ms)} though no member held {'it' if len(places) == 1 else 'them'}: somebody else commits to this group",
        [first.first_sequence, last.last_sequence],
        needs=NEEDS,
        certain=False,
        partitions=places,
        from_ms=first.first_ms,
        to_ms=last.last_ms,
        length_ms=last.last_ms - first.first_ms,
        causes=["a program without membership (assign in place of subscribe) with the same group.id"],
        look_at=[WHO_COMMITS],
        cannot_know="who commits: a member, or a producer's transaction",
        count=sum(one.count for one in shown),
    )


def _place(one: Series, facts: Facts) -> str:
    return facts.partition(one.topic, one.partition)


def found_offsets(facts: Facts) -> list[Finding]:
    finders = (found_back, found_set, found_deleted, found_two_writers, found_unowned)
    return [one for find in finders for one in find(facts)]


FINDER: Final = Declared(
    place=112,
    find=found_offsets,
    rows=(
        Row(
            kinds=("offset_back", "offsets_set", "offsets_deleted", "two_writers", "unowned_commits"),
            needs="commits",
            incident=True,
        ),
    ),
)
