"""What a frame contains about partitions: who owns which, who should, and which there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groups.history.frames.shapes import Frame


def flat(owned: Mapping[str, Iterable[int]] | None) -> list[str]:
    """``{"foo": [0, 1]}`` as ``["foo-0", "foo-1"]``."""
    return [f"{topic}-{number}" for topic, numbers in (owned or {}).items() for number in numbers]


def revoking_of(frame: Frame, member: str) -> list[str]:
    """What a member was asked to revoke, by the records or (the proposal records none) by what its client was answered."""
    about, client = frame["members"].get(member), (frame["clients"] or {}).get(member)
    pending = flat(about.get("pending_revocation")) if about else []
    return [*pending, *(name for name in flat(client["revoking"] if client else None) if name not in pending)]


def partitions_of(frame: Frame, topic: str) -> int:
    """How many partitions a topic has; 0 where that is not known."""
    about = frame["topics"].get(topic)
    return (about["partitions"] or 0) if about else 0


def holders(frame: Frame) -> dict[str, list[str]]:
    """Member id → the partitions that it owns, those being revoked among them."""
    held: dict[str, list[str]] = {}
    for member, about in frame["members"].items():
        owned = flat(about.get("assigned"))
        held[member] = [
            *owned,
            *(name for name in flat(about.get("pending_revocation")) if name not in owned),
        ]
    return held


def targets(frame: Frame) -> dict[str, list[str]]:
    return {member: flat(owned) for member, owned in (frame.get("target") or {}).items()}


def owner_of(frame: Frame, partition: str) -> str | None:
    return next((member for member, owned in holders(frame).items() if partition in owned), None)


def target_owner_of(frame: Frame, partition: str) -> str | None:
    return next((member for member, owned in targets(frame).items() if partition in owned), None)


def existing(frame: Frame) -> list[str]:
    """The partitions of the topics that this group reads."""
    read = {topic for about in frame["members"].values() for topic in about.get("subscribed") or ()}
    read |= {topic for owned in (frame.get("target") or {}).values() for topic in owned}
    return [
        f"{topic}-{number}"
        for topic in frame["topics"]
        if topic in read
        for number in range(partitions_of(frame, topic))
    ]


def group_epoch(frame: Frame) -> int:
    return int(frame.get("group_epoch") or frame.get("generation") or 0)
