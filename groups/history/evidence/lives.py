"""Comings and goings: who joined and who is gone, what was known of them then, and whether they came back.

Also what a group's life is divided by: its forming, its changes, and its moves from one protocol to the other.
An incremental fold over steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from groups.history.entries import Provenance
from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.holdings import members_of
from groups.history.evidence.steps import Step
from groups.history.state.classic_group import READ_TYPES, ClassicMember
from groups.history.state.declared import Named, document
from groups.history.state.epochs import LEAVE_GROUP_STATIC_MEMBER_EPOCH, ModernMember
from groups.history.state.group import Protocol, State
from groups.wire.embedded.connect_protocol import CONNECT_PROTOCOL_TYPE

_CLASSIC: Final = Protocol.CLASSIC

COMINGS_KEPT_MAX: Final = 200
"""Joins, and removals, that are listed one by one; all are counted. Of each other kind as many."""

SEEN_MAX: Final = 2_000
"""Members, and lanes, of which is remembered that they were there before; as many as have names."""

FORMING_CALM_MS: Final = 6_000
"""A group has formed when nothing in it changed for longer than Kafka's default between two heartbeats (5 s): a member that comes
later joins a group that has formed."""

IDLE_LEAST_MS: Final = 20_000
"""A joiner holds nothing for some heartbeats, until others have released what it is to get."""

IDLE_PLACES_MAX: Final = 100
"""Partitions that are kept of those that ended a member's idleness."""

CLASSIC_HEARTBEAT_MS: Final = 3_000
"""Kafka's default between two heartbeats of a classic member, by one of which it learns of a rebalance."""

EAGER: Final = frozenset({"range", "roundrobin", "sticky"})
"""Assignors of the classic protocol whose members give everything up before each rebalance (KIP-429)."""

CONNECT_EAGER: Final = frozenset({"default"})
"""The protocol of Kafka Connect whose workers stop everything before each rebalance; ``compatible`` and ``sessioned`` do not (KIP-415)."""


@dataclass(slots=True)
class Coming:
    """A member that joined. ``again``: the ordinal among those of its lane (1 is the first)."""

    member: str
    lane: str
    sequence: int
    at_ms: int
    again: int = 1
    same_id: bool = False
    """Whether it was a member before, under the same id."""


@dataclass(slots=True)
class Going:
    """A member that is gone, with what the log held of it at that moment."""

    member: str
    lane: str
    sequence: int
    at_ms: int
    why: str | None = None
    """``left``, ``session_expired``, ``rebalance_timeout``, where a request or a timer shows it."""
    needs: list[str] = field(default_factory=list)
    classic: bool = False
    session_timeout_ms: int | None = None
    """As its own record reports it, in the classic protocol."""
    rebalance_timeout_ms: int | None = None
    join_phase_ms: int | None = None
    """How long a join phase lasts at most, where a classic member has no time to rejoin: else ``None``."""
    expired_ms: int | None = None
    """How long the session was that expired, where a timer reports it."""
    killed_ms: int | None = None
    killed_sequence: int | None = None
    """When its process was killed, where a fault shows it."""
    revoking_ms: int | None = None
    """For how long it had partitions to give up."""
    away: bool = False
    """A static member that had left for now."""
    quiet_ms: int | None = None
    """Since its last commit; ``None`` if it committed nothing of what it held."""
    limit_ms: int | None = None
    """A longer pause would break that rhythm."""
    silence: int | None = None
    """The number of the silence that ended so."""
    back_ms: int | None = None
    back_sequence: int | None = None
    back_same_id: bool = False
    others: int = 0
    """Members that stayed."""


@dataclass(slots=True)
class Away:
    """A static member that left for now: ``to_ms`` and ``to_sequence`` are ``None`` until it is back, replaced or removed."""

    member: str
    from_ms: int
    from_sequence: int
    places: list[tuple[str, int]]
    to_ms: int | None = None
    to_sequence: int | None = None


@dataclass(slots=True)
class Empty:
    """The group had no member; ``to_ms`` and ``to_sequence`` are ``None`` until somebody joins."""

    from_ms: int
    from_sequence: int
    to_ms: int | None = None
    to_sequence: int | None = None


@dataclass(slots=True)
class Idled:
    """A member that held nothing for a while, until it was gone, or got ``places`` (the first of them; none where it got a connector)."""

    member: str
    from_ms: int
    from_sequence: int
    to_ms: int
    to_sequence: int
    places: list[tuple[str, int]]
    gone: bool


@dataclass(slots=True)
class Passage:
    """The group went over to another protocol."""

    sequence: int
    at_ms: int
    to: str
    online: bool
    """Whether it had members all the time."""


@dataclass(slots=True)
class Generation:
    """A rebalance of a classic group whose assignor is known to be eager."""

    sequence: int
    at_ms: int
    generation: int
    assignor: str
    members: int


@dataclass(slots=True)
class Forming:
    """The group's first seconds: from its first member on, until nothing changed for ``FORMING_CALM_MS``."""

    from_ms: int
    to_ms: int
    sequence: int
    """Of the last change that belongs to it."""
    over: bool = False
    joined: int = 0
    """How many processes joined in it, however many of them are kept."""


