"""A member's part in client mode: asked to compute, it fetches the group, runs its assignor and installs the answer.

Theory of operation. It runs with the consumer's membership and gets its heartbeats' answers. An answer that
asks it to compute starts a process of two requests, one after the other: prepare, install. What happens to them:

==================================================  =============================================================
answer                                              then
==================================================  =============================================================
STALE_MEMBER_EPOCH                                  the same request again, after the next heartbeat's answer
no answer, or the coordinator moved or loads        the same
UNKNOWN_MEMBER_ID                                   the process is over: somebody else does it, or nobody has to
any other error                                     the same (the proposal names none; the coordinator's time for
                                                    this member runs out, and it picks another)
==================================================  =============================================================

What a heartbeat's answer brings, all of it, released by others or not, is passed to the assignor once for each epoch.

Source: KIP-848, "Response Handling" of the three APIs, "PartitionAssignor".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from enum import StrEnum
from typing import Final

from groups.history.words import counted
from simulations.protocol.assignors.client_side import (
    ASSIGNMENT_ERROR,
    ClientAnswer,
    ClientAssignor,
    ClientGroup,
    MemberAnswer,
    Offer,
    unchanged,
)
from simulations.protocol.client.consumer.effects import in_words
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
    metadata_of,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import HeartbeatAnswer

Computing = PrepareAssignment | InstallAssignment

AGAIN: Final = frozenset(
    {
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    }
)
"""Errors after which the same is asked again."""


class AssigningStep(StrEnum):
    IDLE = "idle"
    PREPARING = "preparing"
    INSTALLING = "installing"


class Assigning:
    """``assignors`` in the order of preference. They are shared by copies: an assignor keeps nothing of a run."""

    def __init__(
        self,
        group_id: str,
        member_id: str,
        assignors: tuple[ClientAssignor, ...],
        notes_call: Callable[[str, str, str], None] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.assignors = assignors
        self._notes_call = notes_call
        self.step = AssigningStep.IDLE
        self._epoch = 0
        self._assigned_epoch = 0
        self._in_flight = False
        self._computed: tuple[int, ClientAnswer] | None = None

    @property
    def epoch(self) -> int:
        """The member epoch that the last heartbeat's answer brought."""
        return self._epoch

    def offers(self) -> tuple[Offer, ...]:
        """What a heartbeat lists; it is to be sent again whenever it changes."""
        return tuple(assignor.offer() for assignor in self.assignors)

    def take_answer(self, answer: HeartbeatAnswer) -> list[Computing]:
        """After a heartbeat's answer without an error: begins, or asks again what could not be answered."""
        self._epoch = answer.member_epoch
        self._note_epoch(answer)
        if self._in_flight:
            return []
        if self.step is AssigningStep.IDLE and not answer.compute:
            return []
        if answer.compute:
            # The coordinator asks whom it has handed nothing: an earlier process, if there was one, is not known there.
            self.step, self._computed = AssigningStep.PREPARING, None
        return self._ask()

    def prepared(self, answer: PrepareAnswer) -> list[Computing]:
        """The group came: the assignor runs, at once, and its answer goes out."""
        if self.step is not AssigningStep.PREPARING or not self._went_well(answer.error_code):
            return []
        assignor = next((each for each in self.assignors if each.name == answer.assignor), None)
        if assignor is None or answer.group is None:
            self.abandon()
            return []
        computed = _computed(assignor, answer.group)
        self.step, self._computed = AssigningStep.INSTALLING, (answer.group.epoch, computed)
        if self._notes_call is not None:
            given = in_words(each.partitions for each in computed.members.values())
            outcome = (
                f"error {computed.error}"
                if computed.error
                else f"{given} for {counted(len(computed.members), 'member')}"
            )
            self._notes_call(assignor.name, "assign", outcome)
        return self._ask()

    def installed(self, answer: InstallAnswer) -> list[Computing]:
        """The end of the process, or the same again after the next heartbeat."""
        if self.step is AssigningStep.INSTALLING and self._went_well(answer.error_code):
            self.abandon()
        return []

    def failed(self) -> None:
        """No answer came to the request that was out."""
        self._in_flight = False

    def abandon(self) -> None:
        """Forgets the process: also what a member does that is fenced, or leaves."""
        self.step, self._computed, self._in_flight = AssigningStep.IDLE, None, False

    def copy(self) -> Assigning:
        twin = object.__new__(Assigning)
        twin.__dict__.update(self.__dict__)
        return twin

    def canonical(self, rename: Callable[[int], int]) -> Hashable:
        """All that decides what it will do; epochs are passed through ``rename``."""
        computed = self._computed
        member_answer = None
        if computed is not None:
            member_answer = (
                rename(computed[0]),
                computed[1].error,
                tuple(
                    (
                        member_id,
                        tuple((t, tuple(p)) for t, p in sorted(given.partitions.items())),
                        given.metadata,
                    )
                    for member_id, given in computed[1].members.items()
                ),
            )
        return (self.step, rename(self._epoch), rename(self._assigned_epoch), self._in_flight, member_answer)

    def _ask(self) -> list[Computing]:
        self._in_flight = True
        if self._computed is None:
            return [
                PrepareAssignment(group_id=self.group_id, member_id=self.member_id, member_epoch=self._epoch)
            ]
        group_epoch, computed = self._computed
        return [
            InstallAssignment(
                group_id=self.group_id,
                member_id=self.member_id,
                member_epoch=self._epoch,
                group_epoch=group_epoch,
                answer=computed,
            )
        ]

    def _went_well(self, error_code: int) -> bool:
        """Whether the answer has no error; what an error does is done."""
        self._in_flight = False
        if error_code and error_code not in AGAIN:
            self.abandon()
        return not error_code

    def _note_epoch(self, answer: HeartbeatAnswer) -> None:
        if answer.assigned is None or answer.member_epoch == self._assigned_epoch:
            return
        self._assigned_epoch = answer.member_epoch
        whole = {
            topic_id: (*answer.assigned.get(topic_id, ()), *(answer.pending or {}).get(topic_id, ()))
            for topic_id in dict.fromkeys((*answer.assigned, *(answer.pending or {})))
        }
        member_answer = MemberAnswer(partitions=whole, metadata=metadata_of(answer.note))
        for assignor in self.assignors:
            assignor.on_assignment(member_answer, answer.note.error, answer.member_epoch)
            if self._notes_call is not None:
                given = f"{in_words([whole])}, epoch {answer.member_epoch}"
                self._notes_call(assignor.name, "onAssignment", given)


def _computed(assignor: ClientAssignor, group: ClientGroup) -> ClientAnswer:
    """The assignor's answer; if it fails, every member gets the error."""
    try:
        return assignor.assign(group)
    except Exception:
        # It is somebody's own program, and may fail in any way that there is.
        return unchanged(group, ASSIGNMENT_ERROR)
