"""What a scenario with classic members says that an exploration needs."""

from __future__ import annotations

from typing import Final

from groups.history.state.group import Semantics
from simulations.proof.exploration.plan import OF_TOPICS, NotExplorable, Plan
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Consumer
from simulations.protocol.coordinator.image import Image
from simulations.world.engine.client_assignors import changed, classic_config_of, config_of, topics_as_told
from simulations.world.scenario import Member, Scenario, Verb
from simulations.world.scenario.classic import CLASSIC

KNOWN: Final = frozenset(
    {
        Verb.JOIN,
        Verb.LEAVE,
        Verb.KILL,
        Verb.PAUSE,
        Verb.RESUME,
        Verb.RESTART,
        Verb.BOUNCE,
        Verb.ENFORCE_REBALANCE,
        Verb.SUBSCRIBE,
        Verb.ADD_PARTITIONS,
        Verb.CREATE_TOPIC,
        Verb.DELETE_TOPIC,
        Verb.FAIL_OVER,
    }
)

STARTS: Final = frozenset({Verb.JOIN, Verb.RESTART, Verb.BOUNCE})
"""Verbs that may take a process of their own."""


def has_classic_members(scenario: Scenario) -> bool:
    """Whether some member speaks the classic protocol, or comes to by a bounce."""
    return any(member.classic is not None for member in scenario.members.values()) or any(
        action.changes.get("protocol") == CLASSIC for action in scenario.script
    )


class ClassicPlan(Plan):
    """``mixed``: members of the consumer protocol are there, too, or come."""

    known = KNOWN
    starts = STARTS

    def __init__(self, scenario: Scenario, semantics: Semantics) -> None:
        super().__init__(scenario, semantics)
        commits = [m.name for m in scenario.members.values() if m.auto_commit]
        commits += [m.name for m in scenario.members.values() if m.classic and m.classic.revoke_commits]
        if commits:
            raise NotExplorable(
                f"commits of classic members are not explored; leave out auto_commit and revoke_commits of "
                f"{', '.join(dict.fromkeys(commits))}"
            )
        classic = {member.classic is not None for member in scenario.members.values()}
        classic |= {
            action.changes["protocol"] == CLASSIC
            for action in scenario.script
            if "protocol" in action.changes
        }
        self.mixed = classic == {True, False}
        self._told: dict[int, dict[str, Topic]] = {}
        self._topics_after: list[int] = [0]
        for number, action in enumerate(self.script):
            self._topics_after.append(number + 1 if action.verb in OF_TOPICS else self._topics_after[-1])
        self._images: list[Image] = [self.image]
        for action in self.script:
            before = self._images[-1]
            self._images.append(self.image_after(before, action) if action.verb in OF_TOPICS else before)

    def topics_version(self, script: int) -> int:
        """What of the script's place decides which topics a broker tells a client of."""
        return self._topics_after[script]

    def topics(self, script: int) -> dict[str, Topic]:
        """The topics as a broker tells them when the script has come so far."""
        version = self._topics_after[script]
        if version not in self._told:
            self._told[version] = topics_as_told(self._images[script])
        return self._told[version]

    def member(self, name: str, script: int) -> Member:
        """The member as its next process is started, when the script has come so far."""
        found = self.scenario.members[name]
        for action in self.script[:script]:
            if action.verb is Verb.BOUNCE and action.who == name:
                found = changed(found, action.changes)
        return found

    def client(self, slot: int, script: int) -> Consumer | ClassicConsumer:
        """A fresh client for the process of the slot."""
        name, member_id = self.slots[slot][0], self.member_id(slot)
        member = self.member(name, script)
        if member.classic is None:
            return Consumer(config_of(self.scenario, name, member_id, self.semantics))
        asks = _Metadata(self)
        config = classic_config_of(self.scenario, member, member_id, asks)
        return ClassicConsumer(config)

    script_now = 0
    """How far the script has come where the step that is taken begins: what a client is told of topics depends on it."""


class _Metadata:
    """A broker that tells of the topics as they are in the world whose step is taken."""

    def __init__(self, plan: ClassicPlan) -> None:
        self._plan = plan

    def __call__(self) -> dict[str, Topic]:
        return self._plan.topics(self._plan.script_now)
