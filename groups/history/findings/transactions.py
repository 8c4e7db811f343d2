"""Transactions that hold offsets: a producer committed partitions in a transaction that stays open, or that was aborted.

Needs: the markers of transactions, which the log of the group's partition contains.
Claims: which producer, since when, which partitions at which offsets. A consumer that asks for stable offsets of them waits.
Cannot know: whether the end is behind the end of the log; the transactional id (``__transaction_state`` has it).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row, each_of
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.log_notes import ABORTED_MOST, OpenTransaction
from groups.history.words import counted, duration, listed_partitions


def found_open(facts: Facts) -> list[Finding]:
    """``open_transaction``: each, the oldest first; of one that ended since, with its end."""
    return [_held(facts, one) for one in sorted(facts.notes.transactions, key=lambda one: one["from_ms"])]


def _held(facts: Facts, one: OpenTransaction) -> Finding:
    places = [
        (topic, number) for topic in sorted(one["partitions"]) for number in sorted(one["partitions"][topic])
    ]
    names = facts.partitions(places)
    to_ms = one.get("to_ms")
    length_ms = (facts.last_ms if to_ms is None else to_ms) - one["from_ms"]
    at = f" (at offset {one['committed'][0]:,})" if len(one["committed"]) == len(names) == 1 else ""
    held = f"{listed_partitions(names)}{at} in an open transaction for {duration(length_ms)}"
    if to_ms is None:
        text = f"Producer {one['producer']} has held {held}: its commits are not in force, and"
        waits = "wait"
        cannot_know = "whether its end is behind the end of this log, and its transactional id"
    else:
        text = f"Producer {one['producer']} held {held}{_ended(one)}: until then"
        waits = "waited"
        cannot_know = "its transactional id"
    return finding(
        "open_transaction",
        f"{text} consumers that ask for stable offsets {waits} (UNSTABLE_OFFSET_COMMIT)",
        [one["sequence"], *([one["ended"]] if "ended" in one else [])],
        needs=["records", "notes"],
        severity="critical" if to_ms is None else "warning",
        partitions=names,
        from_ms=one["from_ms"],
        to_ms=to_ms,
        length_ms=length_ms,
        open=to_ms is None,
        causes=[
            "an application that was stopped or hangs between sending its offsets and the end of its transaction",
            "a hanging transaction: its coordinator no longer knows it, so no timeout ends it"
            if to_ms is None
            else "an application that works for long between the two",
        ],
        look_at=_ending(one) if to_ms is None else [OWNER.format(one["producer"])],
        cannot_know=cannot_know,
        count=len(facts.notes.transactions),
        more={"producer": one["producer"], "committed": one["committed"]},
    )


def _ended(one: OpenTransaction) -> str:
    """How it ended, if its marker was seen."""
    committed = one.get("is_committed")
    return (
        "" if committed is None else ", which was then committed" if committed else ", which was then aborted"
    )


OWNER: Final = (
    "whose it is: kafka-transactions.sh list shows the transactional.id of producer {} while its coordinator knows it; then look at "
    "that application"
)


def _ending(one: OpenTransaction) -> list[str]:
    """How to find the owner of a transaction, and how to end it, with Kafka's own tool."""
    partition = "N" if one["log_partition"] is None else one["log_partition"]
    of_log = f"--topic __consumer_offsets --partition {partition}"
    start = "OFFSET" if one["from_offset"] is None else one["from_offset"]
    return [
        f"{OWNER.format(one['producer'])}. Its coordinator aborts an ongoing transaction after transaction.timeout.ms (1 minute by default)",
        f"if it is not ongoing there: kafka-transactions.sh find-hanging {of_log} names it, "
        f"and kafka-transactions.sh abort {of_log} --start-offset {start} ends it",
    ]


def found_aborted(facts: Facts) -> Iterator[Finding]:
    """``aborted_transactions``: those of each producer."""
    for one in facts.notes.aborted:
        names = facts.partitions(
            (topic, number) for topic, numbers in one["partitions"].items() for number in numbers
        )
        many = one["count"] > 1
        least = "At least " if not facts.notes.aborted_of and _kept(facts) >= ABORTED_MOST else ""
        first = f", of {facts.notes.aborted_of:,} in all" if facts.notes.aborted_of > _kept(facts) else ""
        yield finding(
            "aborted_transactions",
            f"{least}{counted(one['count'], 'commit')} of {listed_partitions(names)} by producer {one['producer']} "
            f"{'were' if many else 'was'} aborted with {'their transactions' if many else 'its transaction'}{first}: never in force",
            one["sequences"],
            needs=["records", "notes"],
            severity="warning",
            partitions=names,
            from_ms=one["from_ms"],
            to_ms=one["to_ms"],
            length_ms=one["to_ms"] - one["from_ms"],
            steps=one["sequences"],
            causes=[
                "an application that failed and aborts",
                "a transaction that took longer than transaction.timeout.ms, or whose producer was replaced by one of the same transactional.id",
            ],
            look_at=["why the producer aborts: its application's log, transaction.timeout.ms"],
            cannot_know="whether the application or the coordinator aborted it, and its transactional id",
            count=one["count"],
            more={"producer": one["producer"]},
        )


def _kept(facts: Facts) -> int:
    return sum(one["count"] for one in facts.notes.aborted)


FINDER: Final = Declared(
    place=113,
    find=each_of(found_open, found_aborted),
    rows=(
        Row(
            kinds=("open_transaction", "aborted_transactions"),
            needs="the markers of transactions",
            incident=True,
        ),
    ),
)
