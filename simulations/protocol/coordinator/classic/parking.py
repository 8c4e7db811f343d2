"""Answers that come later: by another's request, by a timer, or when records are committed.

A JoinGroup waits until everybody has joined, a SyncGroup until the leader has assigned. The coordinator keeps the
``ticket`` of each, which is the caller's own; an operation's outcome has the answers of all that it lets go
(``Outcome.parked_answers``), its own request's among them, and they are sent at once. A ticket that is not answered
when its member's next one comes never is, as in Kafka.

What goes on only when the operation's records are committed is a ``FollowUp``: who drives the coordinator hands it
back then (``Shard.appended``), with the error if they could not be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulations.protocol.coordinator.classic.group import Member
from simulations.protocol.coordinator.timers import TimerStart
from simulations.protocol.messages.classic_requests import JoinAnswer, SyncAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedAnswer:
    """The answer to the JoinGroup or SyncGroup that was handed in with this ticket."""

    ticket: int
    answer: JoinAnswer | SyncAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentAppended:
    """The leader's assignments, bytes by member id, are in the log: everybody gets theirs."""

    generation: int
    assignments: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacementAppended:
    """A static member that came back under another id is in the log; ``old`` is what it was before.

    ``leader`` was the group's when it came.
    """

    old: Member
    member_id: str
    leader: str | None
    ticket: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicMemberAppended:
    """The records of a classic member's JoinGroup in a consumer group; its ``timers`` start and it is answered."""

    member_id: str
    timers: tuple[TimerStart, ...]
    ticket: int
    answer: JoinAnswer


FollowUp = AssignmentAppended | ReplacementAppended | ClassicMemberAppended
