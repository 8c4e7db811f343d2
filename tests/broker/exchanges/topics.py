"""Topics that come, grow and go."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "topics"


@exchange(ABOUT, "partitions-added", "A topic grows: the next heartbeat of anybody bumps the epoch")
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.grow("foo", 5)
    group.beat("B")
    group.settle("A", "B")
    group.describe()


@exchange(ABOUT, "topic-created", "A topic that was subscribed to before it was made")
def _(group: Group) -> None:
    group.join("A", ["foo"])
    group.topic("foo", 2)
    group.beat("A")
    group.pause(1.1)
    group.settle("A")


@exchange(
    ABOUT,
    "topic-deleted",
    "A topic goes: its offsets first, then epoch and target; each member gives its partitions up",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo", "bar"])
    group.join("B", ["foo", "bar"])
    group.settle("A", "B")
    for member in "AB":
        for topic in ("foo", "bar"):
            numbers = group.owned[member].get(group.ids[topic], [])
            if numbers:
                group.commit(member, None, topic, dict.fromkeys(numbers, 9))
    group.remove_topic("foo")
    group.describe()
    group.beat("A")
    group.beat("B")
    group.ack("A")
    group.settle("A", "B")


@exchange(
    ABOUT,
    "topic-made-again",
    "A topic that is made again under its name has a new id: as deleted and created",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.at_once()
    group.join("A", ["foo"])
    group.commit("A", None, "foo", {0: 1})
    group.remove_topic("foo")
    group.topic("foo", 3)
    group.beat("A")
    group.ack("A")
    group.settle("A")
    group.fetch("A", group.epochs["A"], {"foo": [0]})


@exchange(ABOUT, "other-topics", "Topics that nobody subscribes to leave the group alone")
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.join("A", ["foo"])
    group.topic("bar", 1)
    group.beat("A")
    group.grow("bar", 2)
    group.beat("A")
    group.remove_topic("bar")
    group.beat("A")
