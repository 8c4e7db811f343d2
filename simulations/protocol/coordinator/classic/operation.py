"""One operation on a classic group while it goes on: the group so far, and what the operation leaves behind.

Kafka changes the group in place and completes the futures of parked requests; here both are collected, in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from simulations.protocol.coordinator.classic.group import DEAD, Group, Member
from simulations.protocol.coordinator.classic.parking import FollowUp, ParkedAnswer
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.timers import SESSION, TimerCancel, TimerCommand, TimerStart
from simulations.protocol.messages.classic_requests import JoinAnswer, SyncAnswer
from simulations.protocol.messages.errors import ErrorCode


def check_group(group_id: str | None) -> ErrorCode:
    """Classic groups may have any name that is not empty, also a blank one."""
    return ErrorCode.NONE if group_id else ErrorCode.INVALID_GROUP_ID


def check_member(group: Group, member_id: str, instance_id: str | None) -> ErrorCode:
    """Who names an instance has to have the id that holds it."""
    if instance_id is not None:
        holder = group.instances.get(instance_id)
        if holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def check_generation(group: Group, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
    """As ``check_member``, and the generation has to be the group's."""
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    code = check_member(group, member_id, instance_id)
    if code is ErrorCode.NONE and generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    return code


A = TypeVar("A")


class Operation:
    """``group`` is replaced as the operation goes on; ``outcome`` has all that came of it."""

    def __init__(self, context: Context, group: Group) -> None:
        self.context = context
        self.group = group
        self.records: list[Record] = []
        self.timers: list[TimerCommand] = []
        self.answers: list[ParkedAnswer] = []
        self.follow_up: FollowUp | None = None

    @property
    def now_ms(self) -> int:
        return self.context.now_ms

    @property
    def group_id(self) -> str:
        return self.context.state.group

    def outcome(self, answer: A) -> Outcome[A]:
        memory = self.context.memory
        return Outcome(
            answer=answer,
            records=tuple(self.records),
            timers=tuple(self.timers),
            memory=replace(memory, classic=self.group) if memory.classic is not self.group else None,
            parked_answers=tuple(self.answers),
            follow_up=self.follow_up,
        )

    def answer(self, ticket: int, answer: JoinAnswer | SyncAnswer) -> None:
        self.answers.append(ParkedAnswer(ticket=ticket, answer=answer))

    def answer_join(self, member_id: str, answer: JoinAnswer) -> None:
        """Answers the member's parked JoinGroup, if it has one (``completeJoinFuture``)."""
        member = self.group.members[member_id]
        if member.parked_join is None:
            return
        self.answer(member.parked_join.ticket, replace(answer, version=member.parked_join.version))
        self.group = self.group.updated(replace(member, parked_join=None))

    def answer_sync(self, member_id: str, answer: SyncAnswer) -> bool:
        """Answers the member's parked SyncGroup; false if it has none (``completeSyncFuture``)."""
        member = self.group.members[member_id]
        if member.parked_sync is None:
            return False
        self.answer(member.parked_sync.ticket, replace(answer, version=member.parked_sync.version))
        self.group = self.group.updated(replace(member, parked_sync=None))
        return True

    def start(
        self, timer: str, member_id: str | None, length_ms: int, bound_epoch: int | None = None
    ) -> None:
        self.timers.append(
            TimerStart(timer=timer, member_id=member_id, length_ms=length_ms, bound_epoch=bound_epoch)
        )

    def cancel(self, timer: str, member_id: str | None) -> None:
        self.timers.append(TimerCancel(timer=timer, member_id=member_id))

    def restart_session(self, member: Member) -> None:
        self.start(SESSION, member.member_id, member.session_timeout_ms)

    def update_all(self, members: Mapping[str, Member]) -> None:
        """Members changed in nothing that the group counts."""
        self.group = replace(self.group, members=members)
