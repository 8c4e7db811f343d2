"""Static members: instances that outlive their member ids."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "static members"

GROUP_MAX_SIZE_REACHED = 81

FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, UNKNOWN_MEMBER_ID = 82, 111, 25
FENCED_MEMBER_EPOCH = 110


@exchange(
    ABOUT,
    "static-restart",
    "Leaves with -2, comes back under a new id: eight records, no epoch, its partitions again",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"], instanceId="j")
    group.settle_static("A", "i", "B", "j")
    group.beat("A", -2, instanceId="i")
    group.describe()
    group.join("A2", ["foo"], instanceId="i", client="another")
    group.settle_static("A2", "i", "B", "j")
    group.describe()


@exchange(ABOUT, "static-same-id", "Comes back under the id it had")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.beat("A", -2, instanceId="i")
    group.beat("A", -2, instanceId="i")
    group.beat("A", 2, instanceId="i", error=FENCED_MEMBER_EPOCH)
    group.join("A", ["foo"], instanceId="i")
    group.beat("A", instanceId="i")


@exchange(ABOUT, "static-held", "A second holder while the first is there is refused, the holder itself too")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"], instanceId="i", error=UNRELEASED_INSTANCE_ID)
    group.join("A", ["foo"], instanceId="i", error=UNRELEASED_INSTANCE_ID)


@exchange(ABOUT, "static-fenced", "Requests under an instance that another member holds by now")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.join("A", ["foo"], instanceId="i")
    group.beat("A", -2, instanceId="i")
    group.join("B", ["foo"], instanceId="i")
    group.beat("A", 2, instanceId="i", error=FENCED_INSTANCE_ID)
    group.beat("A", -1, instanceId="i", error=FENCED_INSTANCE_ID)
    group.beat("A", -2, instanceId="i", error=FENCED_INSTANCE_ID)
    group.beat("A", 2, error=UNKNOWN_MEMBER_ID)
    group.leave("B")


@exchange(
    ABOUT, "static-expires", "Not back in time: the session that runs from the last heartbeat removes it"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.configure(session_timeout_ms=4_000, heartbeat_interval_ms=300)
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"])
    group.settle_static("A", "i", "B", None)
    group.beat("A", -2, instanceId="i")
    group.alive(5.5, "B")
    group.join("A2", ["foo"], instanceId="i")


@exchange(ABOUT, "static-gone-for-good", "A static member leaves with -1, by its id alone too")
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"], instanceId="i")
    group.leave("A", instanceId="i")
    group.join("B", ["foo"], instanceId="i")
    group.leave("B")


@exchange(
    ABOUT,
    "static-left-while-revoking",
    "-2 of a member that was to give something up frees that at once; what it keeps stays held",
)
def _(group: Group) -> None:
    group.topic("foo", 6)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"])
    group.beat("A", instanceId="i")
    group.beat("A", -2, instanceId="i")
    group.ack("B")
    group.ack("B")
    group.join("A2", ["foo"], instanceId="i")
    group.settle_static("A2", "i", "B", None)


@exchange(ABOUT, "static-other-subscription", "Comes back with other topics, another assignor, another rack")
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"])
    group.settle_static("A", "i", "B", None)
    group.beat("A", -2, instanceId="i")
    group.join("A2", ["bar"], instanceId="i", serverAssignor="range", rackId="r")
    group.settle_static("A2", "i", "B", None)
    group.beat("A2", -2, instanceId="i")
    group.leave("B")
    group.join("A3", ["foo", "bar"], instanceId="i")
    group.settle_static("A3", "i")


@exchange(
    ABOUT,
    "static-later",
    "A dynamic member joins again with an instance: nobody held it, so no target is found under it",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.join("B", ["foo"], instanceId="i")
    group.beat("B", instanceId="i")
    group.ack("A")
    group.ack("A")
    group.beat("B", instanceId="i")
    group.describe()
    group.join("C", ["foo"])
    group.settle_static("A", None, "B", "i", "C", None)


@exchange(
    ABOUT,
    "static-renamed",
    "A member joins again under another instance: the first one stays its own, since 4.4 it is free",
)
def _(group: Group) -> None:
    is_free = group.node.follows("instance_follows_member")
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.join("A", ["foo"], instanceId="j")
    group.beat("A", instanceId="i", error=UNKNOWN_MEMBER_ID if is_free else 0)
    group.join("B", ["foo"], instanceId="i", error=0 if is_free else UNRELEASED_INSTANCE_ID)
    group.describe()


@exchange(
    ABOUT,
    "static-full-group",
    "A static member comes back to a full group: refused, since 4.4 it is let in",
)
def _(group: Group) -> None:
    is_let_in = group.node.follows("full_group_admits_instances")
    group.topic("foo", 5)
    for member in "ABCDE":
        group.join(member, ["foo"], instanceId=f"i-{member}")
    group.beat("A", -2, instanceId="i-A")
    group.join("A2", ["foo"], instanceId="i-A", error=0 if is_let_in else GROUP_MAX_SIZE_REACHED)
    group.join("F", ["foo"], instanceId="i-F", error=GROUP_MAX_SIZE_REACHED)


@exchange(
    ABOUT,
    "static-without-instance",
    "Who left for now may join without its instance, which it keeps; a bare heartbeat without it may not",
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.beat("A", -2, instanceId="i")
    group.beat("A", 2, error=110)
    group.join("A", ["foo"])
    group.ack("A")
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.beat("A", -2, instanceId="i")
    group.leave("A")
    group.settle("B")


@exchange(
    ABOUT,
    "static-regex",
    "A static member comes back with its expression, then with another one, which takes the old one along",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.topic("bar", 2)
    group.at_once()
    foo = group.name + "[.]foo"
    group.join("A", None, subscribedTopicRegex=foo, instanceId="i")
    group.pause(1)
    group.beat("A", instanceId="i")
    group.join("B", ["foo"])
    group.settle_static("A", "i", "B", None)
    group.beat("A", -2, instanceId="i")
    group.join("A2", None, subscribedTopicRegex=foo, instanceId="i")
    group.settle_static("A2", "i", "B", None)
    group.beat("A2", -2, instanceId="i")
    group.join("A3", None, subscribedTopicRegex=group.name + "[.]bar", instanceId="i")
    group.beat("B")
    group.pause(10.2)
    group.beat("B")
    group.pause(1)
    group.settle_static("A3", "i", "B", None)
    group.beat("A3", -2, instanceId="i")
    group.join("A4", ["foo"], instanceId="i", subscribedTopicRegex="")
    group.settle_static("A4", "i", "B", None)
    group.describe()


@exchange(
    ABOUT,
    "static-away",
    "While a member is away: its commits, its offsets, the group that is not deleted, and a target made without it",
)
def _(group: Group) -> None:
    group.topic("foo", 6)
    group.at_once()
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"])
    group.settle_static("A", "i", "B", None)
    group.beat("A", -2, instanceId="i")
    group.commit("A", -2, "foo", {0: 1})
    group.commit("A", 3, "foo", {0: 2}, codes=[113])
    group.fetch("A", -2, {"foo": [0]})
    group.fetch("A", 3, {"foo": [0]}, error=113)
    group.delete(error=68)
    group.join("C", ["foo"])
    group.ack("B")
    group.ack("B")
    group.ack("C")
    group.describe()
    group.join("A2", ["foo"], instanceId="i")
    group.describe()
    group.settle_static("A2", "i", "B", None, "C", None)
