"""Rebalances of a group that has members: who sets them going, how they end, which protocol and leader they find."""

from __future__ import annotations

from ..acting import Classic
from .table import exchange

ABOUT = "classic: rebalances"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}


@exchange(
    ABOUT,
    "classic-third-joins",
    "A third member joins a stable group: heartbeats say so, everybody joins again",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.enter("C")
    group.describe()
    group.beat("A")
    group.beat("B")
    group.join("A")
    group.describe()
    group.join("B")
    group.settle()
    group.describe()
    group.assign("A", "B", "C")
    for name in "ABC":
        group.beat(name)
    group.describe()


@exchange(
    ABOUT,
    "classic-same-again",
    "The same bytes again: a follower is told the generation, the leader rebalances",
)
def _(group: Classic) -> None:
    group.form("A", "B", "C")
    followers = [name for name in "ABC" if name != group.leader]
    for name in followers:
        group.join(name)
        group.sync(name)
    group.describe()
    group.join(group.leader)
    group.describe()
    for name in followers:
        group.join(name)
    group.settle()
    group.assign("A", "B", "C")


@exchange(ABOUT, "classic-changed-bytes", "A follower with other bytes sets a rebalance going")
def _(group: Classic) -> None:
    group.form("A", "B")
    follower = "A" if group.leader == "B" else "B"
    group.join(follower, protocols=OTHER)
    group.describe()
    group.join(group.leader)
    group.settle()
    group.assign("A", "B")


@exchange(ABOUT, "classic-changed-order", "The same protocols in another order are others")
def _(group: Classic) -> None:
    group.form("A", "B", protocols={"range": None, "roundrobin": None})
    follower = "A" if group.leader == "B" else "B"
    group.join(follower, protocols={"roundrobin": None, "range": None})
    group.join(group.leader, protocols={"range": None, "roundrobin": None})
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "classic-again-completing",
    "The same bytes between join and sync are answered at once, other bytes rebalance",
)
def _(group: Classic) -> None:
    for name in "ABC":
        group.enter(name)
    group.settle()
    for name in "ABC":
        group.join(name)
    follower = next(name for name in "ABC" if name != group.leader)
    group.sync(follower)
    group.join(follower, protocols=OTHER)
    group.describe()
    for name in "ABC":
        if name != follower:
            group.join(name)
    group.settle()
    group.assign("A", "B", "C")
    group.describe()


@exchange(
    ABOUT,
    "classic-timeout-removes",
    "The rebalance timeout removes who did not join again; the others are a generation",
)
def _(group: Classic) -> None:
    group.form("A", "B", "C", rebalance_ms=1_500)
    first, second, lost = (*(name for name in "ABC" if name != group.leader), group.leader)
    group.join(first, protocols=OTHER, rebalance_ms=1_500)
    group.join(second, rebalance_ms=1_500)
    group.beat(lost)
    group.describe()
    group.settle()
    group.describe()
    group.beat(lost)
    group.assign(first, second)
    group.describe()


@exchange(ABOUT, "classic-longest-timeout", "The longest rebalance timeout of the members counts")
def _(group: Classic) -> None:
    group.enter("A", rebalance_ms=1_000)
    group.enter("B", rebalance_ms=2_500)
    group.settle()
    group.assign("A", "B")
    group.join("A", protocols=OTHER, rebalance_ms=1_000)
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "classic-nobody-rejoins",
    "A leaving leader and nobody who joins again: the last ones expire, the group is empty",
)
def _(group: Classic) -> None:
    group.form("A", "B", rebalance_ms=1_000, session_ms=3_000)
    group.leave(group.leader)
    group.describe()
    group.pause(1.6)
    group.describe()
    group.lists()


@exchange(
    ABOUT, "classic-protocol-votes", "Each member votes for its first protocol that all have; most votes win"
)
def _(group: Classic) -> None:
    offered = {
        "A": ("range", "roundrobin", "sticky"),
        "B": ("sticky", "roundrobin", "range"),
        "C": ("roundrobin", "sticky"),
        "D": ("sticky", "cooperative-sticky", "roundrobin"),
    }
    for name, protocols in offered.items():
        group.enter(name, protocols=dict.fromkeys(protocols))
    group.settle()
    group.describe()
    chosen = group.generations
    assert chosen


@exchange(
    ABOUT, "classic-protocol-tie", "With as many votes the first in the order of Java's hash table wins"
)
def _(group: Classic) -> None:
    names = ("range", "roundrobin", "sticky", "cooperative-sticky")
    for at, name in enumerate("ABCD"):
        group.enter(name, protocols=dict.fromkeys(names[at:] + names[:at]))
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-protocol-tie-of-two", "A tie of range and cooperative-sticky, as in a rolling upgrade"
)
def _(group: Classic) -> None:
    group.enter("A", protocols=dict.fromkeys(("range", "cooperative-sticky")))
    group.enter("B", protocols=dict.fromkeys(("cooperative-sticky", "range")))
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-protocol-upgrade", "The protocol changes when the last member that lacks it has gone"
)
def _(group: Classic) -> None:
    both = dict.fromkeys(("cooperative-sticky", "range"))
    group.form("A", "B")
    group.leave("A")
    group.join("B")
    del group.ids["A"]
    group.enter("A", protocols=both)
    group.join("B")
    group.settle()
    group.assign("A", "B")
    group.leave("B")
    group.join("A", protocols=both)
    group.settle()
    group.describe()
    group.sync("A", {"A": {"foo": [0]}}, protocol="cooperative-sticky")


@exchange(
    ABOUT,
    "classic-cooperative-rounds",
    "Two rounds of a cooperative assignor: owned partitions are told, given up, and given out",
)
def _(group: Classic) -> None:
    cooperative = {"cooperative-sticky": None}
    fields = {"protocol": "cooperative-sticky"}
    group.enter("A", protocols=cooperative)
    group.settle()
    group.sync("A", {"A": {"foo": [0, 1, 2, 3]}}, **fields)
    group.enter("B", protocols=cooperative)
    group.beat("A")
    group.join("A", protocols=cooperative, owned={"foo": [0, 1, 2, 3]})
    group.settle()
    group.assign("A", "B", assign={"A": {"foo": [0, 1]}, "B": {}}, **fields)
    group.join("A", protocols=cooperative, owned={"foo": [0, 1]})
    group.beat("B")
    group.join("B", protocols=cooperative, owned={})
    group.settle()
    group.assign("A", "B", assign={"A": {"foo": [0, 1]}, "B": {"foo": [2, 3]}}, **fields)
    group.describe()


@exchange(
    ABOUT,
    "classic-member-order",
    "Members stand in the order of Java's hash table, in answers, descriptions and records",
)
def _(group: Classic) -> None:
    for name in ("first", "second", "third", "fourth", "fifth"):
        group.enter(name)
    group.settle()
    group.assign("first", "second", "third", "fourth", "fifth")
    group.describe()
    group.leave("second")
    group.leave("fourth")
    for name in ("fifth", "third", "first"):
        group.join(name)
    group.settle()
    group.enter("sixth")
    for name in ("fifth", "third", "first"):
        group.join(name)
    group.settle()
    group.describe()


@exchange(ABOUT, "classic-protocol-most", "Most votes win also where Java's hash table has another one first")
def _(group: Classic) -> None:
    group.enter("A", protocols=dict.fromkeys(("roundrobin", "sticky")))
    group.enter("B", protocols=dict.fromkeys(("roundrobin", "sticky")))
    group.enter("C", protocols=dict.fromkeys(("sticky", "roundrobin")))
    group.settle()
    group.describe()
