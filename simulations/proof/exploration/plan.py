"""What a scenario states that an exploration needs: its script without times, its processes, and how it begins."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from groups.history.state.group import Semantics
from simulations.proof.exploration.actions import SLOTS_MAX
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.client.classic import ClassicConsumer
from simulations.protocol.client.consumer import Consumer
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.world.engine.client_assignors import (
    changed,
    classic_config_of,
    config_of,
    consumer_of,
    topics_as_noted,
)
from simulations.world.engine.initial_state import draw_topic_id, first_image, racks_of
from simulations.world.scenario import Member, Scenario, Verb
from simulations.world.scenario.actions import Action
from simulations.world.scenario.classic_members import CLASSIC

WITHOUT_EFFECT: Final = frozenset({Verb.HEARTBEAT, Verb.SLOW_REVOKE, Verb.POLL_LATE, Verb.NETWORK})
"""What only states when something happens: here it may happen at any time anyway."""

OF_TOPICS: Final = frozenset({Verb.ADD_PARTITIONS, Verb.CREATE_TOPIC, Verb.DELETE_TOPIC})

STARTS: Final = frozenset({Verb.JOIN, Verb.RESTART, Verb.BOUNCE})
"""Verbs that may take a process of their own."""

OF_BOTH: Final = (
    OF_TOPICS
    | {Verb.JOIN, Verb.LEAVE, Verb.KILL, Verb.PAUSE, Verb.RESUME, Verb.RESTART}
    | {Verb.SUBSCRIBE, Verb.FAIL_OVER}
)
OF_CONSUMER: Final = OF_BOTH | {Verb.COMMIT}
OF_CLASSIC: Final = OF_BOTH | {Verb.BOUNCE, Verb.ENFORCE_REBALANCE}
"""What is walked where all members speak the consumer protocol, and where some speak the classic one."""


class NotExplorable(Exception):
    """The scenario holds what an exploration cannot walk; the message states what, and what it can."""


class Plan:
    """``script`` are the lines that do something, in order; ``slots`` the processes: ``(member, life)``.

    ``has_classic``: some member speaks the classic protocol, or comes to by a bounce; ``mixed``: so do members of the consumer
    protocol.
    """

    script_now = 0
    """How far the script has come where the step that is taken begins: the topics that a client gets depend on it."""

    def __init__(self, scenario: Scenario, semantics: Semantics | str) -> None:
        semantics = Semantics(semantics)
        protocols = _protocols(scenario)
        self.has_classic = True in protocols
        self.mixed = len(protocols) > 1
        known = OF_CLASSIC if self.has_classic else OF_CONSUMER
        _refuse_lines(scenario, known)
        _refuse_brokers(scenario)
        _refuse_members(scenario, has_classic=self.has_classic)
        self.scenario = scenario
        self.semantics = semantics
        self.script: tuple[Action, ...] = tuple(a for a in scenario.script if a.verb in known)
        # The clock does not move: a target is due whenever the group epoch is ahead of it.
        self.settings = replace(scenario.settings, assignment_interval_ms=0)
        lives = self._lives()
        self.slots = [(name, life) for name, count in lives.items() for life in range(1, count + 1)]
        if len(self.slots) > SLOTS_MAX:
            raise NotExplorable(f"at most {SLOTS_MAX} processes can be explored, these are {len(self.slots)}")
        self.slots_of = {
            name: [at for at, (other, _) in enumerate(self.slots) if other == name] for name in lives
        }
        self.image = first_image(scenario.topics, scenario.seed)
        self._noted_topics: dict[int, dict[str, Topic]] = {}
        self._topics_after: list[int] = [0]
        self._images: list[Image] = [self.image]
        for number, action in enumerate(self.script):
            changes, before = action.verb in OF_TOPICS, self._images[-1]
            self._topics_after.append(number + 1 if changes else self._topics_after[-1])
            self._images.append(self.image_after(before, action) if changes else before)

    def _lives(self) -> dict[str, int]:
        """How many processes each member may come to have."""
        scenario = self.scenario
        lives = dict.fromkeys(scenario.members, 0)
        if scenario.start is not None:
            lives |= {member.name: 1 for member in scenario.start.members}
        if scenario.classic_start is not None:
            lives |= dict.fromkeys(scenario.classic_start.owned, 1)
        for action in self.script:
            if action.verb in STARTS:
                lives[action.who] += 1
        return lives

    def image_after(self, image: Image, action: Action) -> Image:
        """The topics after a line of the script that changes them."""
        if action.verb is Verb.DELETE_TOPIC:
            return image.without_topic(action.who)
        assert action.partitions is not None
        if action.verb is Verb.CREATE_TOPIC:
            # As often as a topic is made, each time under another id, and the same one in every world.
            drawn = draw_topic_id(Random(f"topic {action.who} at {action.at_ms} of {self.scenario.seed}"))
            topic = ImageTopic(
                name=action.who,
                topic_id=action.topic_id or drawn,
                partitions=action.partitions,
                racks=racks_of(action.racks, action.partitions),
            )
            return image.with_topic(topic)
        return image.with_partitions(action.who, action.partitions)

    def topics_version(self, script: int) -> int:
        """The part of the script's place that decides which topics a broker lists for a client."""
        return self._topics_after[script]

    def topics(self, script: int) -> dict[str, Topic]:
        """The topics that a broker lists when the script has come so far."""
        version = self._topics_after[script]
        if version not in self._noted_topics:
            self._noted_topics[version] = topics_as_noted(self._images[script])
        return self._noted_topics[version]

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
            config = config_of(self.scenario, name, member_id, self.semantics)
            return consumer_of(config, member, self.semantics)
        return ClassicConsumer(classic_config_of(self.scenario, member, member_id, _Metadata(self)))

    def topic_names(self) -> dict[str, str]:
        """Topic id → name, of the first topics."""
        return {topic.topic_id: name for name, topic in self.image.topics.items()}

    def member_id(self, slot: int) -> str:
        name, life = self.slots[slot]
        return name if life == 1 else f"{name}~{life}"

    def starts_again(self, slot: int, script: int) -> bool:
        """Whether another process of the member is still to start."""
        name = self.slots[slot][0]
        return any(action.who == name and action.verb in STARTS for action in self.script[script:])


