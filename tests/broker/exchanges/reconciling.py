"""Moving from one target to the next, member by member."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "reconciling"


@exchange(
    ABOUT, "revoked-in-part", "A member that still holds some of what it is to give up stays where it is"
)
def _(group: Group) -> None:
    group.topic("foo", 6)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    everything = {"foo": [0, 1, 2, 3, 4, 5]}
    group.beat("A", own=everything)
    group.beat("A", own=everything)
    group.beat("A")
    kept = next(iter(group.owned["A"].values()))
    lost = sorted(set(everything["foo"]) - set(kept))
    group.beat("A", own={"foo": [*kept, lost[0]]})
    group.beat("B", own={})
    group.beat("A", own={"foo": kept})
    group.settle("A", "B")


@exchange(
    ABOUT, "revoked-without-word", "A member that no longer reports what it is to give up is not waited for"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("A", own={})
    group.settle("A", "B")


@exchange(
    ABOUT,
    "newer-target-while-revoking",
    "Newer targets are ignored until what is to go is gone; then the newest counts",
)
def _(group: Group) -> None:
    group.topic("foo", 6)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("A")
    group.join("C", ["foo"])
    group.beat("A")
    group.beat("A", own={"foo": [0, 1, 2, 3, 4, 5]})
    group.join("D", ["foo"])
    group.ack("A")
    group.settle("A", "B", "C", "D")


@exchange(
    ABOUT, "wanted-again", "What a member is to give up falls back to it: it is acknowledged all the same"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("A")
    group.leave("B")
    group.beat("A")
    group.ack("A")
    group.settle("A")


@exchange(
    ABOUT, "unreleased", "A member waits at the target's epoch for partitions that another one still holds"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("B")
    group.ack("B")
    group.describe()
    group.beat("A")
    group.beat("B")
    group.ack("A")
    group.beat("B")
    group.settle("A", "B")


@exchange(ABOUT, "rebalance-timeout", "Who does not give up in time is removed, at the epoch it was bound to")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"], rebalanceTimeoutMs=3_000)
    group.join("B", ["foo"])
    group.beat("A")
    group.alive(4.0, "B")
    group.beat("A", error=25)
    group.settle("B")


@exchange(
    ABOUT, "rebalance-timeout-of-old", "A rebalance timeout of an epoch that the member has left does nothing"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"], rebalanceTimeoutMs=3_000)
    group.join("B", ["foo"])
    group.beat("A")
    group.ack("A")
    group.alive(3.5, "A", "B")
    group.settle("A", "B")


@exchange(ABOUT, "subscription-changed", "Another topic instead: the old one is cut, the new one is gained")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo", "bar"])
    group.settle("A", "B")
    group.beat("A", subscribedTopicNames=[group.full("bar")])
    group.settle("A", "B")
    group.beat("B", subscribedTopicNames=[])
    group.settle("A", "B")
    group.beat("B", subscribedTopicNames=[group.full("foo"), group.full("bar")])
    group.settle("A", "B")


@exchange(
    ABOUT,
    "subscription-cut",
    "A topic dropped within the assignment interval is cut from the old target at the member's own epoch",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 2)
    group.join("A", ["foo", "bar"])
    group.ack("A")
    group.beat("A", subscribedTopicNames=[group.full("bar")])
    group.beat("A")
    group.ack("A")
    group.pause(1.1)
    group.settle("A")


@exchange(ABOUT, "nothing-left", "Names taken back to none, with and without partitions in hand")
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.configure(assignment_interval_ms=15_000)
    group.join("A", ["foo"])
    group.beat("A", subscribedTopicNames=[])
    group.ack("A")
    group.beat("A", subscribedTopicNames=[group.full("foo")], own={})
    group.beat("A", subscribedTopicNames=[], own={})
    group.describe()


@exchange(
    ABOUT,
    "rebalance-timeout-anew",
    "More to give up starts the rebalance timeout anew: it runs out counted from then",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo", "bar"], rebalanceTimeoutMs=4_000)
    group.join("B", ["foo"])
    group.beat("A")
    group.alive(2.5, "B")
    group.beat("A", subscribedTopicNames=[group.full("foo")])
    group.alive(2.5, "A", "B")
    group.alive(2.5, "B")
    group.beat("A", error=25)
    group.settle("B")


@exchange(
    ABOUT,
    "changed-while-revoking",
    "Another subscription of a member that gives up, told with and without what it owns",
)
def _(group: Group) -> None:
    group.topic("foo", 6)
    group.topic("bar", 3)
    group.at_once()
    group.join("A", ["foo", "bar"])
    group.join("B", ["foo", "bar"])
    group.beat("A")
    group.beat("A", subscribedTopicNames=[group.full("bar")], own={})
    group.settle("A", "B")
    group.beat("B", subscribedTopicNames=[])
    group.beat("B", subscribedTopicNames=[group.full("foo"), group.full("foo")])
    group.settle("A", "B")


@exchange(
    ABOUT,
    "odd-partitions",
    "A member that reports partitions which are not its own, or of no topic at all",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    nobodys = {"topicId": "AAAAAAAAAAAAAAAAAAAAQQ", "partitions": [0, 1]}
    group.beat("B", own={"foo": [0, 1, 2, 3]})
    group.beat("A", topicPartitions=[nobodys])
    group.beat("B", topicPartitions=[nobodys, {"topicId": group.ids["foo"], "partitions": [9]}])
    group.settle("A", "B")
