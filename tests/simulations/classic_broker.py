"""A classic group at its coordinator, driven by hand: what is asked, what is answered when, which timers start and stop."""

from __future__ import annotations

from typing import Any, Final

from groups.history.state.group import Semantics
from simulations.protocol.coordinator.classic.group import Group
from simulations.protocol.coordinator.classic.join_requests import GivenId
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import JOIN, TimerStart
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.errors import ErrorCode

GROUP: Final = "orders"
SESSION_MS: Final = 10_000
REBALANCE_MS: Final = 60_000
DELAY_MS: Final = 3_000
RANGE: Final = (("range", b"range of it"),)


class ClassicBroker:
    """Members go by the names that they are to have as ids. ``answers`` are those of the last operation, by who asked."""

    def __init__(self, **settings: Any) -> None:
        told = Settings(**{"initial_rebalance_delay_ms": DELAY_MS, **settings})
        self.shard = Shard(GROUP, Semantics.KAFKA, told, Image(topics={}))
        self.now_ms = 1_000_000
        self.last: Outcome[Any] = Outcome(answer=None)
        self._asked: list[str] = []

    @property
    def group(self) -> Group:
        group = self.shard.memory.classic
        assert group is not None
        return group

    @property
    def state(self) -> str:
        return str(self.group.state)

    @property
    def answers(self) -> dict[str, JoinAnswer | SyncAnswer]:
        return {self._asked[parked.ticket]: parked.answer for parked in self.last.parked_answers}

    @property
    def codes(self) -> dict[str, int]:
        return {name: int(answer.error_code) for name, answer in self.answers.items()}

    @property
    def timers(self) -> list[str]:
        """``session A 10000``, ``join - off``."""
        return [
            f"{command.timer} {command.member_id or '-'} "
            + (str(command.length_ms) if isinstance(command, TimerStart) else "off")
            for command in self.last.timers
        ]

    @property
    def written(self) -> list[tuple[int, list[str]]]:
        """Of each record of the last operation: the generation, and the members."""
        return [
            (record["value"]["generation"], [member["memberId"] for member in record["value"]["members"]])
            for record in self.last.records
        ]

    def join(self, name: str, *, new: bool = False, **fields: Any) -> None:
        """A JoinGroup of a member with its id, or of one that is ``new`` and is to be given it."""
        request = JoinGroup(
            **{
                "group_id": GROUP,
                "session_timeout_ms": SESSION_MS,
                "rebalance_timeout_ms": REBALANCE_MS,
                "member_id": "" if new else name,
                "protocols": RANGE,
                "client_id": name,
                **fields,
            }
        )
        self.last = self.shard.join(request, self.now_ms, ticket=self._ticket(name), drawn_id=GivenId(name))

    def joins(self, name: str, **fields: Any) -> None:
        """A new member: it is given its id, and joins with that; a static one has it at once."""
        self.join(name, new=True, **fields)
        if fields.get("instance_id") is None and fields.get("version", 9) >= 4:
            self.join(name, **fields)

    def sync(self, name: str, *given: str, generation: int | None = None, **fields: Any) -> None:
        """``given`` are those whom the leader assigns something: their own name, in bytes."""
        request = SyncGroup(
            **{
                "group_id": GROUP,
                "generation": self.group.generation if generation is None else generation,
                "member_id": name,
                "protocol_type": "consumer",
                "protocol_name": "range",
                "assignments": tuple((each, each.encode()) for each in given),
                **fields,
            }
        )
        self.last = self.shard.sync(request, self.now_ms, ticket=self._ticket(name))

    def beat(self, name: str, generation: int | None = None, instance_id: str | None = None) -> int:
        request = ClassicHeartbeat(
            group_id=GROUP,
            generation=self.group.generation if generation is None else generation,
            member_id=name,
            instance_id=instance_id,
        )
        self.last = self.shard.classic_heartbeat(request, self.now_ms)
        return int(self.last.answer.error_code)

    def leave(self, *members: LeavingMember | str) -> list[int]:
        told = tuple(LeavingMember(member_id=each) if isinstance(each, str) else each for each in members)
        self.last = self.shard.leave_group(LeaveGroup(group_id=GROUP, members=told), self.now_ms)
        return [int(each.error_code) for each in self.last.answer.members]

    def expire(self, timer: str, member_id: str | None = None, bound: int | None = None) -> None:
        self.last = self.shard.expired(timer, member_id, bound, self.now_ms)

    def append(self, error: ErrorCode | None = None) -> None:
        """The records of the last operation are committed, or could not be."""
        assert self.last.follow_up is not None
        self.last = self.shard.appended(self.last.follow_up, self.now_ms, error=error)

    def stable(self, *names: str, **fields: Any) -> None:
        """A stable group of these; the first leads it."""
        for name in names:
            self.joins(name, **fields)
        while self.state == "PreparingRebalance":
            self.expire(JOIN)
        leader = self.group.leader
        assert leader is not None
        for name in sorted(names, key=lambda name: name == leader):
            self.sync(name, *(names if name == leader else ()))
        self.append()

    def _ticket(self, name: str) -> int:
        self._asked.append(name)
        return len(self._asked) - 1
