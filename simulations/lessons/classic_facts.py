"""What a lesson can name of a classic group: who is at the barrier, what the leader withholds, and what clients read.

A classic group has no target and no member epochs. Its members wait for each other while they join, and what each
one reads in that time is known to its client alone.
"""

from __future__ import annotations

from collections import Counter

from groups.history.frames.shapes import Frame

CLASSIC = "classic"


def is_classic(frame: Frame) -> bool:
    """Whether the group is one of the classic protocol at this moment."""
    return frame["protocol"] == CLASSIC


def joined(frame: Frame) -> list[str]:
    """Members that wait at the barrier: their JoinGroup has come, and the answer has not gone out."""
    barrier = frame.get("barrier")
    return list(barrier["joined"]) if barrier is not None else []


def awaited(frame: Frame) -> list[str]:
    """Members that the others wait for: those that have not joined yet, then the leader until it has assigned."""
    barrier = frame.get("barrier")
    if barrier is None:
        return []
    match frame["state"]:
        case "PreparingRebalance":
            return [member for member in frame["members"] if member not in barrier["joined"]]
        case "CompletingRebalance":
            return [barrier["leader"]] if barrier["leader"] is not None else []
    return []


def withheld(frame: Frame, member: str | None = None) -> list[str]:
    """Partitions that the leader means for a member, or for any, and does not send in this round."""
    return [
        f"{topic}-{number}"
        for who, owned in frame.get("withheld", {}).items()
        if member in (None, who)
        for topic, numbers in owned.items()
        for number in numbers
    ]


def readers(frame: Frame) -> Counter[str]:
    """How many clients have a partition among those that they read; a client whose process is gone reads nothing."""
    return Counter(
        f"{topic}-{number}"
        for client in (frame.get("clients") or {}).values()
        if not client.get("killed")
        for topic, numbers in (client.get("owned") or {}).items()
        for number in numbers
    )
