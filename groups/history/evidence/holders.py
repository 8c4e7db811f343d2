"""Who holds each partition, for sentences: looked up, since a walk over all members would cost as much as the group is large."""

from __future__ import annotations

from groups.history.evidence.steps import Key, Step, keys
from groups.history.state.epochs import ModernMember
from groups.history.state.group import Protocol, State


class Holders:
    """Follows the steps of a timeline. Nothing is kept until the first question, which walks over all members once."""

    def __init__(self) -> None:
        self._holders: dict[Key, set[str]] | None = None

    def add(self, step: Step) -> None:
        """Go on to the next step; questions are of the state after it."""
        if self._holders is None:
            return
        if step.migrates or step.after.protocol is Protocol.CLASSIC:
            self._holders = None
            return
        for change in step.members:
            for key in change.released:
                held = self._holders[key]
                held.discard(change.member_id)
                if not held:
                    del self._holders[key]
            for key in change.gained:
                self._holders.setdefault(key, set()).add(change.member_id)

    def is_held(self, state: State, key: Key) -> bool:
        """Whether anybody holds the partition; of a share group, whether anybody reads it."""
        if state.protocol is Protocol.SHARE:
            return key in self._known(state)
        return state.modern.is_held(*key)

    def holder(self, state: State, key: Key) -> str | None:
        """Who holds the partition; of several (a broken log has such) the first in the group's order."""
        held = self._known(state).get(key)
        if not held:
            return None
        return next(iter(held)) if len(held) == 1 else next(state.modern.holders(*key), None)

    def waited_for(self, state: State, member: ModernMember) -> dict[Key, str | None]:
        """Partitions of the member's target that it does not have, each with who holds it (``None``: it is free)."""
        group = state.modern
        missing = keys(group.target.get(member.member_id, {})) - keys(member.assigned)
        waits: dict[Key, str | None] = {}
        for key in sorted(missing):
            holder = self.holder(state, key) if group.is_held(*key) else None
            waits[key] = None if holder == member.member_id else holder
        return waits

    def _known(self, state: State) -> dict[Key, set[str]]:
        if self._holders is None:
            self._holders = {}
            for member_id, member in state.modern.members.items():
                for key in keys(member.assigned) | keys(member.pending_revocation):
                    self._holders.setdefault(key, set()).add(member_id)
        return self._holders
