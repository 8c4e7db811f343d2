"""What a heartbeat must be, whatever the group is like."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

INVALID_REQUEST, UNSUPPORTED_ASSIGNOR = 42, 112
GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, GROUP_MAX_SIZE_REACHED = 69, 25, 81
FENCED_MEMBER_EPOCH = 110

ABOUT = "what a heartbeat must be"


@exchange(
    ABOUT, "member-id-blank", "An empty or blank member id is refused from version 1 on, also with epoch -1"
)
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.join("", ["foo"], error=INVALID_REQUEST)
    group.join("  ", ["foo"], error=INVALID_REQUEST)
    group.beat("", 3, error=INVALID_REQUEST, version=0)
    group.beat("", -1, error=INVALID_REQUEST, version=0)


@exchange(ABOUT, "member-id-drawn", "In version 0 the coordinator draws an id for who joins without one")
def _(group: Group) -> None:
    group.topic("foo", 2)
    answer = group.join("", ["foo"], version=0)
    drawn = answer["memberId"]
    assert len(drawn) == 22
    group.epochs[drawn] = answer["memberEpoch"]
    group.owned[drawn] = group.owned.pop("")
    group.ack(drawn, version=0)
    group.leave(drawn, version=0)


@exchange(ABOUT, "blank-fields", "Blank instance and rack ids are refused, each in its turn")
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.join("A", ["foo"], instanceId="", rackId="", error=INVALID_REQUEST)
    group.join("A", ["foo"], instanceId="i", rackId=" ", error=INVALID_REQUEST)
    group.join("A", ["foo"], rackId="", error=INVALID_REQUEST)


@exchange(
    ABOUT, "first-heartbeat", "A first heartbeat tells rebalance timeout, no partitions, and a subscription"
)
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.join("A", ["foo"], rebalanceTimeoutMs=-1, error=INVALID_REQUEST)
    group.join("A", ["foo"], topicPartitions=None, error=INVALID_REQUEST)
    group.join("A", ["foo"], own={"foo": [0]}, error=INVALID_REQUEST)
    group.join("A", None, error=INVALID_REQUEST)


@exchange(ABOUT, "epochs-below-minus-one", "Epoch -2 needs an instance id; anything below is no epoch")
def _(group: Group) -> None:
    group.beat("A", -2, error=INVALID_REQUEST)
    group.beat("A", -3, error=INVALID_REQUEST)
    group.beat("A", -3, instanceId="i", error=INVALID_REQUEST)


@exchange(
    ABOUT,
    "unknown-assignor",
    "An assignor that the broker does not have; those it has are named in hash order",
)
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.join("A", ["foo"], serverAssignor="sticky", error=UNSUPPORTED_ASSIGNOR)
    group.join("A", ["foo"], serverAssignor="", error=UNSUPPORTED_ASSIGNOR)


@exchange(
    ABOUT, "no-group", "A group that is not there: heartbeats with an epoch, leaving, and describing it"
)
def _(group: Group) -> None:
    group.beat("A", 1, error=GROUP_ID_NOT_FOUND)
    group.beat("A", -1, error=GROUP_ID_NOT_FOUND)
    group.beat("A", -2, instanceId="i", error=GROUP_ID_NOT_FOUND)
    group.beat("A", 4, instanceId="i", own={}, error=GROUP_ID_NOT_FOUND)
    group.describe(error=GROUP_ID_NOT_FOUND)


@exchange(
    ABOUT, "unknown-member", "Who is no member: an epoch of 1 or more, leaving, an instance that nobody has"
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"])
    group.beat("B", 1, error=UNKNOWN_MEMBER_ID)
    group.beat("B", -1, error=UNKNOWN_MEMBER_ID)
    group.beat("B", 1, instanceId="i", error=UNKNOWN_MEMBER_ID)
    group.beat("B", -1, instanceId="i", error=UNKNOWN_MEMBER_ID)
    group.beat("B", -2, instanceId="i", error=UNKNOWN_MEMBER_ID)


@exchange(ABOUT, "full-group", "A sixth member where five are allowed; who is a member may join again")
def _(group: Group) -> None:
    group.topic("foo", 5)
    for member in "ABCDE":
        group.join(member, ["foo"])
    group.join("F", ["foo"], error=GROUP_MAX_SIZE_REACHED)
    group.join("A", ["foo"])
    group.leave("E")
    group.join("F", ["foo"])


@exchange(
    ABOUT, "epochs-fenced", "Greater and smaller epochs than the member's are fenced; nothing is written"
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    epoch = group.epochs["A"]
    group.beat("A", epoch + 1, error=FENCED_MEMBER_EPOCH)
    group.beat("A", epoch - 1, error=FENCED_MEMBER_EPOCH)
    group.beat("A", 1, own={}, error=FENCED_MEMBER_EPOCH)
    group.ack("A")


@exchange(
    ABOUT,
    "lost-answer",
    "The previous epoch is taken from who reports no more than it is assigned, and only then",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.ack("A")
    before = group.epochs["A"]
    group.ack("A")
    assert group.epochs["A"] == before + 1
    own = {"foo": next(iter(group.owned["A"].values()))}
    group.beat("A", before, error=FENCED_MEMBER_EPOCH)
    group.beat("A", before, own={"foo": [0, 1, 2, 3]}, error=FENCED_MEMBER_EPOCH)
    group.beat("A", before, own=own)
    group.beat("A", before, own={})


@exchange(ABOUT, "odd-but-taken", "No names, an empty expression, a rebalance timeout of 0: all pass")
def _(group: Group) -> None:
    group.join("A", [], rebalanceTimeoutMs=0)
    group.join("B", None, subscribedTopicRegex="", rebalanceTimeoutMs=-7)
    group.beat("A")
    group.ack("B", rebalanceTimeoutMs=100, subscribedTopicNames=[])
    group.describe()
