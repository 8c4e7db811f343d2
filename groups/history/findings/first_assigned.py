"""First assigned: who got partitions that had no owner before, in a group that had formed: of a topic that grew, or that is new to it.

Needs: records of assignments. Claims: who got which of them, when.
Cannot know: whether the topic grew or was created then, without the cluster's metadata log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.entries import Kind
from groups.history.evidence.holdings import members_of
from groups.history.evidence.lives import FORMING_CALM_MS
from groups.history.evidence.steps import Step
from groups.history.findings.declaring import Declared, Row, Watch
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.state.group import Protocol, State
from groups.history.words import listed_partitions

KEPT_MAX: Final = 200
"""Gifts that are kept one by one."""

NEVER: Final = 1 << 31
"""No topic has so many partitions."""

TOPICS_MAX: Final = 2_000
"""Topics of which is remembered how far they were owned."""


@dataclass(slots=True)
class Gift:
    """A member got partitions that nobody had had: topic (its id, or its name in a classic group) and numbers."""

    at_ms: int
    sequence: int
    member: str
    topic: str
    numbers: list[int]
    is_new_topic: bool
    """Whether no member had any partition of it before."""


@dataclass(slots=True)
class FirstOwners(Watch):
    """By topic, up to which partition the group owned it when it had formed; and who got which later."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.RECORD})

    owned: dict[str, int] = field(default_factory=dict)
    gifts: list[Gift] = field(default_factory=list)
    calm_ms: int | None = None
    """When the last of the group's first partitions was given; what comes long after it is new."""

    def add(self, step: Step) -> None:
        after = step.after
        if step.migrates:
            # In another protocol topics have other keys.
            self.owned.clear()
            self._finds(after, list(members_of(after)))
            return
        if step.found:
            self._finds(after, step.found)
        if after.protocol is Protocol.SHARE:
            return
        for member in step.members:
            new: dict[str, list[int]] = {}
            for topic, number in member.gained:
                if number >= self.owned.get(topic, 0):
                    new.setdefault(topic, []).append(number)
            for topic, numbers in sorted(new.items()):
                self._gives(step, member.member_id, topic, sorted(numbers))

    def _gives(self, step: Step, member_id: str, topic: str, numbers: list[int]) -> None:
        now_ms = step.after.at_ms
        formed = self.calm_ms is not None and now_ms - self.calm_ms > FORMING_CALM_MS
        if not formed:
            self.calm_ms = now_ms
            self._owns(topic, numbers[-1])
            return
        known = {number for gift in self.gifts if gift.topic == topic for number in gift.numbers}
        numbers = [number for number in numbers if number not in known]
        if numbers and len(self.gifts) < KEPT_MAX:
            self.gifts.append(Gift(now_ms, step.sequence, member_id, topic, numbers, topic not in self.owned))

    def _owns(self, topic: str, number: int) -> None:
        if topic in self.owned or len(self.owned) < TOPICS_MAX:
            self.owned[topic] = max(self.owned.get(topic, 0), number + 1)

    def _finds(self, state: State, member_ids: Iterable[str]) -> None:
        """What these members hold was theirs before."""
        members = members_of(state)
        for member_id in member_ids:
            member = members.get(member_id)
            for topic, numbers in member.assigned.items() if member is not None else ():
                for number in numbers:
                    self._owns(topic, number)
        self.calm_ms = state.at_ms


def found_first(facts: Facts) -> Iterator[Finding]:
    """``first_assigned``: each member's; what one step gave to it of several topics as one."""
    if facts.frame["protocol"] == Protocol.STREAMS:
        return
    gifts: Iterable[Gift] = facts.watch(FirstOwners).gifts
    if facts.midway is not None or facts.notes.gaps:
        # Somebody may have had them before what is missing: here only those of topics that grew are known to be new.
        grown = {one["topic"]: one["before"] for one in facts.notes.grown}
        gifts = [
            one
            for one in gifts
            if one.numbers[0] >= grown.get(facts.topic_names.get(one.topic, one.topic), NEVER)
        ]
    by_step: dict[tuple[int, str], list[Gift]] = {}
    for one in gifts:
        by_step.setdefault((one.sequence, one.member), []).append(one)
    for (sequence, member), some in by_step.items():
        places = facts.partitions((one.topic, number) for one in some for number in one.numbers)
        name = facts.process(member)
        topics = [facts.topic_names.get(one.topic, one.topic) for one in some]
        remade = {one["topic"] for one in facts.troubles.kept["topics_remade"]}
        new = sorted(
            topic for topic, one in zip(topics, some, strict=True) if one.is_new_topic and topic not in remade
        )
        yield finding(
            "first_assigned",
            f"{name} got the new {listed_partitions(places, facts.wording.noun)}",
            [sequence],
            member=member,
            name=name,
            partitions=places,
            at_ms=some[0].at_ms,
            more={"topics": sorted(topics), "new_topics": new},
            count=len(by_step),
        )


FINDER: Final = Declared(
    place=192,
    find=found_first,
    watch=FirstOwners,
    rows=(Row(kinds=("first_assigned",), needs="records", incident=True),),
)
