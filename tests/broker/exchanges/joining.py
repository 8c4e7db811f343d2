"""Joining, targets, and who decides on them."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "joining and targets"


@exchange(
    ABOUT,
    "three-join",
    "One after the other with a target at once: types 5, 3, 7…, 6, 8; revoking, acknowledging, gaining",
)
def _(group: Group) -> None:
    group.topic("foo", 6)
    group.at_once()
    for member in "ABC":
        group.join(member, ["foo"])
    group.settle("A", "B", "C")
    group.describe()


@exchange(
    ABOUT,
    "interval",
    "Within the assignment interval a join bumps the epoch only; a later heartbeat of anybody makes the target",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("B")
    group.describe()
    group.pause(1.2)
    group.beat("A")
    group.settle("A", "B")


@exchange(
    ABOUT, "interval-of-group", "The interval as a group's own setting: 0, then 15 s, then the broker's again"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.configure(assignment_interval_ms=0)
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.configure(assignment_interval_ms=15_000)
    group.join("C", ["foo"])
    group.alive(1.5, "A", "C")
    group.configure(assignment_interval_ms=None)
    group.beat("C")
    group.settle("A", "B", "C")


@exchange(
    ABOUT, "join-again", "Epoch 0 of a known member: it keeps epoch and partitions, and is told all of them"
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.join("A", ["foo"])
    group.join("A", ["foo"], client="another")
    group.ack("A")


@exchange(
    ABOUT, "join-again-while-revoking", "Epoch 0 of a member that is to give something up acknowledges it"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("A")
    group.join("A", ["foo"])
    group.settle("A", "B")


@exchange(
    ABOUT,
    "no-topics",
    "Members that subscribe to nothing, or to what is not there, make epochs of their own kind",
)
def _(group: Group) -> None:
    group.join("A", [])
    group.join("B", ["nowhere"])
    group.ack("A")
    group.beat("A", subscribedTopicNames=[group.full("nowhere"), group.full("neither")])
    group.describe()
    group.leave("B")
    group.leave("A")


@exchange(
    ABOUT,
    "full-heartbeat",
    "Subscription, timeout and partitions together are answered with the assignment, changed or not",
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"])
    full = {"rebalanceTimeoutMs": 60_000, "subscribedTopicNames": [group.full("foo")]}
    assert group.ack("A", **full)["assignment"] is not None
    assert group.ack("A", **full, client="client-renamed")["assignment"] is not None
    group.ack("A", rebalanceTimeoutMs=50_000)
    group.beat("A", rackId="rack-9")


@exchange(
    ABOUT,
    "assignor-chosen",
    "range against uniform: most members decide, and a tie goes to what the request brings",
)
def _(group: Group) -> None:
    group.topic("foo", 5)
    group.at_once()
    group.join("A", ["foo"], serverAssignor="range")
    group.describe()
    group.join("B", ["foo"], serverAssignor="uniform")
    group.settle_tied("A", "B")
    group.join("C", ["foo"], serverAssignor="uniform")
    group.beat("A", serverAssignor="uniform")
    group.settle("A", "B", "C")
    group.beat("B", serverAssignor="range")
    group.beat("C", serverAssignor="range", subscribedTopicNames=[group.full("foo"), group.full("none")])
    group.settle("A", "B", "C")
    group.describe()


@exchange(
    ABOUT,
    "assignor-outvoted",
    "What most members ask for becomes another one: it makes the next target, since 4.4 at once",
)
def _(group: Group) -> None:
    group.topic("foo", 5)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.beat("A", serverAssignor="range")
    group.settle("A", "B")
    group.describe()
    group.join("C", ["foo"])
    group.settle("A", "B", "C")


@exchange(ABOUT, "assignor-tie", "A tie of assignors that the group has already")
def _(group: Group) -> None:
    group.topic("foo", 5)
    group.at_once()
    group.join("A", ["foo"], serverAssignor="range")
    group.join("B", ["foo"], serverAssignor="uniform")
    group.join("C", ["foo"])
    group.settle_tied("A", "B", "C")
    group.describe()


@exchange(ABOUT, "range-of-two-topics", "range over topics that members share in part")
def _(group: Group) -> None:
    group.topic("foo", 5)
    group.topic("bar", 3)
    group.topic("baz", 12)
    group.at_once()
    group.join("A", ["foo", "bar"], serverAssignor="range")
    group.join("B", ["bar", "baz"], serverAssignor="range")
    group.join("C", ["baz", "foo", "bar"], serverAssignor="range")
    group.settle("A", "B", "C")
    group.leave("B")
    group.settle("A", "C")


@exchange(
    ABOUT,
    "uniform-of-four-topics",
    "uniform over topics that members share in part, in the order of a broker's hash tables",
)
def _(group: Group) -> None:
    for name, partitions in (("foo", 7), ("bar", 3), ("baz", 12), ("qux", 20)):
        group.topic(name, partitions)
    group.at_once()
    group.join("A", ["foo", "bar"])
    group.join("B", ["bar", "baz", "qux"])
    group.join("C", ["qux", "foo", "bar"])
    group.settle("A", "B", "C")
    group.join("D", ["foo", "bar", "baz", "qux"])
    group.settle("A", "B", "C", "D")
    group.leave("A")
    group.settle("B", "C", "D")


@exchange(
    ABOUT, "many-partitions", "Four members, three topics, 90 partitions: every list in a broker's order"
)
def _(group: Group) -> None:
    names = ["one", "two", "three"]
    for name, partitions in zip(names, (40, 17, 33), strict=True):
        group.topic(name, partitions)
    group.at_once()
    for member in ("m-1", "consumer-2", "consumer-3", "x"):
        group.join(member, names)
    group.settle("m-1", "consumer-2", "consumer-3", "x")
    group.leave("consumer-2")
    group.settle("m-1", "consumer-3", "x")
    group.describe()


@exchange(ABOUT, "racks", "Racks of members are written down; racks of brokers count in the metadata hash")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.at_once()
    group.join("A", ["foo"], rackId="rack-1")
    group.join("B", ["foo"], rackId="rack-2")
    group.beat("A", rackId="rack-3")
    group.settle("A", "B")
    group.describe()


@exchange(
    ABOUT,
    "offsets-before",
    "A group that was offsets alone becomes one of the consumer protocol when somebody joins",
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.commit("", -1, "foo", {0: 3})
    group.describe(error=69)
    group.join("A", ["foo"])
    group.fetch("A", group.epochs["A"], None)


@exchange(
    ABOUT,
    "version-0",
    "Joining, acknowledging and leaving in version 0 of the heartbeat, which knows no expressions",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"], version=0)
    group.join("B", ["foo"])
    group.beat("A", version=0)
    group.ack("A", version=0)
    group.ack("B", version=0)
    group.settle("A", "B")
    group.leave("A", version=0)
