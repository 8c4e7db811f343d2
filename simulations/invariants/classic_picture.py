"""A classic group as the rules have it: what each request, timer and load of its coordinator has to bring about.

It is a picture of its own, written from the rules (Kafka's ``ClassicGroup``, ``GroupMetadataManager``; docs/reference,
the classic coordinator) and not from the simulated coordinator, which it is held against (``classic_operations``). It
knows only a log in which every record takes effect at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from groups.history.payloads.classic_bodies import (
    ClassicHeartbeatBody,
    JoinGroupBody,
    LeavingMemberBody,
    SyncGroupBody,
)
from groups.history.payloads.consumer import OffsetCommitBody
from groups.history.payloads.records import GroupMetadataValue
from simulations.invariants.classic_membership import ClassicMembership
from simulations.invariants.classic_parts import (
    FENCED_INSTANCE,
    FULL,
    ID_REQUIRED,
    INCONSISTENT,
    INVALID_SESSION,
    JOIN,
    MEMBER_ID_REQUIRED,
    NEW_MEMBER_MS,
    NONE,
    REBALANCE,
    SERVER_ERROR,
    SESSION,
    SKIPS,
    SYNC,
    UNKNOWN_MEMBER,
    Effects,
    ExpectedAnswer,
    Member,
    Phase,
)
from simulations.invariants.java_table import SMALLEST, in_table_order


def elected(members: Sequence[Member], listed: Mapping[str, int]) -> str:
    """Of several protocols with most votes Java's table decides; ``members`` in its order, ``listed`` by how many."""
    names = {name for name, count in listed.items() if count == len(members)}
    votes = Counter(_vote(member, names) for member in members)
    # The order in which names were put decides within a bucket: as members walk the table.
    first_put = dict.fromkeys(_vote(member, names) for member in members)
    return max(in_table_order(first_put, SMALLEST), key=lambda name: votes[name])


def _vote(member: Member, names: set[str]) -> str:
    return next((name for name, _ in member.offers if name in names), "")


def offers(body: JoinGroupBody) -> tuple[tuple[str, str], ...]:
    """The protocols that a request lists, each with its metadata, the first first."""
    return tuple((each["name"], each["metadata"]) for each in body["protocols"])


