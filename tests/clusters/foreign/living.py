"""Groups of foreign clients that live: members join, hang, are killed and leave."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.broker.node import on_a_leash
from tests.clusters.foreign.installing import Clients

MEMBERS_MOST: Final = 3
PAUSE_S: Final = (4.0, 14.0)
"""Between two events of a group: long enough that most of its states come to rest."""

HANG_S: Final = (2.0, 9.0)
"""A session is 6 s: some hanging members are removed, some are not."""

GROUPS: Final = {
    "librdkafka": ("rdkafka",),
    "librdkafka-next": ("rdkafka-next",),
    "franz-go": ("franz",),
    "franz-go-next": ("franz-next",),
    "sarama": ("sarama",),
    "kafkajs": ("kafkajs",),
    "aiokafka": ("aiokafka",),
    "next-of-both": ("rdkafka-next", "franz-next"),
    "range-of-both": ("sarama", "aiokafka"),
}
"""Each group with the libraries of its members. Those of the last one have the assignor ``range`` in common."""


@dataclass(slots=True)
class Group:
    """One group's members, and what happened to them."""

    name: str
    clients: Clients
    bootstrap: str
    topic: str
    log: Path
    drawn: random.Random
    events: Counter[str] = field(default_factory=Counter)
    members: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _joined: int = 0

    def run(self, stopped: threading.Event) -> None:
        """One event after the other until it is stopped; in the end nobody hangs."""
        self.join()
        while not stopped.wait(self.drawn.uniform(*PAUSE_S)):
            self.step(stopped)

    def step(self, stopped: threading.Event) -> None:
        self.members = [each for each in self.members if each.poll() is None]
        choices = ["join"] if len(self.members) < MEMBERS_MOST else []
        if self.members:
            choices += ["leave", "kill", "hang"]
        event = self.drawn.choice(choices)
        self.events[event] += 1
        if event == "join":
            self.join()
            return
        member = self.drawn.choice(self.members)
        if event == "leave":
            member.send_signal(signal.SIGTERM)
        elif event == "kill":
            member.kill()
        else:
            member.send_signal(signal.SIGSTOP)
            stopped.wait(self.drawn.uniform(*HANG_S))
            member.send_signal(signal.SIGCONT)

    def join(self) -> None:
        self._joined += 1
        libraries = GROUPS[self.name]
        library = libraries[self._joined % len(libraries)]
        command = self.clients.command(
            library, self.bootstrap, self.name, self.topic, f"{library}-{self._joined}"
        )
        with self.log.open("ab") as out:
            self.members.append(subprocess.Popen(on_a_leash(command), stdout=out, stderr=out))

    def end(self) -> None:
        for member in self.members:
            member.kill()
            member.wait()


@contextlib.contextmanager
def living(
    clients: Clients, bootstrap: str, topic: str, folder: Path, seed: int
) -> Iterator[tuple[list[Group], threading.Event]]:
    """The groups, alive until the event is set; their processes end with the context."""
    stopped = threading.Event()
    groups = [
        Group(name, clients, bootstrap, topic, folder / f"{name}.log", random.Random(f"{seed}-{name}"))
        for name in GROUPS
    ]
    threads = [threading.Thread(target=group.run, args=(stopped,)) for group in groups]
    try:
        for thread in threads:
            thread.start()
        yield groups, stopped
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
        for group in groups:
            group.end()
