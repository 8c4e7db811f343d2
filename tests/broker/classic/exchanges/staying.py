"""Heartbeat, LeaveGroup, and sessions that run out."""

from __future__ import annotations

from ..acting import Classic
from .table import exchange

ABOUT = "classic: staying and leaving"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}


@exchange(ABOUT, "classic-heartbeat", "Heartbeats in each state, and with a wrong generation or member")
def _(group: Classic) -> None:
    group.join("A")
    group.beat("A", generation=0)
    group.join("A")
    group.beat("A", generation=0)
    group.beat("A", generation=1)
    group.settle()
    group.beat("A")
    group.sync("A", {"A": {"foo": [0]}})
    for version in (1, 2, 3, 4):
        group.beat("A", version=version)
    group.beat("A", generation=0)
    group.beat("A", generation=2)
    group.beat("A", member_id="nobody")
    group.beat("A", instance="nobody")


@exchange(
    ABOUT,
    "classic-session-expires",
    "A session runs out: a rebalance, which ends when the others have joined",
)
def _(group: Classic) -> None:
    group.enter("A", session_ms=30_000)
    group.enter("B", session_ms=1_500)
    group.settle()
    group.assign("A", "B")
    group.pause(1.0)
    group.beat("B")
    group.pause(1.1)
    group.beat("A")
    group.pause(0.8)
    group.beat("A")
    group.describe()
    group.beat("B")
    group.join("A", session_ms=30_000)
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-all-expire", "The sessions of all members run out: the group is empty, with a record"
)
def _(group: Classic) -> None:
    group.enter("A", session_ms=1_200)
    group.enter("B", session_ms=1_800)
    group.settle()
    group.assign("A", "B")
    group.pause(2.6)
    group.describe()
    group.lists()


@exchange(
    ABOUT,
    "classic-expires-rebalancing",
    "A session runs out while members join again: the join phase ends at once",
)
def _(group: Classic) -> None:
    group.enter("A", session_ms=30_000)
    group.enter("B", session_ms=1_500)
    group.settle()
    group.assign("A", "B")
    group.join("A", protocols=OTHER)
    group.pause(1.9)
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "classic-waits-alive",
    "Who waits in the join or sync phase does not expire, however short its session",
)
def _(group: Classic) -> None:
    group.form("A", "B", session_ms=1_000, rebalance_ms=3_000)
    group.join("A", protocols=OTHER, session_ms=1_000, rebalance_ms=3_000)
    for _ in range(4):
        group.pause(0.5)
        group.beat("B")
    group.join("B", session_ms=1_000, rebalance_ms=3_000)
    group.settle()
    follower = "A" if group.leader == "B" else "B"
    group.sync(follower)
    for _ in range(4):
        group.pause(0.5)
        group.beat(group.leader)
    group.sync(group.leader, {"A": {"foo": [0]}})
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-leave", "A member leaves: the others join again; the last one leaves the group empty"
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.leave("A")
    group.describe()
    group.beat("A")
    group.beat("B")
    group.join("B")
    group.settle()
    group.assign("B")
    group.leave("B")
    group.describe()
    group.lists()
    group.leave("B")


@exchange(
    ABOUT,
    "classic-leave-old-version",
    "LeaveGroup of one member, and its error in the place of the request's",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.leave("A", version=1)
    group.leave("A", version=2)
    group.leave("B", version=0)
    group.describe()


@exchange(
    ABOUT,
    "classic-leave-several",
    "Several leave with one request: unknown ones have their error, one rebalance follows",
)
def _(group: Classic) -> None:
    group.form("A", "B", "C")
    group.leave_entries(("nobody", None), ("", None), ("", "nobody"))
    group.beat("A")
    group.leave("A", "nobody", "B", version=4)
    group.describe()
    group.join("C")
    group.settle()
    group.describe()
    group.leave_entries()


@exchange(ABOUT, "classic-leave-pending", "A pending id is given back")
def _(group: Classic) -> None:
    group.join("A")
    group.leave("A")
    group.join("A")
    group.describe()


@exchange(
    ABOUT, "classic-leave-joining", "Who leaves while it waits in the join phase is told that it is unknown"
)
def _(group: Classic) -> None:
    group.enter("A")
    group.enter("B")
    group.leave("A")
    group.settle()
    group.describe()
    group.assign("B")
    group.join("B")
    group.settle()
    group.leave("B")
    group.describe()


@exchange(
    ABOUT,
    "classic-leave-first-phase",
    "All leave during the first join phase, which ends by its timer, empty",
)
def _(group: Classic) -> None:
    group.enter("A")
    group.leave("A")
    group.describe()
    group.pause(1.6)
    group.describe()


@exchange(ABOUT, "classic-leave-completes", "The last that has not joined again leaves: the join phase ends")
def _(group: Classic) -> None:
    group.form("A", "B", "C")
    group.join("A", protocols=OTHER)
    group.join("B")
    group.leave("C")
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "classic-leave-leader",
    "The leader leaves: the first of the others leads, or the first that has joined",
)
def _(group: Classic) -> None:
    group.form("A", "B", "C", "D", "E")
    first = group.leader
    group.leave(first)
    left = [name for name in "ABCDE" if name != first]
    for name in left[::-1]:
        group.join(name)
    group.settle()
    group.describe()
    group.assign(*left)


@exchange(
    ABOUT,
    "classic-empty-then-again",
    "An empty group begins again with the next generation, its initial delay included",
)
def _(group: Classic) -> None:
    group.form("A")
    group.leave("A")
    group.ids.clear()
    group.pause(0.3)
    group.enter("B")
    group.settle()
    group.assign("B")
    group.describe()
    group.leave("B")
    group.delete()
    group.describe()
    group.ids.clear()
    group.form("C")


@exchange(ABOUT, "classic-delete", "A group is deleted only without members; pending ids do not count")
def _(group: Classic) -> None:
    group.join("A")
    group.delete()
    group.lists()
    group.ids.clear()
    group.enter("A")
    group.delete()
    group.settle()
    group.delete()
    group.assign("A")
    group.delete()
    group.leave("A")
    group.delete()
    group.describe()
