"""Members of a group with epochs, by what of the group's own fields their parts of a frame depend on."""

from __future__ import annotations

from typing import TypeVar

from groups.history.frames.shapes import MemberFrame
from groups.history.state.consumer import ConsumerMember
from groups.history.state.epochs import ModernMember

K = TypeVar("K")


class Shown:
    """Members by what of the group's own fields their parts of the frame depend on."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()
        """Those with a pending assignment."""
        self.at_epoch: dict[int, set[str]] = {}
        self.of_regex: dict[str, set[str]] = {}
        self.classic: set[str] = set()
        """Classic members of a consumer group."""

    def clear(self) -> None:
        self.waiting.clear()
        self.at_epoch.clear()
        self.of_regex.clear()
        self.classic.clear()

    def add(self, member_id: str, member: ModernMember, part: MemberFrame) -> None:
        self.at_epoch.setdefault(member.epoch, set()).add(member_id)
        if part["pending_assignment"]:
            self.waiting.add(member_id)
        else:
            self.waiting.discard(member_id)
        if isinstance(member, ConsumerMember):
            self.of_regex.setdefault(member.subscribed_topic_regex or "", set()).add(member_id)
            if member.uses_classic:
                self.classic.add(member_id)

    def remove(self, member_id: str, member: ModernMember | None) -> None:
        if member is None:
            return
        self.waiting.discard(member_id)
        self.classic.discard(member_id)
        _discard(self.at_epoch, member.epoch, member_id)
        if isinstance(member, ConsumerMember):
            _discard(self.of_regex, member.subscribed_topic_regex or "", member_id)


def _discard(sets: dict[K, set[str]], key: K, member_id: str) -> None:
    held = sets.get(key)
    if held is not None:
        held.discard(member_id)
        if not held:
            del sets[key]
