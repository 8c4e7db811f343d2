"""The digester: changes and moments in, digests out. It is next to the fold and costs what the changes cost.

It knows frames only by the changes that lead from one to the next, so that it works alike on what the recorder has just
made and on a chunk that is read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from groups.history.digests.events import Collapsing
from groups.history.digests.levels import Base
from groups.history.digests.ownership import ASSIGNED, CLIENT, PENDING, Ownership
from groups.history.digests.part import Digest, Facts
from groups.history.digests.values import (
    BEHIND,
    CUT,
    FENCED,
    KILLED,
    MEMBER,
    NOBODY,
    NOWHERE,
    OUTSIDE,
    PAUSED,
    MemberValue,
    PartitionKey,
    PartitionValue,
)
from groups.history.evidence.lives import EAGER
from groups.history.frames.changes import Change, Value
from groups.history.frames.shapes import Frame
from groups.history.state.classic_group import BETWEEN
from groups.history.story.moment import Moment


def updated(held: dict[str, list[int]], below: list[str], new: Value) -> dict[str, list[int]]:
    """Partitions by topic after a change of all of them, or of one topic's list."""
    return {**held, below[0]: new or []} if below else dict(new or {})


def parts_of(path: list[str], depth: int, old: Value, new: Value) -> Iterable[tuple[str, Value, Value]]:
    """The parts that a change of all of them, or of one, speaks of: name, old, new."""
    if len(path) > depth:
        yield path[depth], old, new
        return
    old, new = old or {}, new or {}
    for name in {**old, **new}:
        yield name, old.get(name), new.get(name)


def by_topic(path: list[str], depth: int, old: Value, new: Value) -> tuple[Value, Value]:
    """A change of one topic's list is one of a map with that topic alone."""
    if len(path) > depth:
        return {path[depth]: old}, {path[depth]: new}
    return old, new


_HARD: Final = {"cut": CUT, "paused": PAUSED, "killed": KILLED, "fenced": FENCED}
_FACTS: Final = frozenset({"client_id", "host", "rack_id", "instance_id"})


K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True)
class _Scalars:
    """The group's single values in a frame, by their names there."""

    state: str | None = None
    group_epoch: int | None = None
    assignment_epoch: int | None = None
    generation: int | None = None


