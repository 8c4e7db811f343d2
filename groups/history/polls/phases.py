"""A classic group between two generations, as its coordinator describes it: no record contains that, so it is an observation."""

from __future__ import annotations

from dataclasses import dataclass, field

from groups.history.polls.description import GroupDescription, GroupKind
from groups.history.state.classic_group import BETWEEN


@dataclass(slots=True, kw_only=True)
class Phases:
    """What was observed of one group since its last record. ``began``: the entry with which this rebalance was first observed."""

    state: str = ""
    members: list[str] = field(default_factory=list)
    began: int | None = None

    def end(self) -> None:
        """A record came: it contains what the group is now."""
        self.state, self.members, self.began = "", [], None

    def differs(self, group: GroupDescription) -> bool:
        """Whether the description adds something to what is known."""
        if group.kind is not GroupKind.CLASSIC:
            return False
        if group.state in BETWEEN:
            return (self.state, self.members) != (group.state, _ids(group))
        return self.state != ""

    def take(
        self, group: GroupDescription, sequence: int, polled_before_ms: int | None
    ) -> dict[str, object] | None:
        """The payload of the observation with this sequence; null if the description adds nothing to what is known."""
        if not self.differs(group):
            return None
        if group.state in BETWEEN:
            self.state, self.members = group.state, _ids(group)
            self.began = sequence if self.began is None else self.began
        else:
            self.end()
        return {
            "observation": "described",
            "state": group.state,
            "type": group.kind.value,
            "members": [
                {
                    "memberId": each.member_id,
                    "groupInstanceId": each.instance_id,
                    "clientId": each.client_id,
                    "clientHost": each.host,
                }
                for each in group.members
            ],
            "polled_before_ms": polled_before_ms,
        }


def _ids(known: GroupDescription) -> list[str]:
    return sorted(each.member_id for each in known.members)
