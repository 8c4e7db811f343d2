"""Notes of transactions as sentences."""

from __future__ import annotations

from groups.history.entries import Payload
from groups.history.replay.fields import mapping
from groups.history.words import listed_partitions


def transaction_words(payload: Payload) -> str:
    """``Producer 4001 commits in-0 in a transaction that never ends in this log``, or ``… that is aborted``."""
    held = [
        f"{topic}-{number}"
        for topic, numbers in sorted(mapping(payload.get("partitions")).items())
        if isinstance(numbers, list)
        for number in numbers
    ]
    what = listed_partitions(held)
    ends = "is aborted" if payload.get("note") == "aborted" else "never ends in this log"
    return f"Producer {payload.get('producer')} commits {what} in a transaction that {ends}"
