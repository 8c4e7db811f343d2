"""Notes of transactions as sentences."""

from __future__ import annotations

from groups.history.entries import Payload
from groups.history.replay.fields import mapping
from groups.history.words import listed_partitions


def transaction_words(payload: Payload) -> str:
    """``Producer 4001 commits in-0 in a transaction that is open``, or ``… that is aborted``."""
    held = [
        f"{topic}-{number}"
        for topic, numbers in sorted(mapping(payload.get("partitions")).items())
        if isinstance(numbers, list)
        for number in numbers
    ]
    what = listed_partitions(held)
    ends = "is aborted" if payload.get("note") == "aborted" else "is open"
    return f"Producer {payload.get('producer')} commits {what} in a transaction that {ends}"


def ended_words(payload: Payload) -> str:
    """``The transaction of producer 4001 is committed``; one whose marker was not seen ``has ended``."""
    committed = payload.get("committed")
    ends = "has ended" if committed is None else "is committed" if committed else "is aborted"
    return f"The transaction of producer {payload.get('producer')} {ends}"
