"""What is deleted with something else: offsets of deleted topics and groups, and expressions that nobody has (G.1).

Nothing more may go: offsets of a topic that is there go with their group, or past their retention, alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from groups.history.entries import Entry, NotedTopic
from simulations.invariants.model import Member, Topics
from simulations.invariants.violations import Partition, Violations, named


class LeftoverChecks:
    """``record`` takes the records of a unit, ``settled`` looks at it where it ends."""

    def __init__(self, violations: Violations, topics: Topics, *, kafka: bool) -> None:
        self._violations = violations
        self._topics = topics
        self._kafka = kafka
        self._offsets: dict[Partition, int] = {}
        self._expressions: dict[str, int] = {}
        self._gone: dict[str, int] = {}
        self._removed: dict[Partition, int] = {}
        self._looks = False
        self._group_goes = False
        self._deletes = False
        self._expires = 0
        self._loading_until_ms = 0

    def record(self, entry: Entry) -> None:
        key, value = entry.payload.get("key"), entry.payload.get("value")
        if key is None:
            return
        match entry.payload["type"]:
            case 1:
                where = (key["topic"], key["partition"])
                if value is not None:
                    self._offsets[where] = entry.sequence
                elif self._offsets.pop(where, 0):
                    self._removed[where] = entry.sequence
            case 3 if value is None:
                self._group_goes = True
            case 5:
                self._looks = True
            case 16:
                self._looks = True
                if value is None:
                    self._expressions.pop(key["regularExpression"], None)
                else:
                    self._expressions[key["regularExpression"]] = entry.sequence

    def note(self, entry: Entry) -> None:
        """A note of the world around the group."""
        match entry.payload["note"]:
            case "delete_group":
                self._deletes = not entry.payload["error"]
            case "expire_offsets":
                self._expires = entry.sequence
            case "topics":
                self._note_topics(entry, entry.payload["topics"])

    def _note_topics(self, entry: Entry, topics: Mapping[str, NotedTopic | None]) -> None:
        for name, topic in topics.items():
            if topic is not None and topic.get("id") in (None, self._topics.ids.get(name, topic.get("id"))):
                self._gone.pop(name, None)
            elif entry.at_ms > self._loading_until_ms and any(where[0] == name for where in self._offsets):
                # A coordinator that is loading has no offsets to remove yet, and is not checked again.
                self._gone[name] = entry.sequence

    def failed_over(self, entry: Entry) -> None:
        """What the last coordinator was about to remove nobody removes any more."""
        self._gone.clear()
        self._deletes = False
        self._loading_until_ms = entry.at_ms + entry.payload.get("loading_ms", 0)

    def settled(self, entry: Entry, members: Mapping[str, Member]) -> None:
        """A unit is over."""
        self._offsets_removed(entry)
        if self._looks and self._kafka:
            self._looks = False
            self._expressions_kept(entry, members)

    def _offsets_removed(self, entry: Entry) -> None:
        removed, self._removed = self._removed, {}
        goes, self._group_goes = self._group_goes or self._deletes, False
        if not removed:
            return
        self._deletes = False
        if goes or (self._expires and entry.cause == self._expires):
            return
        strange = [where for where in removed if where[0] in self._topics.ids and where[0] not in self._gone]
        if strange:
            text = f"Offsets of {named(strange)} are removed, and neither the topic nor the group is deleted"
            self._violations.add("offsets_go_along", text, (*removed.values(), entry.sequence), (), strange)
        for where in removed:
            if where[0] in self._gone and not any(each[0] == where[0] for each in self._offsets):
                del self._gone[where[0]]

    def _expressions_kept(self, entry: Entry, members: Mapping[str, Member]) -> None:
        used = {member.regex for member in members.values() if member.regex}
        for regex, sequence in self._expressions.items():
            if regex not in used:
                text = f"The topics of the expression {regex} are kept, and no member has it"
                self._violations.add("expressions_go_along", text, (sequence, entry.sequence))

    def at_rest(self, sequence: int) -> None:
        """Everything had time enough."""
        for name, since in self._gone.items():
            if left := [where for where in self._offsets if where[0] == name]:
                text = f"The topic {name} is deleted, and offsets of {named(left)} are still there"
                self._violations.add("offsets_go_along", text, (since, sequence), (), left)
