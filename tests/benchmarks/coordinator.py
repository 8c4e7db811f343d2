"""The simulated coordinator alone: heartbeats that it handles in a second of processor time, which is what one core has."""

from __future__ import annotations

import time
from collections.abc import Iterator

from groups.history.state.group import Semantics
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import JOIN
from simulations.protocol.messages.classic_requests import ClassicHeartbeat, JoinGroup, SyncGroup
from simulations.protocol.messages.groups import Heartbeat
from tests.benchmarks.figures import Figure

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
STEADY_GOAL = 28_000
"""What a real broker answered on two cores; here it is asked of one."""
MEASURED_S = 2.0
ROUNDS_MAX = 20

SUBSCRIPTION = encode_subscription({"version": 0, "topics": ["t"], "userData": None})
ASSIGNMENT = encode_assignment(
    {"version": 0, "assignedPartitions": [{"topic": "t", "partitions": [0, 1]}], "userData": None}
)


def run() -> Iterator[Figure]:
    yield steady("20 groups of 10 members, steady", groups=20, members=10)
    yield steady("one group of 1,000 members, steady", groups=1, members=1_000)
    yield reconciled("a group of 100 members and 1,000 partitions, joining and reconciled")
    yield steady_classic("20 classic groups of 10 members, steady", groups=20, members=10)
    yield steady_classic("one classic group of 1,000 members, steady", groups=1, members=1_000)
    yield rounds("classic rebalances of 10 members", members=10)
    yield rounds("classic rebalances of 500 members", members=500)


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


class ClassicGroup:
    """A group of the classic protocol that is driven by hand: everybody joins, the leader assigns, everybody syncs."""

    def __init__(self, members: int) -> None:
        settings = Settings(initial_rebalance_delay_ms=0)
        self.shard = Shard("g", Semantics.KAFKA, settings, Image(topics={}))
        self.names = [f"member-{number:04}" for number in range(members)]
        self.ids: dict[str, str] = {}
        self.now_ms = 1_000_000
        self._ticket = 0
        for name in self.names:
            self._join(name, 3)
        # The first join phase is ended by its timer, which new members had started once more.
        for _ in range(2):
            self._take(self.shard.expired(JOIN, None, None, self.now_ms))
        self._sync()
        assert self.shard.describe_classic()["groupState"] == "Stable"

    @property
    def generation(self) -> int:
        group = self.shard.memory.classic
        assert group is not None
        return group.generation

    def rebalance(self) -> None:
        """Everybody joins again: the leader first, which sets the rebalance going."""
        group = self.shard.memory.classic
        assert group is not None
        for name in sorted(self.names, key=lambda name: self.ids[name] != group.leader):
            self._join(name, 9)
        self._sync()

    def _join(self, name: str, version: int) -> None:
        self._ticket += 1
        request = JoinGroup(
            group_id="g",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            member_id=self.ids.get(name, ""),
            protocols=(("range", SUBSCRIPTION),),
            client_id=name,
            version=version,
        )
        self._take(self.shard.join(request, self.now_ms, ticket=self._ticket, drawn_id=name))
        self.ids.setdefault(name, f"{name}-{name}")

    def _sync(self) -> None:
        group = self.shard.memory.classic
        assert group is not None
        assigned = tuple((member_id, ASSIGNMENT) for member_id in group.members)
        for member_id in sorted(group.members, key=lambda member_id: member_id == group.leader):
            self._ticket += 1
            request = SyncGroup(
                group_id="g",
                generation=group.generation,
                member_id=member_id,
                protocol_type="consumer",
                protocol_name="range",
                assignments=assigned if member_id == group.leader else (),
            )
            self._take(self.shard.sync(request, self.now_ms, ticket=self._ticket))

    def _take(self, outcome: Outcome[None]) -> None:
        if outcome.follow_up is not None:
            self.shard.appended(outcome.follow_up, self.now_ms)


def steady_classic(what: str, *, groups: int, members: int) -> Figure:
    made = [ClassicGroup(members) for _ in range(groups)]
    beating = [(group, group.ids[name], group.generation) for group in made for name in group.names]
    handled, began = 0, time.process_time()
    while time.process_time() - began < MEASURED_S:
        for group, member_id, generation in beating:
            group.now_ms += 1
            request = ClassicHeartbeat(group_id="g", generation=generation, member_id=member_id)
            group.shard.classic_heartbeat(request, group.now_ms)
        handled += len(beating)
    rate = handled / (time.process_time() - began)
    return Figure(what=what, value=rate, unit="heartbeats/s", goal=STEADY_GOAL, at_least=True)


def rounds(what: str, *, members: int) -> Figure:
    """Rebalances of a group all of whose members join again and ask for their assignment."""
    group = ClassicGroup(members)
    done, began = 0, time.process_time()
    while time.process_time() - began < MEASURED_S:
        group.rebalance()
        done += 1
    return Figure(what=what, value=done / (time.process_time() - began), unit="rebalances/s")


def reconciled(what: str) -> Figure:
    group = Group(100, 1_000)
    began = time.process_time()
    group.join()
    group.settle()
    return Figure(what=what, value=group.beats / (time.process_time() - began), unit="heartbeats/s")
