"""Why something happened: the request or the timer that brought a step about, and why a member is gone."""

from __future__ import annotations

from dataclasses import dataclass

from groups.history.entries import Entry, Kind
from groups.history.replay.fields import mapping, text
from groups.history.replay.joining import leaving_members
from groups.history.state.classic_group import LEFT, NOT_DESCRIBED
from groups.history.state.epochs import LEAVE_GROUP_MEMBER_EPOCH
from groups.history.state.group import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """The request or the timer that brought a step about, where an entry of it is known."""

    sequence: int
    kind: Kind
    member: str | None
    leaves: bool = False
    members: tuple[str, ...] = ()
    """Whose membership it ends: who leaves, or whose timer fired."""
    timer: str | None = None
    timeout_ms: int | None = None
    """How long the session of a timer was, where its start was seen."""

    @classmethod
    def of(cls, entry: Entry, before: State) -> Cause | None:
        """The cause that an entry is, or ``None`` if it is none; ``before`` is the state that it came to."""
        payload = entry.payload
        if entry.kind is Kind.REQUEST:
            body = mapping(payload.get("body"))
            members: tuple[str, ...] = ()
            if payload.get("api") == "LeaveGroup":
                members = tuple(leaving_members(before, body, entry.actor))
            elif body.get("memberEpoch") == LEAVE_GROUP_MEMBER_EPOCH:
                members = (entry.actor,)
            return cls(
                sequence=entry.sequence,
                kind=entry.kind,
                member=entry.actor,
                leaves=bool(members),
                members=members,
            )
        if entry.kind is Kind.TIMER and payload.get("event") == "fired":
            member_id = text(payload.get("member"))
            running = (before.timers or {}).get(member_id or "")
            return cls(
                sequence=entry.sequence,
                kind=entry.kind,
                member=member_id,
                members=(member_id,) if member_id else (),
                timer=text(payload.get("timer")),
                timeout_ms=running.session_timeout_ms
                if running and payload.get("timer") == "session"
                else None,
            )
        return None


def reason_of(cause: Cause | None, seen: str | None, member_id: str) -> tuple[str | None, list[str]]:
    """Why a member is gone, where a request or a timer of its own shows it, and which sources show it.

    A classic group's record comes when the next generation does: ``seen`` is what was seen of the member before.
    """
    if seen is not None and seen != NOT_DESCRIBED:
        return seen, ["records", "requests" if seen == LEFT else "timers"]
    if cause is not None and member_id in cause.members:
        if cause.leaves:
            return "left", ["records", "requests"]
        if cause.timer == "session":
            return "session_expired", ["records", "timers"]
        if cause.timer == "rebalance":
            return "rebalance_timeout", ["records", "timers"]
    return None, ["records"]