@document
@dataclass(slots=True)
class Lives:
    """See the module."""

    comings: list[Coming] = field(default_factory=list)
    comings_count: int = 0
    goings: list[Going] = field(default_factory=list)
    goings_count: int = 0
    forming: Forming | None = None
    formed_after: bool = False
    """Whether the group had a past before it was seen to form: then it did not form here."""
    changed_ms: Annotated[int | None, Named("changed")] = None
    """When anything in the group last changed, commits aside."""
    changed_sequence: Annotated[int, Named("changed")] = 0
    emptied: list[Empty] = field(default_factory=list)
    """The last one is always kept."""
    aways: list[Away] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    eager: list[Generation] = field(default_factory=list)
    _revoking: dict[str, int] = field(default_factory=dict)
    idled: list[Idled] = field(default_factory=list)
    _idle: dict[str, list[int]] = field(default_factory=dict)
    _lanes: dict[str, int] = field(default_factory=dict)
    _seen: dict[str, None] = field(default_factory=dict)
    _present: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Lane → who of it is a member, since when and since which entry: a killed process lingers next to its restart."""

    def change(self, step: Step) -> None:
        """A step that changed the group; who comes and goes in it is distinguished, by ``comes`` and ``goes``."""
        now_ms = step.after.at_ms
        self._form(step, now_ms)
        self.changed_ms, self.changed_sequence = now_ms, step.sequence
        for member in step.members:
            present = _member(step.after, member.member_id)
            if isinstance(present, ModernMember) and present.pending_revocation:
                self._revoking.setdefault(member.member_id, now_ms)
            elif present is not None:
                self._revoking.pop(member.member_id, None)
            self._leaves_statically(member.member_id, present, step)
            self._idles(member.member_id, present, step)
        if step.migrates and len(self.passages) < COMINGS_KEPT_MAX and step.before.protocol is not None:
            recorded = step.before.classic.recorded or step.before.modern.epoch_recorded
            online = bool(members_of(step.before)) and bool(members_of(step.after))
            if recorded:
                self.passages.append(Passage(step.sequence, now_ms, str(step.after.protocol), online))
        self._rebalances(step, now_ms)

    def empties(self, step: Step) -> None:
        """A step after which the group has no member, or has one again."""
        empty, now_ms = not members_of(step.after), step.after.at_ms
        last = self.emptied[-1] if self.emptied else None
        if empty and step.removed:
            if len(self.emptied) >= COMINGS_KEPT_MAX:
                del self.emptied[-1]
            self.emptied.append(Empty(now_ms, step.sequence))
        elif (not empty or step.after.deleted) and last is not None and last.to_ms is None:
            last.to_ms, last.to_sequence = now_ms, step.sequence

    def _form(self, step: Step, now_ms: int) -> None:
        forming = self.forming
        if forming is None:
            there = step.before.classic.has_unknown_past or step.before.modern.has_unknown_past
            if step.found or self.formed_after or there:
                self.formed_after = True
            elif step.joined:
                self.forming = Forming(now_ms, now_ms, step.sequence)
            return
        if forming.over:
            return
        if now_ms - forming.to_ms > FORMING_CALM_MS or step.removed:
            forming.over = True
            return
        forming.to_ms, forming.sequence = max(forming.to_ms, now_ms), step.sequence

    @property
    def is_emptied(self) -> bool:
        """Whether all members are gone that the log has shown."""
        return bool(self.emptied) and self.emptied[-1].to_ms is None

    def _leaves_statically(
        self, member_id: str, member: ModernMember | ClassicMember | None, step: Step
    ) -> None:
        away = isinstance(member, ModernMember) and member.epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH
        if not away and not self.aways:
            return
        known = next((one for one in self.aways if one.member == member_id and one.to_ms is None), None)
        if known is not None and not away:
            known.to_ms, known.to_sequence = step.after.at_ms, step.sequence
        elif (
            known is None and away and isinstance(member, ModernMember) and len(self.aways) < COMINGS_KEPT_MAX
        ):
            held = sorted((topic, number) for topic, numbers in member.assigned.items() for number in numbers)
            places = [(topic, number) for topic, number in held[:COMINGS_KEPT_MAX]]
            self.aways.append(Away(member_id, step.after.at_ms, step.sequence, places))

    def _idles(self, member_id: str, member: ModernMember | ClassicMember | None, step: Step) -> None:
        if isinstance(member, ModernMember):
            holds = any(member.assigned.values()) or any(member.pending_revocation.values())
        else:
            # A member of a schema registry has something else than partitions, in bytes that are not read.
            unread = step.after.protocol is _CLASSIC and step.after.classic.protocol_type not in (
                "",
                *READ_TYPES,
            )
            holds = member is None or unread or member.has_work
        if holds:
            self._ends_idle(member_id, step, None if member is None else member.assigned)
        else:
            self._idle.setdefault(member_id, [step.after.at_ms, step.sequence])

    def _ends_idle(self, member_id: str, step: Step, assigned: Mapping[str, Iterable[int]] | None) -> None:
        since, now_ms = self._idle.pop(member_id, None), step.after.at_ms
        if since is None or now_ms - since[0] < IDLE_LEAST_MS or len(self.idled) >= COMINGS_KEPT_MAX:
            return
        places = sorted((topic, number) for topic, some in (assigned or {}).items() for number in some)
        del places[IDLE_PLACES_MAX:]
        gone = assigned is None
        self.idled.append(Idled(member_id, since[0], since[1], now_ms, step.sequence, places, gone))

    def _rebalances(self, step: Step, now_ms: int) -> None:
        before, after = step.before.classic, step.after.classic
        if step.after.protocol is not _CLASSIC or step.migrates or not before.members:
            return
        stayed = before.members.keys() & after.members.keys()
        eager = CONNECT_EAGER if after.protocol_type == CONNECT_PROTOCOL_TYPE else EAGER
        if before.generation == after.generation or after.protocol_name not in eager or not stayed:
            return
        if len(self.eager) < COMINGS_KEPT_MAX:
            self.eager.append(
                Generation(
                    step.sequence, now_ms, after.generation, str(after.protocol_name), len(after.members)
                )
            )

    def comes(self, step: Step, cast: DisplayNames, member_id: str) -> None:
        """A member joins, or takes the place of a static one."""
        lane = cast.lane(member_id)
        again = self._lanes.get(lane, 0) + 1
        same_id = member_id in self._seen
        self.was_there(cast, member_id)
        for going in reversed(self.goings):
            if going.lane == lane:
                if going.back_ms is None and not self._others_present(lane, member_id):
                    going.back_ms, going.back_sequence = step.after.at_ms, step.sequence
                    going.back_same_id = going.member == member_id
                break
        self._present.setdefault(lane, {})[member_id] = [step.after.at_ms, step.sequence]
        self.comings_count += 1
        if again == 1 and self.forming is not None and self.is_forming(step.sequence):
            self.forming.joined += 1
        if len(self.comings) < COMINGS_KEPT_MAX:
            self.comings.append(Coming(member_id, lane, step.sequence, step.after.at_ms, again, same_id))

    def _others_present(self, lane: str, member_id: str) -> bool:
        return any(other != member_id for other in self._present.get(lane, ()))

    def was_there(self, cast: DisplayNames, member_id: str) -> None:
        """A member that the log finds, or that replaces a static one."""
        lane = cast.lane(member_id)
        if lane in self._lanes or len(self._lanes) < SEEN_MAX:
            self._lanes[lane] = self._lanes.get(lane, 0) + 1
        if len(self._seen) < SEEN_MAX:
            self._seen[member_id] = None

    def goes(self, step: Step, going: Going) -> None:
        """A member is gone; the timeouts and its state are added here."""
        member = _member(step.before, going.member)
        timeout_ms = getattr(member, "rebalance_timeout_ms", -1)
        going.rebalance_timeout_ms = timeout_ms if timeout_ms > 0 else None
        if isinstance(member, ClassicMember):
            going.classic = True
            if timeout_ms < CLASSIC_HEARTBEAT_MS and self.goings_count < COMINGS_KEPT_MAX:
                going.join_phase_ms = _short_join_phase_ms(step)
            going.session_timeout_ms = member.session_timeout_ms if member.session_timeout_ms > 0 else None
        elif member is not None:
            going.away = member.epoch == LEAVE_GROUP_STATIC_MEMBER_EPOCH
        self._lingers(going)
        since_ms = self._revoking.pop(going.member, None)
        going.revoking_ms = None if since_ms is None else max(going.at_ms - since_ms, 0)
        going.others = len(members_of(step.after))
        self._ends_idle(going.member, step, None)
        self.goings_count += 1
        if len(self.goings) < COMINGS_KEPT_MAX:
            self.goings.append(going)

    def _lingers(self, going: Going) -> None:
        """Whether the process was restarted before the coordinator took it for gone."""
        present = self._present.get(going.lane, {})
        since = present.pop(going.member, [going.at_ms, going.sequence])
        if not present:
            self._present.pop(going.lane, None)
            return
        later = [one for one in present.values() if one[1] > since[1]]
        if later:
            going.back_ms, going.back_sequence = min(later, key=lambda one: one[1])

    @property
    def idle(self) -> Mapping[str, list[int]]:
        """Members that hold nothing: since when, and since which entry."""
        return self._idle

    def is_forming(self, sequence: int) -> bool:
        """Whether an entry belongs to the group's forming."""
        return self.forming is not None and sequence <= self.forming.sequence


def _short_join_phase_ms(step: Step) -> int | None:
    """The greatest rebalance timeout of a classic group of which members stayed, where it is shorter than a heartbeat interval.

    A description of a live group has no timeouts.
    """
    after = step.after.classic.members
    if not after or step.entries[-1].provenance is Provenance.INFERRED:
        return None
    longest_ms = max(
        one.rebalance_timeout_ms for one in (*step.before.classic.members.values(), *after.values())
    )
    return longest_ms if longest_ms < CLASSIC_HEARTBEAT_MS else None


def _member(state: State, member_id: str) -> ModernMember | ClassicMember | None:
    return members_of(state).get(member_id)
