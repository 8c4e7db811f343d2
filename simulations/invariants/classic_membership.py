"""Who is a member of a classic group as the rules have it, who is refused, and what members are sent (``classic_picture``)."""

from __future__ import annotations

from collections import Counter

from groups.history.payloads.classic_bodies import ClassicHeartbeatBody, LeavingMemberBody, SyncGroupBody
from simulations.invariants.classic_parts import (
    FENCED_INSTANCE,
    ILLEGAL_GENERATION,
    INCONSISTENT,
    NONE,
    REBALANCE,
    SESSION,
    SYNC_NAMES_PROTOCOL,
    UNKNOWN_MEMBER,
    ClassicLimits,
    Effects,
    ExpectedAnswer,
    Member,
    Phase,
)
from simulations.invariants.java_table import SMALLEST, grown, in_table_order


class ClassicMembership:
    """The group as it is; ``effects`` is what the present operation brings about."""

    def __init__(self, limits: ClassicLimits) -> None:
        self._limits = limits
        self.exists: bool | None = False
        self.effects = Effects()
        self._clear()

    def _clear(self) -> None:
        self.phase = Phase.EMPTY
        self.generation = 0
        self.leader: str | None = None
        self.protocol: str | None = None
        self.protocol_type: str | None = None
        self.members: dict[str, Member] = {}
        self._table = SMALLEST
        self._instances: dict[str, str] = {}
        self._listed: Counter[str] = Counter()
        self._joined = 0
        self._pending: set[str] = set()
        self._unsynced: set[str] = set()
        self._is_first = False
        """Whether members join a group that was empty: only its timer ends that."""
        self._delay: tuple[int, int] | None = None
        self._more_came = False

    # Who is a member.

    def _leaves(self, leaving: LeavingMemberBody) -> int:
        who, instance = leaving["memberId"], leaving.get("groupInstanceId")
        if not who:
            who = self._instances.get(instance or "", "")
            if not who:
                return UNKNOWN_MEMBER
        elif who in self._pending:
            self._pending.discard(who)
            return NONE
        elif code := self._unknown(who, instance):
            return code
        self._turn_away(who)
        self._remove(who)
        return NONE

    def _turn_away(self, who: str) -> None:
        """A member that waits in the join phase is answered that it is no member; in the sync phase it is not answered."""
        member = self.members[who]
        if member.join:
            self._answer_join(member, {"errorCode": UNKNOWN_MEMBER})

    def _put(self, who: str, member: Member) -> None:
        self.members[who] = member
        self._pending.discard(who)
        self._table = grown(self._table, len(self.members))
        self._listed.update({name for name, _ in member.offers})
        if member.instance is not None:
            self._instances[member.instance] = who
        self.leader = self.leader or who

    def _remove(self, who: str) -> None:
        self._pending.discard(who)
        self._unsynced.discard(who)
        member = self.members.pop(who, None)
        if member is not None:
            self._listed.subtract({name for name, _ in member.offers})
            self._joined -= bool(member.join)
            if member.instance is not None:
                self._instances.pop(member.instance, None)
        if self.leader == who:
            self.leader = next(iter(self._in_order()), None)

    def _in_order(self) -> list[str]:
        """Members as the coordinator's table has them."""
        return in_table_order(self.members, self._table)

    @property
    def _all_joined(self) -> bool:
        return self._joined == len(self.members) and not self._pending

    @property
    def _longest_ms(self) -> int:
        return max((member.rebalance_ms for member in self.members.values()), default=0)

    # Refusals.

    def _unknown(self, who: str, instance: str | None) -> int:
        if instance is not None:
            holder = self._instances.get(instance)
            if holder is None:
                return UNKNOWN_MEMBER
            if holder != who:
                return FENCED_INSTANCE
        return NONE if who in self.members else UNKNOWN_MEMBER

    def _generation_refusal(self, body: ClassicHeartbeatBody | SyncGroupBody) -> int:
        if not self.exists:
            return UNKNOWN_MEMBER
        code = self._unknown(body["memberId"], body["groupInstanceId"])
        return code or (NONE if body["generationId"] == self.generation else ILLEGAL_GENERATION)

    def _sync_refusal(self, version: int, body: SyncGroupBody) -> int:
        kind, name = body["protocolType"], body["protocolName"]
        if version >= SYNC_NAMES_PROTOCOL and (kind is None or name is None):
            return INCONSISTENT
        if code := self._generation_refusal(body):
            return code
        if _differs(kind, self.protocol_type) or _differs(name, self.protocol):
            return INCONSISTENT
        return REBALANCE if self.phase is Phase.PREPARING else NONE

    def _commit_refusal(self, generation: int, who: str, instance: str | None) -> int:
        if generation < 0 and self.phase is Phase.EMPTY:
            return NONE
        if generation < 0 and not who and instance is None:
            return UNKNOWN_MEMBER
        if code := self._unknown(who, instance):
            return code
        if generation != self.generation:
            return ILLEGAL_GENERATION
        return REBALANCE if self.phase is Phase.COMPLETING else NONE

    # What comes of it.

    def _refuses(self, ticket: int, code: int) -> Effects:
        self.effects.answers[ticket] = {"errorCode": code}
        return self.effects

    def _answer_join(self, member: Member, answer: ExpectedAnswer) -> None:
        if member.join:
            self.effects.answers[member.join] = answer
            member.join = 0
            self._joined -= 1

    def _answer_syncs(self, code: int) -> None:
        for who, member in self.members.items():
            if member.sync:
                self.effects.answers[member.sync] = {"errorCode": code} if code else self._assigned(member)
                member.sync = 0
                self._session(who)

    def _joined_as(self, who: str, *, with_members: bool) -> ExpectedAnswer:
        return {
            "errorCode": NONE,
            "generationId": self.generation,
            "protocolName": self.protocol,
            "leader": self.leader or "",
            "memberId": who,
            "skipAssignment": False,
            "members": self._in_order() if with_members else [],
        }

    @staticmethod
    def _assigned(member: Member) -> ExpectedAnswer:
        return {"errorCode": NONE, "assignment": member.assignment}

    def _writes(self) -> None:
        self.effects.written.append((self.generation, self.leader, tuple(self._in_order())))

    def _session(self, who: str) -> None:
        self.effects.timers[SESSION, who] = self.members[who].session_ms


def _differs(answer: str | None, known: str | None) -> bool:
    return answer is not None and known is not None and answer != known
