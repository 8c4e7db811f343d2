"""Leaving, being removed, and the end of a group."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "leaving"

UNKNOWN_MEMBER_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP = 25, 69, 68


@exchange(
    ABOUT,
    "leave",
    "A leave writes tombstones 8, 7, 5 and an epoch, no target; the next heartbeat of anybody makes it",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.leave("B")
    group.describe()
    group.settle("A")
    group.leave("B", error=UNKNOWN_MEMBER_ID)


@exchange(
    ABOUT,
    "last-leaves",
    "After the last leave the group is empty at a hash of 0; who comes next may have to wait for its target",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.join("A", ["foo"])
    group.leave("A")
    group.describe()
    group.join("B", ["foo"])
    group.pause(1.1)
    group.beat("B")
    group.settle("B")


@exchange(
    ABOUT, "leave-while-revoking", "A member that leaves with partitions it was to give up frees them all"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("A")
    group.leave("A")
    group.settle("B")


@exchange(ABOUT, "session-expires", "A member that is not heard of is removed with the records of a leave")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.configure(session_timeout_ms=4_000, heartbeat_interval_ms=300)
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.alive(5.5, "A")
    group.beat("B", error=UNKNOWN_MEMBER_ID)
    group.settle("A")
    group.pause(5.0)
    group.describe()


@exchange(
    ABOUT,
    "settings-of-group",
    "Session timeout and heartbeat interval of a group; what the broker does not allow is refused",
)
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.configure(error=40, session_timeout_ms=100_000)
    group.configure(error=40, heartbeat_interval_ms=1)
    group.configure(heartbeat_interval_ms=500)
    assert group.join("A", ["foo"])["heartbeatIntervalMs"] == 500
    group.configure(heartbeat_interval_ms=None)
    group.beat("A")


@exchange(ABOUT, "group-deleted", "A group with members is not deleted; an empty one is: types 1, 6, 4, 3")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.join("A", ["foo"])
    group.commit("A", None, "foo", {0: 5, 2: 7, 1: 9})
    group.delete(error=NON_EMPTY_GROUP)
    group.leave("A")
    group.delete()
    group.delete(error=GROUP_ID_NOT_FOUND)
    group.describe(error=GROUP_ID_NOT_FOUND)
    group.beat("A", 1, error=GROUP_ID_NOT_FOUND)


@exchange(ABOUT, "group-made-again", "A deleted group that somebody joins begins anew")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.join("A", ["foo"])
    group.leave("A")
    group.delete()
    group.join("A", ["foo"])
    group.settle("A")


@exchange(ABOUT, "described", "ConsumerGroupDescribe in both versions, in every state")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.describe(error=GROUP_ID_NOT_FOUND)
    group.join("A", ["foo"], rackId="r")
    group.describe(version=0)
    group.join("B", ["foo"], instanceId="i")
    group.describe()
    group.pause(1.1)
    group.beat("A")
    group.describe()
    group.ack("A")
    group.describe(version=0)
    group.settle("A", "B")
    group.describe()
