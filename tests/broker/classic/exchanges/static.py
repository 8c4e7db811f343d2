"""Static members of classic groups: coming back, being fenced, and not being missed."""

from __future__ import annotations

from ..acting import Classic
from .table import exchange

ABOUT = "classic: static members"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}


def formed(group: Classic, **fields: int) -> None:
    """A and B are static, C is not; all have joined and been assigned to."""
    group.enter("A", instance="a", **fields)
    group.enter("B", instance="b", **fields)
    group.enter("C", **fields)
    group.settle()
    group.assign("A", "B", "C")


def back(group: Classic, name: str, **fields: object) -> None:
    """The member is started anew: it has no member id any more."""
    group.join(name, member_id="", **fields)  # type: ignore[arg-type]


@exchange(
    ABOUT,
    "classic-static-join",
    "A static member joins with its first request, under an id made of its instance",
)
def _(group: Classic) -> None:
    formed(group)
    group.describe()
    for name in "ABC":
        group.beat(name)


@exchange(
    ABOUT,
    "classic-static-follower-back",
    "A static follower comes back: no rebalance, a record with its new id, its assignment at once",
)
def _(group: Classic) -> None:
    formed(group)
    name = next(name for name in "AB" if name != group.leader)
    old = group.ids[name]
    group.pause(1.5)
    back(group, name)
    group.describe()
    group.sync(name)
    group.beat(name)
    group.beat(name, member_id=old)
    group.join(name, member_id=old)
    group.sync(name, member_id=old)
    group.leave_entries((old, group._instances[name]))
    group.describe()


@exchange(
    ABOUT,
    "classic-static-leader-back",
    "A static leader comes back: it is told the members, and to skip the assignment",
)
def _(group: Classic) -> None:
    group.enter("A", instance="a")
    group.settle()
    group.sync("A", {"A": {"foo": [0, 1]}})
    group.enter("B")
    group.join("A")
    group.settle()
    group.assign("A", "B")
    leader = "A"
    group.pause(0.5)
    back(group, leader)
    group.sync(leader)
    group.describe()
    group.beat("B")


@exchange(
    ABOUT,
    "classic-static-leader-back-old",
    "Below version 9 a static leader that comes back is told the old leader's id",
)
def _(group: Classic) -> None:
    group.enter("A", instance="a", version=8)
    group.settle()
    group.sync("A", {"A": {"foo": [0, 1]}})
    back(group, "A", version=8)
    group.sync("A")
    back(group, "A", version=5)
    group.sync("A", version=3)
    group.describe()


@exchange(
    ABOUT,
    "classic-static-other-subscription",
    "It comes back with other bytes: still no rebalance, and the record has them",
)
def _(group: Classic) -> None:
    formed(group)
    back(group, "A", protocols=OTHER, rebalance_ms=5_000, session_ms=20_000)
    group.sync("A")
    group.describe()
    group.beat("C")


@exchange(
    ABOUT,
    "classic-static-other-protocol",
    "It comes back and the group would choose another protocol: a rebalance",
)
def _(group: Classic) -> None:
    both = dict.fromkeys(("range", "sticky"))
    group.enter("A", instance="a", protocols=dict.fromkeys(("range",)))
    group.enter("B", protocols=dict.fromkeys(("sticky", "range")))
    group.settle()
    group.assign("A", "B")
    back(group, "A", protocols=dict.fromkeys(("sticky", "range")))
    group.describe()
    group.beat("B")
    group.join("B", protocols=both)
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "classic-static-back-joining",
    "It comes back while members join again: its waiting request is fenced",
)
def _(group: Classic) -> None:
    formed(group)
    group.join("A", protocols=OTHER)
    back(group, "A")
    group.describe()
    for name in "BC":
        group.join(name)
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-static-back-first-phase", "It comes back in the first join phase, which is not lengthened"
)
def _(group: Classic) -> None:
    group.join("A", instance="a")
    group.pause(0.1)
    back(group, "A")
    group.settle()
    group.describe()
    group.assign("A")


