"""Transactions that hold offsets: a producer committed partitions in a transaction that has no end.

Needs: the markers of transactions, which the log of the group's partition contains.
Claims: which producer, since when, which partitions at which offsets. A consumer that asks for stable offsets of them waits.
Cannot know: whether the end is behind the end of the log; the transactional id (``__transaction_state`` has it).
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration, listed_partitions


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
                look_at=[
                    "abort it: kafka-transactions.sh abort, with the topic's partition and the producer's first offset"
                ],
                cannot_know="whether its end is behind the end of this log, and its transactional id",
                count=len(facts.notes.transactions),
                more={"producer": one["producer"], "committed": one["committed"]},
            )
        )
    return found


FINDER: Final = Declared(
    place=113,
    find=found_open,
    rows=(
        Row(
            kinds=("open_transaction",),
            says="a `producer` holds `partitions` in a transaction without an end, since `from_ms`; `committed` has the offsets",
            needs="the markers of transactions",
            incident=True,
        ),
    ),
)
