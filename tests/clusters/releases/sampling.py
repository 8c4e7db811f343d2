"""Brackets: a group described, told by Kafka's own tool, described again. Where both descriptions agree, the tool must say the same."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from groups.clusters.brokers import Brokers, open_cluster
from groups.clusters.settings import settings_of
from groups.history.frames.frame import frame
from groups.history.polls.description import GroupDescription, GroupKind
from groups.history.polls.recording import PolledGroup
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from tests.clusters.releases.tool import GroupFacts, MemberFacts, Tool, differences

RESTING: tuple[str, ...] = ("Stable", "Empty")
"""States in which a classic group's answer is whole: outside of them it tells neither generation nor assignment."""


@dataclass(slots=True)
class Recorded:
    """A group's frame as the watcher makes it: polls, entries, the fold."""

    group: str
    polled: PolledGroup
    state: State

    @classmethod
    def of(cls, group: str) -> Recorded:
        return cls(group, PolledGroup(group=group), initial_state(group))

    def take(self, told: GroupDescription) -> dict[str, Any]:
        for entry in self.polled.take(told, time.time_ns() // 1_000_000):
            self.state = replay(self.state, entry)
        return frame(self.state)


def facts_of(shown: dict[str, Any]) -> GroupFacts:
    """A frame in the words of the tool, whose column TARGET-EPOCH is the group's assignment epoch."""
    modern = shown["protocol"] != "classic"
    target = shown.get("target") or {}
    return GroupFacts(
        state=shown["state"],
        members={
            member: MemberFacts(
                partitions=_places(each["assigned"]) | _places(each.get("pending_revocation") or {}),
                epoch=each.get("epoch") if modern else None,
                target_epoch=shown.get("assignment_epoch") if modern else None,
                target=_places(target.get(member, {})) if modern else frozenset(),
            )
            for member, each in shown["members"].items()
        },
        group_epoch=shown.get("group_epoch") if modern else None,
        assignment_epoch=shown.get("assignment_epoch") if modern else None,
    )


def _places(topics: dict[str, list[int]]) -> frozenset[str]:
    return frozenset(f"{topic}-{number}" for topic, numbers in topics.items() for number in numbers)


@dataclass(slots=True)
class Sampler:
    """Takes brackets of the groups of one broker; ``compared`` counts those that held, by group and state."""

    tool: Tool
    runner: asyncio.Runner
    cluster: Brokers
    facts: Callable[[dict[str, Any]], GroupFacts]
    """A frame in the words of the tool."""

    recorded: dict[str, Recorded] = field(default_factory=dict)
    compared: Counter[tuple[str, str]] = field(default_factory=Counter)
    changed: int = 0
    """Brackets in which the group changed: they say nothing."""

    differing: list[str] = field(default_factory=list)

    def describe(self, group: str) -> GroupDescription | None:
        told = self.runner.run(self.cluster.find(group))
        return told if isinstance(told, GroupDescription) else None

    def sample(self, group: str) -> bool:
        """One bracket; whether it held and was compared."""
        before = self.describe(group)
        if before is None:
            return False
        shown = self.recorded.setdefault(group, Recorded.of(group)).take(before)
        theirs = self.tool.facts(group)
        if theirs is None or self.describe(group) != before:
            self.changed += 1
            return False
        if before.kind is GroupKind.CLASSIC and before.state not in RESTING:
            return False
        self.compared[group, before.state] += 1
        self.differing += [
            f"{group}, {before.state}: {each}" for each in differences(self.facts(shown), theirs)
        ]
        return True


@contextmanager
def sampling(tool: Tool, facts: Callable[[dict[str, Any]], GroupFacts] = facts_of) -> Iterator[Sampler]:
    settings = settings_of({"bootstrap.servers": tool.node.bootstrap})
    with asyncio.Runner() as runner:
        opened = open_cluster(settings)
        cluster = runner.run(opened.__aenter__())
        try:
            yield Sampler(tool, runner, cluster, facts)
        finally:
            runner.run(opened.__aexit__(None, None, None))
