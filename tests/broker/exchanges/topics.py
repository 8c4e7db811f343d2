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


@exchange(
    ABOUT,
    "offsets-of-deleted-topics",
    "Offsets of many partitions, some committed again, when their topics are deleted one after the other",
)
def _(group: Group) -> None:
    group.topic("foo", 24)
    group.topic("bar", 24)
    group.topic("baz", 24)
    group.join("A", ["foo"])
    group.commit("A", None, "foo", dict.fromkeys([3, 11, 19, 7, 15, 23, 1, 9, 17, 5], 1))
    group.commit("A", None, "bar", dict.fromkeys(range(21), 1))
    group.commit("A", None, "baz", dict.fromkeys([20, 10, 0, 5, 15], 1))
    group.commit("A", None, "foo", {7: 2})
    group.commit("A", None, "bar", {20: 2, 0: 2})
    group.fetch("A", group.epochs["A"], None)
    group.delete_offsets("bar", [4, 5, 6])
    group.commit("A", None, "bar", {5: 3, 4: 3})
    group.commit("A", None, "baz", {0: 3})
    group.fetch("A", group.epochs["A"], None)
    group.remove_topic("bar")
    group.remove_topic("foo")
    group.beat("A")
    group.beat("A")
    group.fetch(None, -1, None)
    group.leave("A")
    group.delete()


@exchange(
    ABOUT, "gains-old-and-new", "A member gains a partition of a topic that it has and new topics at once"
)
def _(group: Group) -> None:
    names = ["foo", *(f"bar{number}" for number in range(4))]
    group.topic("foo", 2)
    group.at_once()
    for member in "AB":
        group.join(member, names)
    group.settle("A", "B")
    for name in names[1:]:
        group.topic(name, 1)
    group.leave("B")
    group.beat("A")
    group.settle("A")
