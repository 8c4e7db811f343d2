"""What members are called in sentences, and in which order they joined (which gives them their colours).

A scenario's ids are names already. A real id is 22 or more characters of noise, so a member is called by its
instance id, else by its client id, with its host or the first letters of its id where that name is taken. A name
once given is kept for the whole timeline.

A process that returns under its instance id, or under its client id after the member that had it went, is one name in
one lane, whatever its member id is now. A client id that two members had at the same time names neither of them so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, TypedDict

from groups.history.state.declared import As, document

NAME_LENGTH_MAX: Final = 12
"""Ids up to this length are shown as they are."""

CAST_MAX: Final = 2_000
"""Members that a timeline remembers by name; those that come later are called by the first letters of their id."""

HOSTS_MAX: Final = 20
"""Hosts of members that a timeline remembers: lists of groups are narrowed by them, and hold them all."""

ID_LETTERS: Final = 4

REPLACEMENT_MARK: Final = "~"
"""A scenario's ``A~2`` is A after a restart: another member in the same lane."""


TOGETHER_MS: Final = 3_000
"""Members of one client id that join this close to each other are two processes; later, one is the other's restart."""


class NamedMember(TypedDict):
    """A member as a summary names it."""

    id: str
    name: str
    joined: int
    """The sequence of the step with which it joined."""
    lane: str
    """The id of the first member in the same lane."""


@document
@dataclass(slots=True)
class _Client:
    """A client id: the last member that had it, those that have it now with host and since when, and whether two
    processes ever had it at once."""

    last: str
    present: dict[str, tuple[str, int]] = field(default_factory=dict)
    shared: bool = False


def _all(members: Mapping[str, NamedMember]) -> list[NamedMember]:
    return list(members.values())


def _by_id(members: Iterable[NamedMember]) -> dict[str, NamedMember]:
    return {member["id"]: member for member in members}


@document
@dataclass(slots=True)
class DisplayNames:
    """Everybody who was a member, in order of joining."""

    _members: Annotated[dict[str, NamedMember], As(list[NamedMember], _all, _by_id)] = field(
        default_factory=dict
    )
    _instances: dict[str, str] = field(default_factory=dict)
    """Instance id → the lane of the process that has it."""
    _clients: dict[str, _Client] = field(default_factory=dict)
    _hosts: list[str] = field(default_factory=list)
    _names: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for member in self._members.values():
            self._names.setdefault(member["name"], member["id"])

    def meet(
        self,
        member_id: str,
        sequence: int,
        *,
        client_id: str = "",
        host: str = "",
        instance_id: str | None = None,
        at_ms: int = 0,
    ) -> str:
        """The name of a member that joined at ``sequence``; the same as before if it was met already."""
        known = self._members.get(member_id)
        if known is not None:
            return str(known["name"])
        if host and host not in self._hosts and len(self._hosts) < HOSTS_MAX:
            self._hosts.append(host)
        if len(self._members) >= CAST_MAX:
            return self.name(member_id)
        before = self._before(member_id, client_id, host, instance_id, at_ms)
        lane = self._lane(member_id, before)
        if before is None or len(member_id) <= NAME_LENGTH_MAX:
            name = self._free_name(member_id, client_id, host, instance_id)
        else:
            name = self._again(lane, client_id)
        self._members[member_id] = {"id": member_id, "name": name, "joined": sequence, "lane": lane}
        self._names.setdefault(name, member_id)
        if instance_id is not None:
            self._instances.setdefault(instance_id, lane)
        return name

    def comes(self, member_id: str, client_id: str, host: str, at_ms: int) -> None:
        """A member is in the group from now on; ``meet`` comes first."""
        if member_id not in self._members or not client_id:
            return
        known = self._clients.get(client_id)
        if known is None:
            known = self._clients[client_id] = _Client(member_id)
        known.shared = known.shared or self._is_another(known, host, at_ms)
        known.last = member_id
        known.present[member_id] = (host, at_ms)

    def goes(self, member_id: str, client_id: str) -> None:
        """A member that was met is in the group no longer."""
        known = self._clients.get(client_id)
        if known is not None:
            known.present.pop(member_id, None)

    def lane(self, member_id: str) -> str:
        """The id of the first member in the same lane: what a process that returns has in common with itself."""
        known = self._members.get(member_id)
        return str(known["lane"]) if known is not None else member_id

    def is_static(self, member_id: str) -> bool:
        """Whether its process has a ``group.instance.id``."""
        return self.lane(member_id) in self._instances.values()

    def name(self, member_id: str) -> str:
        """What a member is called; the first letters of its id if it was never met."""
        known = self._members.get(member_id)
        if known is not None:
            return str(known["name"])
        return member_id if len(member_id) <= NAME_LENGTH_MAX else member_id[: 2 * ID_LETTERS]

    def members(self) -> list[NamedMember]:
        """In the order in which they joined."""
        return [member.copy() for member in self._members.values()]

    def hosts(self) -> list[str]:
        """The first hosts that members joined from."""
        return list(self._hosts)

    def _before(
        self, member_id: str, client_id: str, host: str, instance_id: str | None, at_ms: int
    ) -> str | None:
        """The lane of whom a new member is the return of.

        Of a client id that is still there it is one if it comes from the same host, and not at the same time: a process that
        was killed counts as a member until its session expires.
        """
        if instance_id is not None:
            return self._instances.get(instance_id)
        known = self._clients.get(client_id)
        if known is None or known.shared or len(member_id) <= NAME_LENGTH_MAX:
            return None
        return None if self._is_another(known, host, at_ms) else self.lane(known.last)

    @staticmethod
    def _is_another(known: _Client, host: str, at_ms: int) -> bool:
        """Whether a process with this client id runs at the same time as the one that has it, and not after it."""
        return any(old != host or at_ms - since < TOGETHER_MS for old, since in known.present.values())

    def _again(self, lane: str, client_id: str) -> str:
        """The name of the lane, marked with a number while somebody still is called so."""
        name = self.name(lane)
        known = self._clients.get(client_id)
        present = {self.name(member_id) for member_id in known.present} if known is not None else set()
        number, free = 1, name
        while free in present:
            number += 1
            free = f"{name}{REPLACEMENT_MARK}{number}"
        return free

    def _lane(self, member_id: str, before: str | None) -> str:
        if before is not None:
            return before
        first = member_id.split(REPLACEMENT_MARK)[0]
        return first if len(member_id) <= NAME_LENGTH_MAX and first in self._members else member_id

    def _free_name(self, member_id: str, client_id: str, host: str, instance_id: str | None) -> str:
        if len(member_id) <= NAME_LENGTH_MAX:
            candidates = [member_id]
        else:
            candidates = [instance_id] if instance_id else []
            candidates += [client_id, f"{client_id}@{host.lstrip('/')}"] if client_id else []
        for name in candidates:
            if name and name not in self._names:
                return name
        stem = f"{instance_id or client_id} " if instance_id or client_id else ""
        # A classic member's id begins with its client id, so its own letters come after that.
        letters = member_id.removeprefix(f"{instance_id or client_id}-")
        # Without either it keeps the name that it had while only its id was spoken of.
        length = ID_LETTERS if stem else 2 * ID_LETTERS
        while f"{stem}{letters[:length]}" in self._names and length < len(letters):
            length += 1
        return f"{stem}{letters[:length]}"
