"""What a log's members do after a moment, as lines of a script: who is gone, who came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from groups.history.evidence.display_names import NamedMember
from groups.history.frames.shapes import Frame
from simulations.fork.continuing import Line
from simulations.fork.group_of_frame import name_of, names_of
from simulations.world.scenario import Verb
from simulations.world.scenario.topics import NAME

LINES_MOST: Final = 500
"""Members' events of one incident; a log with more is looked at in parts."""


class LaterEvents:
    """Sees the frames of a log after the moment, in order. The cast maps its ids to processes."""

    def __init__(self, start: Frame, cast: Sequence[NamedMember]) -> None:
        self._began_ms = start["at_ms"]
        self._names = names_of(start["members"], cast)
        self._shown = {each["id"]: each["name"].partition("~")[0] for each in cast}
        self._members = set(start["members"])
        self._instances = {
            member_id: member.get("instance_id") for member_id, member in start["members"].items()
        }
        self._gone: set[str] = set()
        self.lines: list[Line] = []

    def see(self, frame: Frame) -> None:
        members = frame["members"]
        if members.keys() == self._members:
            return
        at_ms = max(1, frame["at_ms"] - self._began_ms)
        removed, added = self._members - members.keys(), members.keys() - self._members
        self._members = set(members)
        for member_id in sorted(added):
            instance_id = members[member_id].get("instance_id")
            former = next(
                (
                    each
                    for each in sorted(removed)
                    if instance_id and self._instances.get(each) == instance_id
                ),
                None,
            )
            self._instances[member_id] = instance_id
            if former is not None:
                removed.discard(former)
                self._names[member_id] = self._names[former]
                self._add(at_ms, Verb.RESTART, self._names[former])
        for member_id in sorted(removed):
            name = self._names[member_id]
            self._gone.add(name)
            self._add(at_ms, Verb.LEAVE, name)
        for member_id in sorted(added):
            if member_id not in self._names:
                self._names[member_id] = name = self._name(member_id)
                self._gone.discard(name)
                self._add(at_ms, Verb.JOIN, name)

    def _add(self, at_ms: int, verb: Verb, name: str) -> None:
        self.lines.append({"at": f"{at_ms}ms", str(verb): name})

    def _name(self, member_id: str) -> str:
        """A process that came back has its former name, if that is free; another one a new name."""
        taken = set(self._names.values())
        shown = self._shown.get(member_id, "")
        if NAME.fullmatch(shown) and (shown not in taken or shown in self._gone):
            return shown
        number = 0
        while name_of(number) in taken:
            number += 1
        return name_of(number)