class _Metadata:
    """A broker that lists the topics as they are in the world whose step is taken."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __call__(self) -> dict[str, Topic]:
        return self._plan.topics(self._plan.script_now)


def has_classic_members(scenario: Scenario) -> bool:
    """Whether some member speaks the classic protocol, or comes to by a bounce."""
    return True in _protocols(scenario)


def _protocols(scenario: Scenario) -> set[bool]:
    """Whether members speak the classic protocol: of those that there are, and that bounces bring."""
    found = {member.classic is not None for member in scenario.members.values()}
    return found | {
        action.changes["protocol"] == CLASSIC for action in scenario.script if "protocol" in action.changes
    }


def _refuse_lines(scenario: Scenario, known: frozenset[Verb]) -> None:
    for action in scenario.script:
        if action.verb not in known | WITHOUT_EFFECT:
            others = ", ".join(sorted(known | WITHOUT_EFFECT))
            raise NotExplorable(f"the script's {action.verb} is not explored; these are: {others}")


def _refuse_members(scenario: Scenario, *, has_classic: bool) -> None:
    members = scenario.members.values()
    if scenario.settings.scripted is not None:
        raise NotExplorable("a scripted assignor answers by the number of an epoch; take uniform or range")
    commits = [m.name for m in members if m.auto_commit]
    commits += [m.name for m in members if m.classic and m.classic.revoke_commits]
    if has_classic and commits:
        raise NotExplorable(
            f"commits of classic members are not explored; leave out auto_commit and revoke_commits of "
            f"{', '.join(dict.fromkeys(commits))}"
        )


def _refuse_brokers(scenario: Scenario) -> None:
    if not (scenario.settings.group_version and scenario.settings.release.rules.consumer_protocol):
        raise NotExplorable(
            "only brokers that serve the consumer protocol are explored; leave out brokers and group_version"
        )
