"""Entries of a group's timeline, inferred from all lines of logs that name it.

With records of the same group the lines add what no record has: reasons, leaves, sessions that expired, what clients were given. Each
source of lines is moved onto the records' axis by the skew that its generations or epochs show. Without records the lines alone make the
group: its members as far as a line names them, and its assignments as far as a leader's or a client's line has them. A member that no
line reports as gone is there; why a member went is what a line states, or unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from groups.history.entries import Kind
from groups.history.story.events import ERROR_NAMES
from groups.history.words import listed, listed_partitions
from groups.texts.found import LogEvent, TextEntry
from groups.texts.inferred_classic import ClassicLines
from groups.texts.inferred_consumer import ConsumerLines
from groups.texts.inferred_group import SETTLES
from groups.texts.inferred_values import CALLBACKS, partitions, refused_commits
from groups.texts.one_axis import COORDINATOR, Recorded, on_one_axis

REFUSED_SHOWN: Final = 3
"""Partitions of a refused commit that its note names."""


def inferred_entries(events: Sequence[LogEvent], recorded: Recorded) -> list[TextEntry]:
    """The entries that lines of one group make, in the order of their times. ``events``: in any order."""
    moved, notes = on_one_axis(events, recorded)
    moved.sort(key=lambda event: event.at_ms)
    if not moved:
        return []
    return [*notes, *_Group(moved, recorded.any).entries()]


class _Group(ClassicLines, ConsumerLines):
    """Makes the entries of one group's events; here is what lines of both protocols show."""

    def entries(self) -> list[TextEntry]:
        for event in self.events:
            self.at_ms = event.at_ms
            if (handle := _HANDLERS.get(event.what)) is not None:
                handle(self, event)
            if event.what in SETTLES and not (self.recorded or self.modern):
                self.settle(event)
        return self.out

    def _named(self, event: LogEvent) -> None:
        if member := event.fields.get("member"):
            self.member_of[event.source] = member

    def _reason(self, event: LogEvent) -> None:
        self._note(f"{event.source} logs: {event.fields['reason'].strip()}")

    def _refused_commit(self, event: LogEvent) -> None:
        """A client logs which commits were refused, and as what; the coordinator logs nothing of it."""
        refused = refused_commits(event.fields)
        if refused is None:
            return
        code, offsets = refused
        member = self.member_of.get(event.source)
        places = [f"{topic}-{number} at {offset}" for topic, number, offset in offsets]
        shown = listed(
            places
            if len(places) <= REFUSED_SHOWN
            else [*places[:REFUSED_SHOWN], f"{len(places) - REFUSED_SHOWN} more"]
        )
        self._note(f"{event.source} logs: its commit of {shown} was refused ({ERROR_NAMES[code]})")
        if member is not None:
            asked, topics = (
                [{"name": topic, "partitions": [{"partitionIndex": number, what: value}]} for topic, number, value in some]
                for what, some in (
                    ("committedOffset", offsets),
                    ("errorCode", [(topic, number, code) for topic, number, _ in offsets]),
                )
            )  # fmt: skip
            commit = {"api": "OffsetCommit", "version": 9}
            request = {"groupId": self.group, "memberId": member, "topics": asked}
            self._add(Kind.REQUEST, member, {**commit, "body": request})
            body = {"throttleTimeMs": 0, "topics": topics}
            self._add(Kind.RESPONSE, COORDINATOR, {**commit, "to": member, "body": body})

    def _callback(self, event: LogEvent) -> None:
        given = partitions(event.fields.get("partitions", ""))
        if given:
            names = [f"{topic}-{number}" for topic, numbers in given.items() for number in numbers]
            self._note(f"{event.source} {CALLBACKS[event.what]} {listed_partitions(names)}")

    def _failed(self, event: LogEvent) -> None:
        """The coordinator logs it where a session ran out."""
        member = event.fields["member"]
        self._fires("session", member)
        self.members.pop(member, None)

    def _left(self, event: LogEvent) -> None:
        member = event.fields["member"]
        if member not in self.members and not self.recorded:
            return
        leaving = {"memberId": member, "groupInstanceId": None, "reason": event.fields.get("reason")}
        body = {"groupId": self.group, "members": [leaving]}
        self._add(Kind.REQUEST, member, {"api": "LeaveGroup", "version": 3, "body": body})
        if self.members.pop(member, None) is not None and self.members and not self.phases:
            self.out[-1] = self.out[-1]._replace(settled=False)
            self._phase("PreparingRebalance")


_HANDLERS: Final[Mapping[str, Callable[[_Group, LogEvent], None]]] = {
    **dict.fromkeys(CALLBACKS, _Group._callback),
    "given_id": _Group._named,
    "named": _Group._named,
    "reason": _Group._reason,
    "refused_commit": _Group._refused_commit,
    "refused_commits": _Group._refused_commit,
    "failed": _Group._failed,
    "left": _Group._left,
    "joined": _Group._joined,
    "removed": _Group._removed,
    "took_over": _Group._took_over,
    "moved": _Group._moved,
    "left_for_now": _Group._left_for_now,
    "took_over_modern": _Group._took_over_modern,
    "resubscribed": _Group._resubscribed,
    "preparing": _Group._preparing,
    "stabilized": _Group._stabilized,
    "empty": _Group._empty,
    "joined_generation": _Group._named,
    "joined_modern": _Group._joined_modern,
    "state": _Group._state,
    "reconciling": _Group._reconciling,
    "acknowledged": _Group._acknowledged,
    "bumped": _Group._bumped,
    "target": _Group._target,
    "fenced": _Group._fenced,
    "left_modern": _Group._left_modern,
}
