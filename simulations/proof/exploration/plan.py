"""What a scenario says that an exploration needs: its script without times, its processes, and how it begins."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import ClassVar, Final

from groups.history.state.group import Semantics
from simulations.proof.exploration.actions import SLOTS_MAX
from simulations.protocol.client.consumer import Consumer
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.world.engine.client_assignors import config_of
from simulations.world.engine.initial_state import draw_topic_id, first_image, racks_of
from simulations.world.scenario import Scenario, Verb
from simulations.world.scenario.actions import Action

WITHOUT_EFFECT: Final = frozenset({Verb.HEARTBEAT, Verb.SLOW_REVOKE, Verb.POLL_LATE, Verb.NETWORK})
"""What only says when something happens: here it may happen at any time anyway."""

KNOWN: Final = frozenset(
    {
        Verb.JOIN,
        Verb.LEAVE,
        Verb.KILL,
        Verb.PAUSE,
        Verb.RESUME,
        Verb.RESTART,
        Verb.COMMIT,
        Verb.SUBSCRIBE,
        Verb.ADD_PARTITIONS,
        Verb.CREATE_TOPIC,
        Verb.DELETE_TOPIC,
        Verb.FAIL_OVER,
    }
)

OF_TOPICS: Final = frozenset({Verb.ADD_PARTITIONS, Verb.CREATE_TOPIC, Verb.DELETE_TOPIC})


class NotExplorable(Exception):
    """The scenario holds what an exploration cannot walk; the message says what, and what it can."""


class Plan:
    """``script`` are the lines that do something, in order; ``slots`` the processes: ``(member, life)``."""

    known: ClassVar[frozenset[Verb]] = KNOWN
    starts: ClassVar[frozenset[Verb]] = frozenset({Verb.JOIN, Verb.RESTART})
    """Verbs that may take a process of their own."""

    def __init__(self, scenario: Scenario, semantics: Semantics) -> None:
        for action in scenario.script:
            if action.verb not in self.known | WITHOUT_EFFECT:
                known = ", ".join(sorted(self.known | WITHOUT_EFFECT))
                raise NotExplorable(f"the script's {action.verb} is not explored; these are: {known}")
        if scenario.settings.scripted is not None:
            raise NotExplorable(
                "a scripted assignor answers by the number of an epoch; take uniform or range"
            )
        if semantics is Semantics.KIP and any(member.assignors for member in scenario.members.values()):
            raise NotExplorable("assignors that members bring are not explored; take uniform or range")
        self.scenario = scenario
        self.semantics = semantics
        self.script: tuple[Action, ...] = tuple(a for a in scenario.script if a.verb in self.known)
        # The clock stands still: a target is due whenever the group epoch is ahead of it.
        self.settings = replace(scenario.settings, assignment_interval_ms=0)
        lives = dict.fromkeys(scenario.members, 0)
        if scenario.start is not None:
            lives |= {member.name: 1 for member in scenario.start.members}
        if scenario.classic_start is not None:
            lives |= dict.fromkeys(scenario.classic_start.owned, 1)
        for action in self.script:
            if action.verb in self.starts:
                lives[action.who] += 1
        self.slots = [(name, life) for name, count in lives.items() for life in range(1, count + 1)]
        if len(self.slots) > SLOTS_MAX:
            raise NotExplorable(f"at most {SLOTS_MAX} processes can be explored, these are {len(self.slots)}")
        self.slots_of = {
            name: [at for at, (other, _) in enumerate(self.slots) if other == name] for name in lives
        }
        self.image = first_image(scenario.topics, scenario.seed)

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

    def consumer(self, slot: int) -> Consumer:
        """A fresh process of the slot."""
        name, _ = self.slots[slot]
        return Consumer(config_of(self.scenario, name, self.member_id(slot), self.semantics))

    def member_id(self, slot: int) -> str:
        name, life = self.slots[slot]
        return name if life == 1 else f"{name}~{life}"
