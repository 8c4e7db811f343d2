"""What a lesson can name of a classic group: who is at the barrier, what the leader withholds, and what clients read.

A classic group has no target and no member epochs. Its members wait for each other while they join, and what each
one reads in that time is known to its client alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

CLASSIC = "classic"


def is_classic(frame: Mapping[str, Any]) -> bool:
    """Whether the group is one of the classic protocol at this moment."""
    return bool(frame.get("protocol") == CLASSIC)


def joined(frame: Mapping[str, Any]) -> list[str]:
    """Members that wait at the barrier: their JoinGroup has come, and the answer has not gone out."""
    return list((frame.get("barrier") or {}).get("joined") or ())


def awaited(frame: Mapping[str, Any]) -> list[str]:
    """Members that the others wait for: those that have not joined yet, then the leader until it has assigned."""
    barrier = frame.get("barrier") or {}
    match frame.get("state"):
        case "PreparingRebalance":
            return [member for member in frame["members"] if member not in (barrier.get("joined") or ())]
        case "CompletingRebalance":
            leader = barrier.get("leader")
            return [leader] if leader is not None else []
    return []


def withheld(frame: Mapping[str, Any], member: str | None = None) -> list[str]:
    """Partitions that the leader means for a member, or for any, and does not send in this round."""
    meant: Mapping[str, Mapping[str, Iterable[int]]] = frame.get("withheld") or {}
    return [
        f"{topic}-{number}"
        for who, owned in meant.items()
        if member in (None, who)
        for topic, numbers in owned.items()
        for number in numbers
    ]


def readers(frame: Mapping[str, Any]) -> Counter[str]:
    """How many clients have a partition among those that they read; a client whose process is gone reads nothing."""
    return Counter(
        f"{topic}-{number}"
        for client in (frame.get("clients") or {}).values()
        if not client.get("killed")
        for topic, numbers in (client.get("owned") or {}).items()
        for number in numbers
    )