@exchange(
    ABOUT,
    "classic-static-back-completing",
    "It comes back between join and sync: its waiting request is fenced, and a rebalance follows",
)
def _(group: Classic) -> None:
    group.enter("A", instance="a")
    group.enter("B", instance="b")
    group.enter("C")
    group.settle()
    name = next(name for name in "AB" if name != group.leader)
    group.sync(name)
    back(group, name)
    group.describe()
    for other in "ABC":
        if other != name:
            group.join(other)
    group.settle()
    group.assign("A", "B", "C")


@exchange(ABOUT, "classic-static-fenced", "Another member's instance, or one that nobody holds")
def _(group: Classic) -> None:
    formed(group)
    group.beat("A", instance="b")
    group.beat("A", instance="nobody")
    group.join("C", instance="a")
    group.join("C", instance="nobody")
    group._instances.pop("C")
    group.sync("A", instance="b")
    group.commit("A", {0: 1}, instance="b")
    group.commit("A", {0: 1}, instance="nobody")
    group.commit("A", {0: 1})
    group.leave_entries((group.ids["A"], "b"), (group.ids["A"], "nobody"))
    group.beat("A")


@exchange(
    ABOUT, "classic-static-kept", "A static member that does not join again stays, without having joined"
)
def _(group: Classic) -> None:
    formed(group, rebalance_ms=1_500)
    rejoining = [name for name in "ABC" if name != "A"]
    group.join(rejoining[0], protocols=OTHER, rebalance_ms=1_500)
    group.join(rejoining[1], rebalance_ms=1_500)
    group.settle()
    group.describe()
    group.assign(*rejoining)
    group.beat("A")
    group.describe()
    group.pause(2.0)
    group.describe()


@exchange(
    ABOUT,
    "classic-static-nobody-joins",
    "None but static members, and none joins again: the join phase is lengthened until they expire",
)
def _(group: Classic) -> None:
    fields = {"rebalance_ms": 1_000, "session_ms": 3_500}
    group.enter("A", instance="a", **fields)
    group.enter("B", instance="b", **fields)
    group.enter("C", **fields)
    group.settle()
    group.assign("A", "B", "C")
    group.leave("C")
    group.describe()
    group.pause(2.4)
    group.describe()
    group.pause(2.4)
    group.describe()


@exchange(ABOUT, "classic-static-expires", "The session of a static member runs out like any other")
def _(group: Classic) -> None:
    group.enter("A", instance="a", session_ms=1_500)
    group.enter("B", session_ms=30_000)
    group.settle()
    group.assign("A", "B")
    group.pause(2.0)
    group.describe()
    group.beat("B")
    group.join("B")
    group.settle()
    back(group, "A")
    group.describe()
    group.join("B")
    group.settle()


@exchange(ABOUT, "classic-static-leave", "A static member is removed by its instance, or by its id alone")
def _(group: Classic) -> None:
    formed(group)
    group.leave_entries(("", "a"))
    group.describe()
    group.leave("B")
    group.join("C")
    group.settle()
    group.describe()


@exchange(ABOUT, "classic-static-twice", "Two processes with one instance take turns in fencing each other")
def _(group: Classic) -> None:
    group.enter("A", instance="a")
    group.settle()
    group.sync("A", {"A": {"foo": [0]}})
    first = group.ids["A"]
    back(group, "A")
    group.sync("A")
    group.beat("A", member_id=first)
    back(group, "A")
    group.sync("A")
    group.describe()


@exchange(
    ABOUT,
    "classic-static-back-unsynced",
    "It comes back before it has asked for its assignment: the old id is waited for",
)
def _(group: Classic) -> None:
    group.enter("A", instance="a", rebalance_ms=1_500)
    group.enter("B", instance="b", rebalance_ms=1_500)
    group.settle()
    name = next(name for name in "AB" if name != group.leader)
    group.sync(group.leader, {"A": {"foo": [0]}, "B": {"foo": [1]}})
    back(group, name, rebalance_ms=1_500)
    group.sync(name)
    group.pause(1.8)
    group.describe()
    group.beat(name)
