"""The simulated coordinator alone: heartbeats that it handles in a second of processor time, which is what one core has."""

from __future__ import annotations

import time
from collections.abc import Iterator

from groups.history.state.group import Semantics
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import Heartbeat
from tests.benchmarks.figures import Figure

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
STEADY_GOAL = 28_000
"""What a real broker answered on two cores; here it is asked of one."""
MEASURED_S = 2.0
ROUNDS_MAX = 20


def run() -> Iterator[Figure]:
    yield steady("20 groups of 10 members, steady", groups=20, members=10)
    yield steady("one group of 1,000 members, steady", groups=1, members=1_000)
    yield reconciled("a group of 100 members and 1,000 partitions, joining and reconciled")


class Group:
    """A group that is driven by hand: every member beats once a round."""

    def __init__(self, members: int, partitions: int) -> None:
        topic = ImageTopic(name="t", topic_id=TOPIC_ID, partitions=partitions)
        self.shard = Shard("g", Semantics.KAFKA, Settings(), Image(topics={"t": topic}))
        self.names = [f"member-{number:04}" for number in range(members)]
        self.now_ms = 1_000_000
        self.beats = 0

    def join(self) -> None:
        for name in self.names:
            self.beat(name, 0)

    def beat(self, name: str, epoch: int) -> None:
        self.now_ms += 1
        self.beats += 1
        self.shard.heartbeat(self.request(name, epoch), self.now_ms)

    def request(self, name: str, epoch: int) -> Heartbeat:
        if epoch == 0:
            return Heartbeat(
                group_id="g",
                member_id=name,
                member_epoch=0,
                rebalance_timeout_ms=300_000,
                subscribed_topic_names=("t",),
                owned={},
            )
        assigned = self.shard.state.consumer.members[name].assigned
        owned = {topic_id: tuple(numbers) for topic_id, numbers in assigned.items()}
        return Heartbeat(group_id="g", member_id=name, member_epoch=epoch, owned=owned)

    def settle(self) -> None:
        """Rounds of heartbeats until the group is stable."""
        for _ in range(ROUNDS_MAX):
            self.now_ms += 1_000
            for name in self.names:
                self.beat(name, self.shard.state.consumer.members[name].epoch)
            if self.shard.describe()["groupState"] == "Stable":
                return
        raise RuntimeError(f"the group was not stable after {ROUNDS_MAX} rounds")


def steady(what: str, *, groups: int, members: int) -> Figure:
    made = [Group(members, members) for _ in range(groups)]
    for group in made:
        group.join()
        group.settle()
    epochs = [
        (group, name, group.shard.state.consumer.members[name].epoch)
        for group in made
        for name in group.names
    ]
    handled, began = 0, time.process_time()
    while time.process_time() - began < MEASURED_S:
        for group, name, epoch in epochs:
            # Each is a request of its own, a moment later: as from a socket, and not the object of the last round.
            group.now_ms += 1
            request = Heartbeat(group_id="g", member_id=name, member_epoch=epoch)
            group.shard.heartbeat(request, group.now_ms)
        handled += len(epochs)
    rate = handled / (time.process_time() - began)
    return Figure(what=what, value=rate, unit="heartbeats/s", goal=STEADY_GOAL, at_least=True)


def reconciled(what: str) -> Figure:
    group = Group(100, 1_000)
    began = time.process_time()
    group.join()
    group.settle()
    return Figure(what=what, value=group.beats / (time.process_time() - began), unit="heartbeats/s")
