"""Transactions that hold offsets: a producer committed partitions in a transaction that has no end, or that was aborted.

Needs: the markers of transactions, which the log of the group's partition contains.
Claims: which producer, since when, which partitions at which offsets. A consumer that asks for stable offsets of them waits.
Cannot know: whether the end is behind the end of the log; the transactional id (``__transaction_state`` has it).
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.log_notes import OpenTransaction
from groups.history.words import counted, duration, listed_partitions


def found_open(facts: Facts) -> list[Finding]:
    """``open_transaction``: each, the oldest first."""
    found = []
    for one in sorted(facts.notes.transactions, key=lambda one: one["from_ms"]):
        places = [
            (topic, number)
            for topic in sorted(one["partitions"])
            for number in sorted(one["partitions"][topic])
        ]
        names = facts.partitions(places)
        length_ms = facts.last_ms - one["from_ms"]
        at = f" (at offset {one['committed'][0]:,})" if len(one["committed"]) == len(names) == 1 else ""
        found.append(
            finding(
                "open_transaction",
                f"Producer {one['producer']} has held {listed_partitions(names)}{at} in an open transaction for {duration(length_ms)}: "
                f"its commits are not in force, and consumers that ask for stable offsets wait (UNSTABLE_OFFSET_COMMIT)",
                [one["sequence"]],
                needs=["records", "notes"],
                severity="critical",
                partitions=names,
                from_ms=one["from_ms"],
                to_ms=None,
                length_ms=length_ms,
                open=True,
                causes=[
                    "an application that was stopped or hangs between sending its offsets and the end of its transaction",
                    "a hanging transaction: its coordinator no longer knows it, so no timeout ends it",
                ],
                look_at=_ending(one),
                cannot_know="whether its end is behind the end of this log, and its transactional id",
                count=len(facts.notes.transactions),
                more={"producer": one["producer"], "committed": one["committed"]},
            )
        )
    return found


def _ending(one: OpenTransaction) -> list[str]:
    """How to find the owner of a transaction, and how to end it, with Kafka's own tool."""
    partition = "N" if one["log_partition"] is None else one["log_partition"]
    of_log = f"--topic __consumer_offsets --partition {partition}"
    start = "OFFSET" if one["from_offset"] is None else one["from_offset"]
    return [
        f"whose it is: kafka-transactions.sh list shows the transactional.id of producer {one['producer']} while its coordinator knows it; then look at "
        "that application. Its coordinator aborts an ongoing transaction after transaction.timeout.ms (1 minute by default)",
        f"if it is not ongoing there: kafka-transactions.sh find-hanging {of_log} names it, "
        f"and kafka-transactions.sh abort {of_log} --start-offset {start} ends it",
    ]


def found_aborted(facts: Facts) -> list[Finding]:
    """``aborted_transactions``: those of each producer."""
    found = []
    for one in facts.notes.aborted:
        names = facts.partitions(
            (topic, number) for topic, numbers in one["partitions"].items() for number in numbers
        )
        many = one["count"] > 1
        first = f", of {facts.notes.aborted_of:,} in all" if facts.notes.aborted_of > _kept(facts) else ""
        found.append(
            finding(
                "aborted_transactions",
                f"{counted(one['count'], 'commit')} of {listed_partitions(names)} by producer {one['producer']} "
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
        )
    return found


def _kept(facts: Facts) -> int:
    return sum(one["count"] for one in facts.notes.aborted)


def found_transactions(facts: Facts) -> list[Finding]:
    return [*found_open(facts), *found_aborted(facts)]


FINDER: Final = Declared(
    place=113,
    find=found_transactions,
    rows=(
        Row(
            kinds=("open_transaction",),
            says="a `producer` holds `partitions` in a transaction without an end, since `from_ms`; `committed` has the offsets",
            needs="the markers of transactions",
            incident=True,
        ),
        Row(
            kinds=("aborted_transactions",),
            says="commits of a `producer` that were aborted with their transactions, `count` requests: never in force",
            needs="the markers of transactions",
            incident=True,
        ),
    ),
)
