"""The groups of the demonstration: each is a story of real consumers that goes on until it is told to stop."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.broker.members import CLASSIC, CONSUMER, Member
from tests.broker.node import Node

COOPERATIVE = {"partition.assignment.strategy": "cooperative-sticky"}

TOPICS = {"orders": 6, "payments": 4, "audit-eu": 2, "audit-us": 2}

PAUSE_S = 8.0
"""Between two events of a group: long enough to read what happened, short enough to wait for the next."""


@dataclass(slots=True)
class Stage:
    """Starts members, and ends those that are left."""

    node: Node
    ended: threading.Event
    pause_s: float = PAUSE_S
    members: list[Member] = field(default_factory=list)

    def start(self, name: str, group: str, topic: str, settings: dict[str, object]) -> Member:
        member = Member(self.node, name, group, topic, settings, program="rdkafka").start()
        self.members.append(member)
        member.wait_for("ready")
        member.join()
        return member

    def pause(self) -> bool:
        """Wait for the next event; false where it is over."""
        return not self.ended.wait(self.pause_s)

    def close(self) -> None:
        for member in self.members:
            with contextlib.suppress(Exception):
                member.kill()


def kills(stage: Stage) -> None:
    """Three members of the new protocol; one after the other is killed, its session expires, and it comes back."""
    names = ("anna", "ben", "cleo")
    members = {name: stage.start(name, "orders", "orders", CONSUMER) for name in names}
    for name in itertools.cycle(names):
        if not stage.pause():
            return
        members[name].kill()
        if not stage.pause():
            return
        members[name] = stage.start(name, "orders", "orders", CONSUMER)


def leaves(stage: Stage) -> None:
    """A classic group with the cooperative assignor; a second member comes and goes."""
    settings = CLASSIC | COOPERATIVE
    stage.start("dora", "payments", "payments", settings)
    while stage.pause():
        guest = stage.start("emil", "payments", "payments", settings)
        if not stage.pause():
            return
        guest.leave()


def restarts(stage: Stage) -> None:
    """Static members: a restart within the session moves nothing."""
    settings = {name: CONSUMER | {"group.instance.id": name} for name in ("seat-1", "seat-2")}
    members = {name: stage.start(name, "billing", "orders", settings[name]) for name in settings}
    for name in itertools.cycle(settings):
        if not stage.pause():
            return
        members[name].leave()
        members[name] = stage.start(name, "billing", "orders", settings[name])


def matches(stage: Stage) -> None:
    """One member with an expression; a topic that it finds is made now and then."""
    stage.start("fritz", "audit", "^audit-.*", CONSUMER)
    for number in itertools.count(1):
        if not stage.pause() or number > TOPICS_MADE_MOST:
            return
        if number % 3 == 0:
            with stage.node.connect() as connection:
                connection.create_topic(f"audit-{number}", 2)


TOPICS_MADE_MOST = 60

STORIES: tuple[Callable[[Stage], None], ...] = (kills, leaves, restarts, matches)


@contextlib.contextmanager
def living(node: Node, *, pause_s: float = PAUSE_S) -> Iterator[None]:
    """All groups, for as long as the block lasts."""
    with node.connect() as connection:
        for name, partitions in TOPICS.items():
            connection.create_topic(name, partitions)
    ended = threading.Event()
    stages = [Stage(node, ended, pause_s) for _ in STORIES]
    threads = [
        threading.Thread(target=_play, args=(story, stage), daemon=True)
        for story, stage in zip(STORIES, stages, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for stage in stages:
            stage.close()
        for thread in threads:
            thread.join(10)


def _play(story: Callable[[Stage], None], stage: Stage) -> None:
    # A member that is ended while its story waits for it ends the story.
    with contextlib.suppress(Exception):
        story(stage)
