"""JoinGroup: ids, refusals, the first join phase, and how long it lasts."""

from __future__ import annotations

from ..acting import Classic
from .table import exchange

ABOUT = "classic: joining"


@exchange(
    ABOUT,
    "classic-first-join",
    "An id is required, the join waits for the initial delay, a record of an empty group",
)
def _(group: Classic) -> None:
    group.join("A")
    group.describe()
    group.lists()
    group.join("A")
    group.describe()
    group.settle()
    group.describe()
    group.sync("A", {"A": {"foo": [0, 1, 2, 3]}})
    group.describe()
    group.lists()


@exchange(
    ABOUT, "classic-join-old-version", "Below version 4 a member joins at once with an id that is drawn"
)
def _(group: Classic) -> None:
    group.join("A", version=3)
    group.settle()
    group.join("B", version=2)
    group.beat("A", version=2)
    group.join("A", version=3)
    group.settle()
    group.sync("A", {"A": {"foo": [0]}, "B": {"foo": [1]}}, version=2)
    group.sync("B", version=1)
    group.settle()
    group.describe(5)


@exchange(
    ABOUT,
    "classic-delay-extended",
    "Each new member within the delay lengthens the first join phase by another one",
)
def _(group: Classic) -> None:
    group.enter("A")
    group.pause(0.1)
    group.enter("B")
    group.pause(1.0)
    group.enter("C")
    group.settle()
    group.assign("A", "B", "C")
    group.describe()


@exchange(ABOUT, "classic-delay-limited", "The first join phase is never longer than the rebalance timeout")
def _(group: Classic) -> None:
    group.enter("A", rebalance_ms=1_700)
    group.enter("B", rebalance_ms=700)
    group.pause(0.9)
    group.enter("C", rebalance_ms=700)
    group.settle()
    group.describe()
    group.assign("A", "B", "C")


@exchange(
    ABOUT,
    "classic-rejoin-in-delay",
    "A known member that joins again does not lengthen it; its first request is never answered",
)
def _(group: Classic) -> None:
    group.enter("A")
    group.pause(0.1)
    group.join("A")
    group.pause(1.5)
    group.assign("A")
    group.describe()


@exchange(
    ABOUT,
    "classic-no-group",
    "A member id for a group that is not there: UNKNOWN_MEMBER_ID, and no group is made",
)
def _(group: Classic) -> None:
    group.join("A", member_id="A-1")
    group.describe()
    group.describe(5)
    group.lists()
    group.sync("A", generation=1, member_id="A-1")
    group.beat("A", generation=1, member_id="A-1")
    group.leave_entries(("A-1", None), ("", "i"))
    group.delete()


@exchange(ABOUT, "classic-session-bounds", "A session timeout out of bounds, and exactly at them")
def _(group: Classic) -> None:
    group.join("A", session_ms=999)
    group.join("A", session_ms=1_800_001)
    group.join("A", session_ms=0)
    group.join("A", session_ms=1_800_000)
    group.join("B", session_ms=1_000)
    group.describe()


@exchange(ABOUT, "classic-empty-group-id", "The empty group id is refused by each of the four requests")
def _(group: Classic) -> None:
    group.join("A", group="")
    empty = {"groupId": "", "memberId": "m", "groupInstanceId": None, "generationId": 1}
    group.ask("Heartbeat", 4, empty)
    group.ask(
        "SyncGroup", 5, {**empty, "protocolType": "consumer", "protocolName": "range", "assignments": []}
    )
    entry = {"memberId": "m", "groupInstanceId": None, "reason": None}
    group.ask("LeaveGroup", 5, {"groupId": "", "members": [entry]})


@exchange(
    ABOUT, "classic-no-protocols", "Without protocols or a protocol type nobody joins, but the group is made"
)
def _(group: Classic) -> None:
    group.join("A", protocols={})
    group.join("A", protocol_type="")
    group.describe()
    group.join("A", member_id="nobody")
    group.lists()