class Digester:
    """Begins with a frame, takes changes in order, and a moment when the changes up to it have been taken.

    ``met``: topics that the group had to do with before the frame. Their partitions are nobody's, rather than none of its
    own, when nobody subscribes to them any more.
    """

    def __init__(self, frame: Frame, met: Iterable[str] = ()) -> None:
        self._ownership = Ownership()
        self._ownership.meet(met)
        self._members: dict[str, int | None] = {}
        """Member epochs of the present members."""
        self._facts: dict[str, Facts] = {}
        self._hard: dict[str, int] = {}
        self._assigned: dict[str, dict[str, list[int]]] = {}
        self._reads: dict[str, dict[str, list[int]]] = {}
        self._barrier = self._has_clients = False
        self._protocol_name: str | None = None
        self._held: dict[str, dict[str, list[int]]] = self._assigned
        """What members hold: what is assigned; what their clients read, where a classic group's joining phase is known; nothing where
        an eager group was described between two generations (``hasStopped`` of ``view.js``)."""
        self._revoking: dict[str, dict[str, list[int]]] = {}
        self._scalars = _Scalars()
        self._coordinator: dict[str, Value] | None = None
        self._named_coordinator: tuple[str, int | None] | None = None
        self._shown: dict[str, MemberValue] = {}
        self._shown_partitions: dict[PartitionKey, PartitionValue] = {}
        self._last_state: tuple[str | None, int | None] = (None, None)
        self._sequence, self._at_ms = int(frame["sequence"]), int(frame["at_ms"])
        self._changing = self._sequence
        for name, value in frame.items():
            self.change({"sequence": self._sequence, "path": [name], "new": value})
        self._show(None, None)
        self.begin()

    @property
    def unassigned(self) -> int:
        """How many partitions nobody holds, after the changes that were taken."""
        self._ownership.settle()
        return self._ownership.unassigned

    def begin(self) -> None:
        """A chunk begins: what is taken next starts with a state of its own. Call it only after ``take``."""
        digest = Digest(begins=True)
        self._go_on(digest)
        self._column(self._sequence, self._at_ms, moments=0)
        digest.members.start = dict(self._base.members)
        digest.partitions.start = dict(self._base.partitions)
        digest.facts = {member_id: self._facts[member_id] for member_id in self._members}
        state, epoch = self._last_state
        if state is not None:
            digest.tracks.states.append((0, state))
        if epoch is not None:
            digest.tracks.epochs.append((0, epoch))
        if self._coordinator and (name := self._coordinator.get("name")):
            digest.tracks.coordinators.append((0, name, self._coordinator.get("loading_until_ms")))

    def take(self) -> tuple[Digest, Base]:
        """What came since the last call, or since the beginning, and what it goes on from.

        It begins a chunk if ``begin`` was called before it.
        """
        digest, base = self._digest, self._base
        digest.events = self._events.groups
        self._go_on(Digest(begins=False))
        return digest, base

    def _go_on(self, digest: Digest) -> None:
        self._digest = digest
        self._events = Collapsing()
        self._base = Base(dict(self._shown), dict(self._shown_partitions))

    def change(self, change: Change) -> None:
        path = change["path"]
        if change["sequence"] != self._changing:
            self._changing = change["sequence"]
            self._ownership.settle()
        handler = _HANDLERS.get(path[0])
        if handler is not None:
            handler(self, path, change.get("old"), change.get("new"))

    def moment(self, moment: Moment) -> None:
        """A moment: a column of its own, with the state after the changes that were taken."""
        columns = self._digest.columns
        at = len(columns)
        self._sequence, self._at_ms = moment["sequence"], moment["at_ms"]
        self._show(self._digest, at)
        self._column(self._sequence, self._at_ms, moments=1)
        self._events.add(moment)
        if moment["shape"] == "violation":
            self._digest.tracks.violations.append((at, moment["says"]))

    def _column(self, sequence: int, at_ms: int, *, moments: int) -> None:
        values = (
            sequence,
            sequence,
            at_ms,
            at_ms,
            moments,
            self._ownership.unassigned,
            len(self._members),
            0,
        )
        for held, value in zip(self._digest.columns.lists(), values, strict=True):
            held.append(value)

    def _show(self, digest: Digest | None, at: int | None) -> None:
        """Takes over what is dirty into what is shown, and writes the differences to the digest's column ``at``."""
        ownership = self._ownership
        ownership.settle()
        ownership.know(self._target_is_known())
        for member_id in sorted(ownership.dirty_members):
            value = self._value(member_id)
            if self._shown.get(member_id, NOBODY) != value:
                _keep(self._shown, member_id, value, NOBODY)
                if digest is not None and at is not None:
                    digest.members.changes.append((at, member_id, value))
                    if member_id in self._facts:
                        digest.facts[member_id] = self._facts[member_id]
        ownership.dirty_members.clear()
        for key in sorted(ownership.dirty_partitions):
            place = ownership.value(key)
            if self._shown_partitions.get(key, NOWHERE) != place:
                _keep(self._shown_partitions, key, place, NOWHERE)
                if digest is not None and at is not None:
                    digest.partitions.changes.append((at, key, place))
        ownership.dirty_partitions.clear()
        self._show_group(digest, at)

    def _show_group(self, digest: Digest | None, at: int | None) -> None:
        state, epoch = self._scalars.state, self._epoch()
        before, self._last_state = self._last_state, (state, epoch)
        it = self._coordinator
        named = (name, it.get("epoch")) if it and (name := it.get("name")) else self._named_coordinator
        fresh = named if named != self._named_coordinator else None
        self._named_coordinator = named
        if digest is None or at is None:
            return
        if state is not None and state != before[0]:
            digest.tracks.states.append((at, state))
        if epoch is not None and epoch != before[1]:
            digest.tracks.epochs.append((at, epoch))
        if fresh is not None and it is not None:
            digest.tracks.coordinators.append((at, fresh[0], it.get("loading_until_ms")))

    def _value(self, member_id: str) -> MemberValue:
        hard = self._hard.get(member_id, 0)
        if member_id not in self._members:
            outside = any(self._reads.get(member_id, {}).values())
            return MemberValue(hard | (OUTSIDE if outside else 0), 0, 0, 0)
        flags, owned, revoking, wanted = self._ownership.of(member_id)
        epoch, group = self._members[member_id], self._scalars.group_epoch
        behind = BEHIND if _behind(epoch, group) else 0
        return MemberValue(MEMBER | behind | hard | flags, owned, revoking, wanted)

    def _epoch(self) -> int | None:
        held = self._scalars.group_epoch
        return self._scalars.generation if held is None else held

    def _target_is_known(self) -> bool:
        epoch = self._scalars.group_epoch
        return epoch is not None and epoch > 0 and self._scalars.assignment_epoch == epoch

    # What a change means, by the first name of its path.

    def _protocol(self, _path: list[str], _old: Value, new: Value) -> None:
        self._ownership.become(share=new == "share", streams=new == "streams")

    def _scalar(self, path: list[str], _old: Value, new: Value) -> None:
        before = self._scalars.group_epoch
        setattr(self._scalars, path[0], new)
        if path[0] == "state":
            self._hold_again()
        if path[0] == "group_epoch":
            # A member may be at -1, so an epoch of the group that was not known is not the same as 0.
            self._ownership.dirty_members.update(
                member_id
                for member_id, epoch in self._members.items()
                if _behind(epoch, before) != _behind(epoch, new)
            )

    def _coordinate(self, path: list[str], _old: Value, new: Value) -> None:
        if len(path) == 1:
            self._coordinator = None if new is None else dict(new)
        elif self._coordinator is not None:
            self._coordinator[path[1]] = new

    def _topic(self, path: list[str], old: Value, new: Value) -> None:
        if len(path) == 1:
            for topic in {**(old or {}), **(new or {})}:
                self._topic([*path, topic], (old or {}).get(topic), (new or {}).get(topic))
        elif len(path) == 2:
            self._ownership.count(path[1], (new or {}).get("partitions"))
        elif path[2] == "partitions":
            self._ownership.count(path[1], new)

    def _target(self, path: list[str], old: Value, new: Value) -> None:
        for member_id, before, after in parts_of(path, 1, old, new):
            self._ownership.want(member_id, *by_topic(path, 2, before, after))

    def _member(self, path: list[str], old: Value, new: Value) -> None:
        if len(path) > 2:
            self._field(path[1], path[2], path[3:], old, new)
            return
        for member_id, before, after in parts_of(path, 1, old, new):
            was, there = member_id in self._members, bool(after)
            self._ownership.dirty_members.add(member_id)
            if there:
                self._members[member_id] = after.get("epoch")
                self._facts[member_id] = Facts.of(after)
            else:
                self._members.pop(member_id, None)
            if was is not there:
                # What a client reads and revokes counts while it is a member's.
                for bit, held in (
                    (CLIENT, self._revoking),
                    (ASSIGNED, self._reads if self._held is self._reads else {}),
                ):
                    known = held.get(member_id)
                    self._ownership.hold(member_id, bit, *((known, None) if was else (None, known)))
            for name in ("assigned", "pending_revocation", "subscribed"):
                self._field(member_id, name, [], (before or {}).get(name), (after or {}).get(name))

    def _field(self, member_id: str, name: str, below: list[str], old: Value, new: Value) -> None:
        if name == "epoch":
            self._members[member_id] = new
            self._ownership.dirty_members.add(member_id)
        elif name == "assigned":
            held = self._assigned.get(member_id, {})
            now = self._assigned[member_id] = updated(held, below, new)
            if self._held is self._assigned:
                self._ownership.hold(member_id, ASSIGNED, held, now)
        elif name == "pending_revocation":
            self._ownership.hold(member_id, PENDING, *by_topic(below, 0, old, new))
        elif name == "subscribed":
            self._ownership.subscribe(member_id, old, new)
        elif name in _FACTS:
            setattr(self._facts[member_id], name, new)

    def _client(self, path: list[str], old: Value, new: Value) -> None:
        has_clients = len(path) > 1 or new is not None
        if has_clients is not self._has_clients:
            self._has_clients = has_clients
            self._hold_again()
        if len(path) > 2:
            self._client_changed(path[1], path[2], path[3:], old, new)
            return
        for client, before, after in parts_of(path, 1, old, new):
            before, after = before or {}, after or {}
            for name in ("owned", "revoking", *_HARD):
                self._client_changed(client, name, [], before.get(name), after.get(name))

    def _client_changed(self, client: str, name: str, below: list[str], old: Value, new: Value) -> None:
        if name == "revoking":
            held = self._revoking.get(client, {})
            now = self._revoking[client] = updated(held, below, new)
            if client in self._members:
                self._ownership.hold(client, CLIENT, held, now)
        elif name == "owned":
            held = self._reads.get(client, {})
            now = self._reads[client] = updated(held, below, new)
            if client not in self._members:
                self._ownership.dirty_members.add(client)
            elif self._held is self._reads:
                self._ownership.hold(client, ASSIGNED, held, now)
        elif name in _HARD:
            bits = self._hard.get(client, 0)
            self._hard[client] = bits | _HARD[name] if new else bits & ~_HARD[name]
            self._ownership.dirty_members.add(client)

    def _joining(self, path: list[str], _old: Value, new: Value) -> None:
        if len(path) == 1:
            self._barrier = new is not None
            self._hold_again()

    def _assignor(self, _path: list[str], _old: Value, new: Value) -> None:
        self._protocol_name = new
        self._hold_again()

    def _hold_again(self) -> None:
        """Have members hold what is theirs now, if that is something else than before."""
        if self._barrier:
            held = self._reads
        elif not self._has_clients and self._scalars.state in BETWEEN and self._protocol_name in EAGER:
            held = _NOTHING
        else:
            held = self._assigned
        if held is self._held:
            return
        before, self._held = self._held, held
        for member_id in self._members:
            self._ownership.hold(member_id, ASSIGNED, before.get(member_id), held.get(member_id))


