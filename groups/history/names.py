"""What members are called in sentences, and in which order they joined (which gives them their colours).

A scenario's ids are names already. A real id is 22 or more characters of noise, so a member is called by its
instance id, else by its client id, with its host or the first letters of its id where that name is taken. A name
once given is kept for the whole timeline.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NAME_LENGTH_MAX: Final = 12
"""Ids up to this length are shown as they are."""

CAST_MAX: Final = 2_000
"""Members that a timeline remembers by name; those that come later are called by the first letters of their id."""

ID_LETTERS: Final = 4

REPLACEMENT_MARK: Final = "~"
"""A scenario's ``A~2`` is A after a restart: another member in the same lane."""


class Cast:
    """Everybody who was a member, in order of joining."""

    def __init__(self) -> None:
        self._members: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}
        self._instances: dict[str, str] = {}

    def meet(
        self,
        member_id: str,
        sequence: int,
        *,
        client_id: str = "",
        host: str = "",
        instance_id: str | None = None,
    ) -> str:
        """The name of a member that joined at ``sequence``; the same as before if it was met already."""
        known = self._members.get(member_id)
        if known is not None:
            return str(known["name"])
        if len(self._members) >= CAST_MAX:
            return self.name(member_id)
        lane = self._lane(member_id, instance_id)
        name = self._free_name(member_id, client_id, host, instance_id)
        self._members[member_id] = {"id": member_id, "name": name, "joined": sequence, "lane": lane}
        self._names[name] = member_id
        if instance_id is not None:
            self._instances.setdefault(instance_id, lane)
        return name

    def name(self, member_id: str) -> str:
        """What a member is called; the first letters of its id if it was never met."""
        known = self._members.get(member_id)
        if known is not None:
            return str(known["name"])
        return member_id if len(member_id) <= NAME_LENGTH_MAX else member_id[: 2 * ID_LETTERS]

    def to_json(self) -> list[dict[str, Any]]:
        """``[{"id", "name", "joined", "lane"}]``: ``lane`` is the id of the first member in the same lane."""
        return [dict(member) for member in self._members.values()]

    def state_to_json(self) -> dict[str, Any]:
        return {"members": self.to_json(), "instances": dict(self._instances)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cast:
        cast = cls()
        for member in data["members"]:
            cast._members[member["id"]] = dict(member)
            cast._names[member["name"]] = member["id"]
        cast._instances = dict(data["instances"])
        return cast

    def _lane(self, member_id: str, instance_id: str | None) -> str:
        if instance_id is not None and instance_id in self._instances:
            return self._instances[instance_id]
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
