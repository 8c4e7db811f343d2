"""What lines of logs show of a group of the classic protocol: generations, and who had joined them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from groups.history.state.classic_group import UNKNOWN_GENERATION
from groups.texts.found import LogEvent
from groups.texts.inferred_group import UUID, InferredGroup, InferredMember
from groups.texts.inferred_values import Partitions, classic_group
from groups.texts.one_axis import number

UNNAMED: Final = "-id-that-no-line-names"


class ClassicLines(InferredGroup):
    """An entry for each generation, once its lines settle who is in it."""

    def _joined(self, event: LogEvent) -> None:
        if member := event.fields.get("member"):
            self.members[member] = InferredMember(self._client(member))

    def _removed(self, event: LogEvent) -> None:
        for member in list(self.members):
            if member in event.fields["members"]:
                del self.members[member]
        self._note(f"The coordinator removed members that had not joined: {event.fields['members'][:400]}")

    def _took_over(self, event: LogEvent) -> None:
        """A static member is back: its generation goes on, with another id in its place."""
        before, instance = event.fields["before"].rstrip("."), event.fields["groupInstanceId"]
        if self.recorded or before not in self.members or not self.written:
            return
        ids = (each.fields.get("member", "") for each in self.events if each.at_ms >= self.at_ms)
        member = next((one for one in ids if one != before and UUID.sub("", one) == instance), None)
        member = member or f"{instance}{UNNAMED}"
        self.members[member] = self.members.pop(before)
        self.facts[member] = {**self.facts.get(before, {}), **self.facts.get(member, {})}
        generation = max(self.written)
        if self.leaders.get(generation) == before:
            self.leaders[generation] = member
        self._write(generation, self.members, self.topics)

    def _moved(self, _event: LogEvent) -> None:
        self._note("The group's coordinator moved, or was started again")

    def _preparing(self, event: LogEvent) -> None:
        self._phase("PreparingRebalance")
        self._note(f"The coordinator prepares a rebalance: {event.fields['reason']}")

    def _stabilized(self, _event: LogEvent) -> None:
        self._phase("CompletingRebalance")

    def _empty(self, event: LogEvent) -> None:
        self.members = {}
        if not self.recorded and not self.modern:
            self._write(number(event.fields["generation"]) or 0, {}, [])

    def settle(self, event: LogEvent) -> None:
        generation = number(event.fields.get("generation"))
        if generation is None or generation in self.written or self.settles[generation] != event.what:
            return
        given = self.given.get(generation, {})
        self.members = {
            member: self.members.get(member) or InferredMember(self._client(member))
            for member in self._members_of(generation, given)
        }
        # Who gets nothing cannot be distinguished from who has no line, unless all have one.
        count = number(event.fields.get("count"))
        whole = generation in self.led or (count == len(self.members) and self.members.keys() <= given.keys())
        for member, each in self.members.items():
            each.assigned = given.get(member) if whole else None
        if not self.written and generation > 1 and self.new & self.members.keys():
            # A first record lists its members as there before: those that join come after one without them.
            there = self.members.items()
            before = {name: InferredMember(each.client_id) for name, each in there if name not in self.new}
            self._write(UNKNOWN_GENERATION, before, [])
        self._write(generation, self.members, self.topics if whole else [])
        if count is not None and count != len(self.members):
            text = f"The coordinator counts {count} members in generation {generation}; the lines name {len(self.members)}"
            self._note(text)

    def _members_of(self, generation: int, given: Mapping[str, Partitions]) -> Iterable[str]:
        """A leader's line names all members of its generation; else those that are there, and those that say they are."""
        if generation in self.led:
            return sorted(given)
        return sorted({*self.members, *self.synced.get(generation, ()), *given})

    def _write(self, generation: int, members: Mapping[str, InferredMember], topics: list[str]) -> None:
        self.written.add(generation)
        rows = {
            member: (each.client_id, each.assigned, self.facts.get(member, {}))
            for member, each in members.items()
        }
        value = classic_group(
            generation,
            self.at_ms,
            rows,
            topics,
            protocol=self.protocols.get(generation, ""),
            leader=self.leaders.get(generation),
        )
        self._record({"type": 2, "key": {"group": self.group}, "version": 4, "value": value})