def _behind(epoch: int | None, group_epoch: int | None) -> bool:
    return epoch is not None and group_epoch is not None and epoch < group_epoch


def _keep(shown: dict[K, V], key: K, value: V, nothing: V) -> None:
    if value == nothing:
        shown.pop(key, None)
    else:
        shown[key] = value


_NOTHING: Final[dict[str, dict[str, list[int]]]] = {}

Handler = Callable[[Digester, list[str], Value, Value], None]

_HANDLERS: Final[Mapping[str, Handler]] = {
    "members": Digester._member,
    "target": Digester._target,
    "clients": Digester._client,
    "barrier": Digester._joining,
    "protocol_name": Digester._assignor,
    "topics": Digester._topic,
    "coordinator": Digester._coordinate,
    "protocol": Digester._protocol,
    "state": Digester._scalar,
    "group_epoch": Digester._scalar,
    "assignment_epoch": Digester._scalar,
    "generation": Digester._scalar,
}


def digest_of(frame: Frame, changes: Iterable[Change], moments: Iterable[Moment]) -> Digest:
    """The digest of a chunk: its frame, and its changes and moments in order."""
    digester = Digester(frame)
    left = iter(changes)
    change = next(left, None)
    for moment in moments:
        while change is not None and change["sequence"] <= moment["sequence"]:
            digester.change(change)
            change = next(left, None)
        digester.moment(moment)
    return digester.take()[0]