class ClassicPicture(ClassicMembership):
    """``exists`` is ``None`` if it is unknown whether there is a group: there may be only its offsets."""

    @property
    def may_fail(self) -> bool:
        return self._limits.may_fail

    def gone(self) -> None:
        """A tombstone: the group is deleted."""
        self._clear()
        self.exists = False

    def loads(self, value: GroupMetadataValue | None) -> Effects:
        """A new coordinator knows the last record (``None``: there is none), and starts every member's session."""
        self.effects = Effects()
        self._clear()
        self.exists = None if value is None else True
        if value is None:
            return self.effects
        self.generation, self.leader = value["generation"], value["leader"]
        self.protocol, self.protocol_type = value["protocol"], value["protocolType"] or None
        for member in value["members"]:
            timeout_ms = member["rebalanceTimeout"]
            self._put(
                member["memberId"],
                Member(
                    instance=member["groupInstanceId"],
                    offers=((value["protocol"] or "", member["subscription"]),),
                    rebalance_ms=timeout_ms if timeout_ms != -1 else member["sessionTimeout"],
                    session_ms=member["sessionTimeout"],
                    assignment=member["assignment"],
                ),
            )
        self.leader = value["leader"]
        self.phase = Phase.STABLE if self.members else Phase.EMPTY
        for who in self._in_order():
            self._session(who)
        if len(self.members) > self._limits.most_members:
            self._prepare()
        return self.effects

    # Requests.

    def joins(self, ticket: int, who: str, version: int, body: JoinGroupBody, *, writes: bool) -> Effects:
        """A JoinGroup; ``who`` is the id that the coordinator draws where the request has none.

        ``writes``: whether the coordinator wrote a record for it, which shows if there was a group with only offsets.
        """
        self.effects = Effects()
        if not self._limits.least_session_ms <= body["sessionTimeoutMs"] <= self._limits.most_session_ms:
            return self._refuses(ticket, INVALID_SESSION)
        name = body["memberId"]
        if self.exists is None and not name:
            # A group of offsets alone has no record; whether it is still there the coordinator shows.
            self.exists = not writes
        if not self.exists:
            if name:
                return self._refuses(ticket, UNKNOWN_MEMBER)
            self._clear()
            self.exists = True
            self.effects.written.append((0, None, ()))
        if not self._has_room(name):
            self._remove(name)
            self._refuses(ticket, FULL)
        elif not self._supports(body):
            self._refuses(ticket, INCONSISTENT)
        elif not name:
            self._joins_without_id(ticket, who, version, body)
        elif name in self._pending:
            if body["groupInstanceId"] is not None:
                self._refuses(ticket, SERVER_ERROR)
            else:
                self._adds(ticket, name, body)
        elif code := self._unknown(name, body["groupInstanceId"]):
            self._refuses(ticket, code)
        else:
            self._joins_again(ticket, name, body)
        return self.effects

    def syncs(self, ticket: int, version: int, body: SyncGroupBody, *, fails: bool = False) -> Effects:
        """A SyncGroup; what a leader assigns is in the log at once, or ``fails``: no batch holds it."""
        self.effects = Effects()
        if code := self._sync_refusal(version, body):
            return self._refuses(ticket, code)
        who = body["memberId"]
        member = self.members[who]
        self._unsynced.discard(who)
        if self.phase is Phase.STABLE:
            self.effects.answers[ticket] = self._assigned(member)
            return self.effects
        member.sync = ticket
        if who == self.leader and fails:
            for each in self.members.values():
                each.assignment = ""
            self._answer_syncs(SERVER_ERROR)
            self._rebalance_or_complete()
        elif who == self.leader:
            given = {each["memberId"]: each["assignment"] for each in body["assignments"]}
            for name, each in self.members.items():
                each.assignment = given.get(name, "")
            self._writes()
            self._answer_syncs(NONE)
            self.phase = Phase.STABLE
        return self.effects

    def beats(self, body: ClassicHeartbeatBody) -> Effects:
        """A Heartbeat."""
        self.effects = Effects()
        self.effects.refusal = self._generation_refusal(body) or (
            REBALANCE if self.phase is Phase.PREPARING else NONE
        )
        if self.effects.refusal in (NONE, REBALANCE):
            self._session(body["memberId"])
        return self.effects

    def leave(self, leaving: Iterable[LeavingMemberBody]) -> Effects:
        """A LeaveGroup of some members."""
        self.effects = Effects()
        codes = [self._leaves(each) for each in leaving]
        if NONE in codes:
            if self.phase in (Phase.STABLE, Phase.COMPLETING):
                self._prepare()
            else:
                self._complete_if_all_joined()
        self.effects.refusals = tuple(codes)
        return self.effects

    def commits(self, body: OffsetCommitBody, *, any_known: bool) -> Effects:
        """An OffsetCommit. ``any_known``: whether the broker has a partition of it; else nobody asks the group."""
        self.effects = Effects()
        generation, who = body["generationIdOrMemberEpoch"], body["memberId"]
        if not any_known:
            return self.effects
        if not self.exists:
            if generation >= 0:
                return self.effects  # 22 or 69, by the version.
            self._clear()
            self.exists = True
        self.effects.refusal = code = self._commit_refusal(generation, who, body.get("groupInstanceId"))
        if not code and who in self.members and self.phase in (Phase.STABLE, Phase.PREPARING):
            self._session(who)
        return self.effects

    # Timers.

    def expires(self, timer: str, who: str | None) -> Effects:
        """A timer ran out."""
        self.effects = Effects()
        if timer == SESSION and who is not None:
            self._session_expires(who)
        elif timer == JOIN and self.phase is Phase.PREPARING:
            self._join_timer_expires()
        elif timer == SYNC and self.phase in (Phase.COMPLETING, Phase.STABLE) and self._unsynced:
            for name in tuple(self._unsynced):
                self._remove(name)
            self._prepare()
        return self.effects

    def _session_expires(self, who: str) -> None:
        if who in self._pending:
            self._pending.discard(who)
            if self.phase is Phase.PREPARING and self._all_joined:
                self._complete()
            return
        member = self.members.get(who)
        if member is None or (not member.is_new and (member.join or member.sync)):
            return  # A member that waits for a response is alive.
        self._turn_away(who)
        self._remove(who)
        if self.phase in (Phase.STABLE, Phase.COMPLETING):
            self._prepare()
        elif self.phase is Phase.PREPARING and self._all_joined:
            self._complete()

    def _join_timer_expires(self) -> None:
        if self._delay is not None and self._more_came and self._delay[1]:
            last_ms, left_ms = self._delay
            self._more_came = False
            self._waits_first(min(self._limits.initial_delay_ms, left_ms), max(left_ms - last_ms, 0))
        else:
            self._complete()

    # Who joins, and how.

    def _has_room(self, name: str) -> bool:
        member, most = self.members.get(name), self._limits.most_members
        if self.phase is Phase.EMPTY:
            return True
        if self.phase is Phase.PREPARING:
            return (member is not None and member.join != 0) or self._joined < most
        return member is not None or len(self.members) < most

    def _supports(self, body: JoinGroupBody) -> bool:
        """Of what it lists one protocol is listed by all; an empty group takes a member that lists any."""
        if self.phase is Phase.EMPTY:
            return bool(body["protocolType"] and body["protocols"])
        return body["protocolType"] == self.protocol_type and any(
            self._listed[each["name"]] == len(self.members) for each in body["protocols"]
        )

    def _joins_without_id(self, ticket: int, who: str, version: int, body: JoinGroupBody) -> None:
        instance = body["groupInstanceId"]
        if instance is not None and instance in self._instances:
            self._takes_over(ticket, who, version, body, self._instances[instance])
        elif instance is None and version >= MEMBER_ID_REQUIRED:
            self._pending.add(who)
            self.effects.timers[SESSION, who] = body["sessionTimeoutMs"]
            self.effects.answers[ticket] = {"errorCode": ID_REQUIRED, "memberId": who}
        else:
            self._adds(ticket, who, body)

    def _joins_again(self, ticket: int, who: str, body: JoinGroupBody) -> None:
        member = self.members[who]
        same = member.offers == offers(body)
        if same and (self.phase is Phase.COMPLETING or (self.phase is Phase.STABLE and who != self.leader)):
            leads = self.phase is Phase.COMPLETING and who == self.leader
            self.effects.answers[ticket] = self._joined_as(who, with_members=leads)
        elif self.phase is Phase.EMPTY:
            self._refuses(ticket, UNKNOWN_MEMBER)
        else:
            self._takes(member, ticket, body)
            self._rebalance_or_complete()

    def _adds(self, ticket: int, who: str, body: JoinGroupBody) -> None:
        if self.phase is Phase.PREPARING and self._is_first:
            self._more_came = True
        if not self.members:
            self.protocol_type = body["protocolType"]
        member = Member(body["groupInstanceId"], (), 0, 0, is_new=True)
        self._put(who, member)
        self._takes(member, ticket, body)
        self.effects.timers[SESSION, who] = NEW_MEMBER_MS
        self._rebalance_or_complete()

    def _takes_over(self, ticket: int, who: str, version: int, body: JoinGroupBody, holder: str) -> None:
        """A static member is back under another id: the old one is fenced, the group stays as it is if it can."""
        led = self.leader
        old = self.members[holder]
        if old.join:
            self.effects.answers[old.join] = {"errorCode": FENCED_INSTANCE}
        if old.sync:
            self.effects.answers[old.sync] = {"errorCode": FENCED_INSTANCE}
        self._joined -= bool(old.join)
        del self.members[holder]
        new = Member(old.instance, old.offers, old.rebalance_ms, old.session_ms, assignment=old.assignment)
        self.members[who] = new
        assert old.instance is not None
        self._instances[old.instance] = who
        if led == holder:
            self.leader = who
        self._session(who)
        self._takes(new, ticket, body)
        if self.phase is Phase.STABLE and self._elected() == self.protocol:
            self._writes()
            self._answer_join(new, self._back(who, version, led))
        elif self.phase in (Phase.STABLE, Phase.COMPLETING):
            self._prepare()
        else:
            self._complete_if_all_joined()

    def _back(self, who: str, version: int, led: str | None) -> ExpectedAnswer:
        """A leader that came back is asked to skip its assignment; an older client gets the old leader's id as the leader."""
        if version < SKIPS:
            return {**self._joined_as(who, with_members=False), "leader": led or "", "skipAssignment": False}
        leads = self.leader == who
        return {**self._joined_as(who, with_members=leads), "skipAssignment": leads}

    def _takes(self, member: Member, ticket: int, body: JoinGroupBody) -> None:
        """Takes over what the request reports of its member, which waits from now on; an earlier one is never answered."""
        self._listed.subtract({name for name, _ in member.offers})
        member.offers = offers(body)
        self._listed.update({name for name, _ in member.offers})
        member.rebalance_ms, member.session_ms = body["rebalanceTimeoutMs"], body["sessionTimeoutMs"]
        self._joined += not member.join
        member.join = ticket

    # Phases.

    def _rebalance_or_complete(self) -> None:
        if self.phase is Phase.PREPARING:
            self._complete_if_all_joined()
        else:
            self._prepare()

    def _prepare(self) -> None:
        if self.phase is Phase.COMPLETING:
            for member in self.members.values():
                member.assignment = ""
            self._answer_syncs(REBALANCE)
        self._unsynced.clear()
        self._is_first = self.phase is Phase.EMPTY
        self.phase = Phase.PREPARING
        if self._is_first:
            delay_ms = self._limits.initial_delay_ms
            self._waits_first(delay_ms, max(self._longest_ms - delay_ms, 0))
        elif self._all_joined:
            self._complete()
        else:
            self._waits()

    def _complete_if_all_joined(self) -> None:
        if self.phase is Phase.PREPARING and not self._is_first and self._all_joined:
            self._complete()

    def _complete(self) -> None:
        """A member that did not join is out, unless it is static; a member that joined leads; all are answered."""
        self._delay = None
        for who, member in tuple(self.members.items()):
            if not member.join and member.instance is None:
                self._remove(who)
        if self.members and (self.leader is None or not self.members[self.leader].join):
            self.leader = (
                next((who for who in self._in_order() if self.members[who].join), None) or self.leader
            )
            if self.leader is None or not self.members[self.leader].join:
                self._waits()
                return
        self.generation += 1
        self._is_first = False
        if not self.members:
            self.phase, self.protocol = Phase.EMPTY, None
            self._writes()
            return
        self.phase, self.protocol = Phase.COMPLETING, self._elected()
        self._unsynced = set(self.members)
        for who in self._in_order():
            member = self.members[who]
            self._answer_join(member, self._joined_as(who, with_members=who == self.leader))
            member.is_new = False
            self._session(who)
        self.effects.timers[SYNC, None] = self._longest_ms

    def _waits_first(self, delay_ms: int, left_ms: int) -> None:
        self._delay = delay_ms, left_ms
        self.effects.timers[JOIN, None] = delay_ms

    def _waits(self) -> None:
        self._delay = None
        self.effects.timers[JOIN, None] = self._longest_ms

    def _elected(self) -> str:
        return elected([self.members[who] for who in self._in_order()], self._listed)