@exchange(
    ABOUT,
    "classic-inconsistent",
    "Another protocol type, or no protocol in common: INCONSISTENT_GROUP_PROTOCOL",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.join("C", protocols={"roundrobin": None})
    group.join("C", protocol_type="connect")
    group.join("A", protocols={"sticky": None})
    group.join("A", protocol_type="connect", member_id="nobody")
    group.beat("A")
    group.describe()


@exchange(ABOUT, "classic-unknown-id", "An id that the group does not know is refused in each of its states")
def _(group: Classic) -> None:
    group.join("A")
    group.join("B", member_id="nobody")
    group.join("A")
    group.join("B", member_id="nobody")
    group.settle()
    group.join("B", member_id="nobody")
    group.sync("A", {"A": {"foo": [0]}})
    group.join("B", member_id="nobody")
    group.sync("B", generation=1, member_id="nobody")
    group.beat("B", generation=1, member_id="nobody")


@exchange(ABOUT, "classic-pending-expires", "A pending id that does not join in time is forgotten")
def _(group: Classic) -> None:
    group.join("A", session_ms=1_000)
    group.pause(1.6)
    group.join("A")
    group.describe()
    group.ids.clear()
    group.form("A")
    group.join("B", session_ms=1_500)
    group.beat("A")
    group.pause(2.2)
    group.join("B")
    group.describe()


@exchange(
    ABOUT, "classic-pending-holds", "A rebalance waits for a pending id, until it joins, leaves or expires"
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.join("C")
    group.join("A", protocols={"range": b"\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"})
    group.join("B")
    group.describe()
    group.join("C")
    group.settle()
    group.assign("A", "B", "C")
    group.join("D", session_ms=1_500)
    group.join(group.leader)
    for name in "ABC":
        if name != group.leader:
            group.join(name)
    group.describe()
    group.pause(1.8)
    group.settle()
    group.join("E")
    group.assign("A", "B", "C")
    group.join(group.leader)
    for name in "ABC":
        if name != group.leader:
            group.join(name)
    group.leave("E")
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-pending-static", "A pending id that joins as a static member is a fault of the broker"
)
def _(group: Classic) -> None:
    group.join("A")
    group.join("A", instance="i")
    group.describe()


@exchange(ABOUT, "classic-max-size", "A full group refuses new members, and forgets the id that it refuses")
def _(group: Classic) -> None:
    group.form("A", "B", "C", "D", "E")
    group.join("F")
    group.join("F", member_id="nobody")
    group.join("A", protocols={"range": b"\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"})
    group.join("F")
    for name in "BCDE":
        group.join(name)
    group.describe()
    group.leave("F")
    group.settle()
    group.describe()
    group.join("F")
    group.beat("A")


@exchange(
    ABOUT,
    "classic-max-size-pending",
    "While members join again those count that have joined, so that the last one is put out",
)
def _(group: Classic) -> None:
    group.form("A", "B", "C", "D")
    group.join("E")
    group.join("F")
    group.join("A", protocols={"range": b"\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"})
    group.join("E")
    group.join("F")
    group.join("B")
    group.join("C")
    group.join("D")
    group.pause(0.5)
    group.describe()
    group.beat("D")


@exchange(
    ABOUT,
    "classic-join-reason-and-types",
    "Groups of another protocol type, as Kafka Connect's, with bytes of their own",
)
def _(group: Classic) -> None:
    for name in "AB":
        group.enter(name, protocols={"eager": b"any", "sessioned": b"bytes"}, protocol_type="connect")
    group.settle()
    group.sync(
        group.leader,
        raw={group.ids["A"]: b"for A", group.ids["B"]: b"for B"},
        protocol_type="connect",
        protocol="eager",
    )
    for name in "AB":
        group.sync(name, protocol_type="connect", protocol="eager")
    group.describe()
    group.lists()
    group.delete_offsets("foo", [0])


@exchange(
    ABOUT, "classic-unreadable", "Bytes that are no subscription: the topics of the group are not known"
)
def _(group: Classic) -> None:
    group.enter("A", protocols={"range": b"\x00"})
    group.settle()
    group.sync("A", raw={group.ids["A"]: b"x"})
    group.describe()
    group.commit("A", {0: 1})
    group.delete_offsets("foo", [0])
    group.leave("A")
    group.delete_offsets("foo", [0])
