"""Online migration: a classic group becomes a consumer group and back, and members of both live in one."""

from __future__ import annotations

from typing import Any

from ..acting import Classic
from .table import after_restart, exchange

ABOUT = "migration"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}
COOPERATIVE: dict[str, bytes | None] = {"cooperative-sticky": None}


def rejoin(group: Classic, *names: str, **fields: Any) -> None:
    """Each joins again and asks for its assignment, whatever it is told."""
    for name in names:
        group.join(name, **fields)
        group.sync(name)


@exchange(
    ABOUT,
    "migrate-up-eager",
    "A consumer joins two eager classic members: conversion, and each is moved by its own JoinGroup",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.consume_join("N")
    group.describe_consumers()
    group.describe()
    group.lists()
    group.beat("A")
    group.beat("B")
    group.consume("N")
    rejoin(group, "A", "B")
    group.consume("N")
    group.consume_ack("N")
    group.beat("A")
    group.beat("B")
    group.describe_consumers()


@exchange(
    ABOUT,
    "migrate-up-cooperative",
    "The same with cooperative members: they tell what they own and give up in a second round",
)
def _(group: Classic) -> None:
    group.enter("A", protocols=COOPERATIVE)
    group.settle()
    group.sync("A", {"A": {"foo": [0, 1, 2, 3]}}, protocol="cooperative-sticky")
    group.consume_join("N")
    group.beat("A")
    group.join("A", protocols=COOPERATIVE, owned={"foo": [0, 1, 2, 3]})
    group.sync("A", protocol="cooperative-sticky")
    group.beat("A")
    group.consume("N")
    group.join("A", protocols=COOPERATIVE, owned={"foo": [0, 1]})
    group.sync("A", protocol="cooperative-sticky")
    group.beat("A")
    group.consume("N")
    group.consume_ack("N")
    group.describe_consumers()


@exchange(
    ABOUT,
    "migrate-up-static",
    "A static classic member is replaced by a consumer with its instance: no new epoch",
)
def _(group: Classic) -> None:
    group.enter("A", instance="a")
    group.enter("B", instance="b")
    group.settle()
    group.assign("A", "B")
    group.consume_join("N", instanceId="a")
    group.describe_consumers()
    group.beat("A")
    group.beat("B")
    group.consume_ack("N", instanceId="a")
    group.consume_join("M", instanceId="b")
    group.consume_ack("M", instanceId="b")
    group.describe_consumers()


@exchange(
    ABOUT, "migrate-up-joining", "During a rebalance: whoever waits in the join phase is told to join again"
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.enter("C")
    group.join("A", protocols=OTHER)
    group.consume_join("N")
    group.describe_consumers()
    rejoin(group, "A", "B", "C")
    group.consume("N")
    group.consume_ack("N")


@exchange(
    ABOUT,
    "migrate-up-syncing",
    "Between join and sync: whoever waits for its assignment is told to join again",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.join(group.leader)
    follower = "A" if group.leader == "B" else "B"
    group.join(follower)
    group.settle()
    group.sync("B" if group.leader == "A" else "A")
    group.consume_join("N")
    group.describe_consumers()
    group.beat("A")
    group.sync("A")
    group.beat("B")
    group.sync("B")
    rejoin(group, "A", "B")


@exchange(
    ABOUT,
    "migrate-up-first-phase",
    "In the first join phase: an unknown server error, but the members are told to join again",
)
def _(group: Classic) -> None:
    group.enter("A")
    group.enter("B")
    group.consume_join("N")
    group.join("A")
    group.join("B")
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "migrate-up-other-protocol",
    "While a member joins with others than the last generation's protocol: an unknown server error",
)
def _(group: Classic) -> None:
    group.form("A", "B", protocols=dict.fromkeys(("range", "sticky")))
    group.join("A", protocols={"sticky": None})
    group.consume_join("N")
    group.describe()
    group.beat("A")
    group.beat("B")


@exchange(
    ABOUT,
    "migrate-up-refused",
    "Another protocol type, a custom assignor's data, bytes that cannot be read: not a consumer group",
)
def _(group: Classic) -> None:
    group.enter("A", protocols={"eager": b"any"}, protocol_type="connect")
    group.settle()
    group.sync("A", raw={group.ids["A"]: b"x"}, protocol_type="connect", protocol="eager")
    group.consume_join("N")
    group.leave("A")
    group.ids.clear()
    group.enter("B")
    group.settle()
    data = Classic.assignment({"foo": [0]}, user_data="AAEC")
    group.sync("B", raw={group.ids["B"]: data})
    group.consume_join("N")
    group.leave("B")
    group.ids.clear()
    group.enter("C")
    group.settle()
    group.sync("C", raw={group.ids["C"]: b"x"})
    group.consume_join("N")
    group.consume("N", 3)
    group.consume("N", -1)
    group.describe()


@exchange(
    ABOUT,
    "migrate-up-data-allowed",
    "Empty user data, an empty assignment and topics that are gone do not hinder it",
)
def _(group: Classic) -> None:
    group.enter("A", topics=("foo", "nope"))
    group.enter("B")
    group.settle()
    one = Classic.assignment({"nope": [0], "foo": [3, 1]}, version=1)
    group.sync(group.leader, raw={group.ids["A"]: one})
    group.sync("A")
    group.sync("B")
    group.consume_join("N")
    group.describe_consumers()
    rejoin(group, "A", "B")


@exchange(
    ABOUT,
    "migrate-up-too-large",
    "A group that is full of classic members is converted and then refuses the joiner",
)
def _(group: Classic) -> None:
    group.form("A", "B", "C", "D", "E")
    group.consume_join("N")
    group.describe()
    group.beat("A")


@exchange(ABOUT, "migrate-empty", "Empty groups change their kind without a conversion, in one batch")
def _(group: Classic) -> None:
    group.form("A")
    group.commit("A", {0: 3})
    group.leave("A")
    group.consume_join("N")
    group.consume_ack("N")
    group.consume("N", -1)
    group.describe_consumers()
    group.ids.clear()
    group.form("B")
    group.describe()
    group.fetch()
    group.leave("B")
    group.consume_join("M")


@exchange(ABOUT, "migrate-simple", "A group of offsets alone becomes a consumer group")
def _(group: Classic) -> None:
    group.commit("x", {0: 1}, generation=-1, member_id="")
    group.consume_join("N")
    group.consume_ack("N")
    group.fetch()


@exchange(ABOUT, "migrate-down-leave", "The last consumer leaves: the group is classic again, and rebalances")
def _(group: Classic) -> None:
    group.form("A", "B")
    group.consume_join("N")
    rejoin(group, "A", "B")
    group.consume("N")
    group.consume_ack("N")
    group.beat("A")
    group.beat("B")
    group.consume("N", -1)
    group.describe()
    group.lists()
    group.beat("A")
    group.beat("B")
    group.join("A")
    group.join("B")
    group.settle()
    group.assign("A", "B")
    group.describe()


@exchange(
    ABOUT,
    "migrate-down-behind",
    "A classic member that has not followed hears ILLEGAL_GENERATION after a downgrade",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.consume_join("N")
    rejoin(group, "A")
    group.consume("N", -1)
    group.describe()
    group.beat("A")
    group.beat("B")
    group.sync("B")
    group.join("B")
    group.join("A")
    group.settle()
    group.describe()


@exchange(
    ABOUT, "migrate-down-removed", "The last consumer is removed by its instance: a downgrade like any other"
)
def _(group: Classic) -> None:
    group.form("A")
    group.consume_join("N", instanceId="n")
    rejoin(group, "A")
    group.consume("N", instanceId="n")
    group.consume_ack("N", instanceId="n")
    group.leave_entries(("", "n"))
    group.describe()
    group.consume("N", instanceId="n")
    group.beat("A")


@exchange(
    ABOUT, "migrate-down-static", "A classic member takes the instance of the last consumer: no rebalance"
)
def _(group: Classic) -> None:
    group.form("A")
    group.consume_join("N", instanceId="n")
    rejoin(group, "A")
    group.consume("N", instanceId="n")
    group.consume_ack("N", instanceId="n")
    group.beat("A")
    group.join("A")
    group.sync("A")
    group.consume("N", -2, instanceId="n")
    group.join("S", instance="n")
    group.describe()
    group.sync("S")
    group.beat("S")
    group.beat("A")
    group.sync("A")
    group.describe()


@exchange(
    ABOUT,
    "migrate-down-static-stale",
    "The same with another subscription: a rebalance, for the target is not of this epoch",
)
def _(group: Classic) -> None:
    group.form("A")
    group.consume_join("N", instanceId="n")
    rejoin(group, "A")
    group.consume_ack("N", instanceId="n")
    group.join("S", instance="n", topics=("foo", "bar"))
    group.describe()
    group.sync("S")
    group.beat("S")
    group.beat("A")
    group.join("S", instance="n", topics=("foo", "bar"))
    group.join("A")
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "migrate-down-alone",
    "A classic member takes the instance of the only consumer, and is alone in a classic group",
)
def _(group: Classic) -> None:
    group.consume_join("N", instanceId="n")
    group.consume_ack("N", instanceId="n")
    group.join("S", instance="n")
    group.describe()
    group.sync("S")
    group.beat("S")


@exchange(ABOUT, "migrate-down-several", "LeaveGroup of the last consumer and a classic member at once")
def _(group: Classic) -> None:
    group.form("A", "B")
    group.consume_join("N")
    group.leave("A", "N")
    group.describe()
    group.beat("B")
    group.join("B")
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "mixed-join",
    "Classic members join a consumer group: an id is required, nothing is remembered of it, versions of old too",
)
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume_ack("N")
    group.join("A")
    group.join("A")
    group.sync("A")
    group.consume("N")
    group.consume_ack("N")
    group.beat("A")
    group.join("A")
    group.sync("A")
    group.beat("A")
    group.join("B", member_id="any-id-will-do")
    group.join("C", version=3)
    group.sync("C", version=3)
    group.describe_consumers()


@exchange(ABOUT, "mixed-refused", "What a classic member in a consumer group is refused, request by request")
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume_ack("N")
    group.enter("A", protocols=dict.fromkeys(("range", "sticky")))
    group.join("B", protocols={"roundrobin": None})
    group.join("B", protocols={})
    group.join("B", protocol_type="connect")
    group.join("B", session_ms=10)
    group.join("B", protocols={"range": b"\x00"}, member_id="b")
    group.sync("A", generation=77)
    group.sync("A", protocol="sticky")
    group.sync("A", protocol_type="connect")
    group.sync("A", member_id="nobody")
    group.sync("A", member_id="N", generation=1)
    group.sync("A", instance="nobody")
    group.beat("A", generation=77)
    group.beat("A", member_id="nobody")
    group.beat("A", member_id="N", generation=2)
    group.beat("A", instance="nobody")
    group.leave_entries(("nobody", None), ("", None), ("", "nobody"), (group.ids["A"], "nobody"))
    group.sync("A")
    group.beat("A")


@exchange(ABOUT, "mixed-full", "A consumer group that is full refuses classic members")
def _(group: Classic) -> None:
    for name in ("N1", "N2", "N3", "N4"):
        group.consume_join(name)
    group.enter("A")
    group.join("B")
    group.join("A")


@exchange(
    ABOUT, "mixed-static", "Static classic members in a consumer group: joining, coming back, being fenced"
)
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume_ack("N")
    group.join("A", instance="a")
    group.sync("A")
    group.consume("N")
    group.consume_ack("N")
    group.beat("A")
    group.join("A")
    group.sync("A")
    old = group.ids["A"]
    group.join("A", member_id="")
    group.sync("A")
    group.beat("A")
    group.beat("A", member_id=old)
    group.join("A", member_id=old)
    group.join("B", member_id="b", instance="nobody")
    group.describe_consumers()
    group.leave_entries(("", "a"))
    group.consume("N")
    group.describe_consumers()


@exchange(
    ABOUT,
    "mixed-leave",
    "Members of both protocols leave with LeaveGroup (several at once go in an order that no broker repeats)",
)
def _(group: Classic) -> None:
    for name in ("N", "M"):
        group.consume_join(name)
    group.enter("A")
    group.enter("B")
    group.leave("A", "nobody")
    group.leave("N", version=3)
    group.consume("M")
    group.beat("B")
    group.leave("B", version=2)
    group.consume("M")
    group.describe_consumers()


@exchange(
    ABOUT,
    "mixed-timers",
    "A classic member that does not join again, or not ask for its assignment, is removed",
)
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume_ack("N")
    group.enter("A", rebalance_ms=1_500)
    group.pause(2.0)
    group.describe_consumers()
    group.beat("A")
    group.enter("A", rebalance_ms=1_500)
    group.sync("A")
    group.consume_join("M")
    group.beat("A")
    group.pause(0.7)
    group.beat("A")
    group.pause(1.4)
    group.beat("A")
    group.describe_consumers()


@exchange(ABOUT, "mixed-session", "The session of a classic member is its own, kept by each of its requests")
def _(group: Classic) -> None:
    group.consume_join("N")
    group.enter("A", session_ms=1_500)
    group.sync("A")
    for _ in range(3):
        group.pause(1.0)
        group.beat("A")
    group.pause(2.0)
    group.describe_consumers()
    group.beat("A")


@exchange(
    ABOUT,
    "mixed-commits",
    "A classic member commits by its generation, an older one for what it has had since then",
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.commit("A", {0: 1})
    group.consume_join("N")
    group.commit("A", {0: 2, 2: 2})
    rejoin(group, "A")
    group.commit("A", {0: 3}, generation=1)
    group.commit("A", {0: 3})
    group.commit("A", {0: 3}, generation=99)
    group.commit("A", {0: 3}, generation=-1)
    group.commit("A", {0: 3}, member_id="nobody")
    group.commit("A", {0: 4}, version=6)
    group.fetch("A", group.generations["A"])
    group.fetch("A", 1)
    group.fetch()


@exchange(ABOUT, "mixed-subscription", "A classic member changes its subscription in a consumer group")
def _(group: Classic) -> None:
    group.consume_join("N", topics=("foo", "bar"))
    group.consume_ack("N")
    group.enter("A")
    group.consume("N")
    group.consume_ack("N")
    group.join("A", topics=("bar", "foo"))
    group.sync("A")
    group.consume("N")
    group.consume_ack("N")
    group.beat("A")
    group.join("A", topics=("bar",))
    group.sync("A")
    group.describe_consumers()


@exchange(
    ABOUT,
    "migrate-restart-up",
    "A converted group at a new coordinator: all that each classic member lists is in its record",
)
def _(group: Classic) -> None:
    group.form("A", "B", protocols=dict.fromkeys(("range", "sticky")))
    group.consume_join("N")
    group.join("A", protocols=dict.fromkeys(("sticky", "range")))


@after_restart("migrate-restart-up")
def _(group: Classic) -> None:
    group.describe_consumers()
    group.beat("A")
    group.beat("B")
    group.consume("N")
    group.join("B", protocols=dict.fromkeys(("sticky", "range")))
    group.sync("B", protocol="sticky")
    group.consume("N", -1)
    group.describe()


@exchange(ABOUT, "migrate-restart-before", "A classic group is loaded and converted then")
def _(group: Classic) -> None:
    group.form("A", "B", protocols=dict.fromkeys(("range", "sticky")))


@after_restart("migrate-restart-before")
def _(group: Classic) -> None:
    group.consume_join("N")
    group.describe_consumers()
    group.join("A", protocols=dict.fromkeys(("range", "sticky")))
    group.settle()
    group.sync("A")
    group.settle()


@exchange(
    ABOUT,
    "migrate-empty-by-id",
    "JoinGroup with a member id for an empty consumer group: refused, and the group is forgotten without a record",
)
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume("N", -1)
    group.join("A", member_id="a")
    group.describe_consumers()
    group.beat("A", generation=1, member_id="a")
    group.consume_join("M")
    group.describe_consumers()
    group.lists()
    group.consume("M", -1)
    group.join("A", member_id="a")
    group.form("A")
    group.describe()


@exchange(ABOUT, "mixed-empty", "SyncGroup, Heartbeat and LeaveGroup for a consumer group without members")
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume("N", -1)
    group.sync("A", generation=1, member_id="a")
    group.beat("A", generation=1, member_id="a")
    group.leave_entries(("a", None))


@exchange(
    ABOUT,
    "migrate-up-session",
    "Sessions of classic members begin anew with the conversion, each its own length",
)
def _(group: Classic) -> None:
    group.enter("A", session_ms=3_000)
    group.enter("B", session_ms=30_000)
    group.settle()
    group.assign("A", "B")
    group.pause(1.5)
    group.consume_join("N")
    group.pause(2.2)
    group.describe_consumers()
    group.pause(1.6)
    group.describe_consumers()
    group.beat("A")
    group.beat("B")


@exchange(
    ABOUT,
    "mixed-late-target",
    "A classic member hears of a new epoch only when somebody has computed its target; older generations are refused",
)
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume_ack("N")
    group.consume_join("M")
    group.enter("A")
    group.consume("N")
    group.consume_ack("N")
    group.beat("A")
    group.join("A")
    group.sync("A")
    group.consume("M", -1)
    group.beat("A")
    group.sync("A")
    group.beat("A", generation=1)
    group.sync("A", generation=1)
    group.consume("N")
    group.beat("A")
    group.sync("A")


def _all_ways(group: Classic) -> None:
    """A classic group is joined by a consumer, a consumer group by a classic member, and the consumer leaves it."""
    group.form("A")
    group.consume_join("N")
    group.beat("A")
    group.leave("A")
    group.consume_join("N")
    group.consume_ack("N")
    group.ids.clear()
    group.join("B")
    group.join("B")
    group.sync("B")
    group.consume("N", -1)
    group.describe()
    group.describe_consumers()
    group.beat("B")
    group.consume_join("M")
    group.lists()


for _policy in ("disabled", "upgrade", "downgrade"):
    exchange(
        ABOUT,
        f"policy-{_policy}",
        f"A consumer in a classic group, a classic member in a consumer group, the last consumer leaves: policy {_policy}",
        policy=_policy,
    )(_all_ways)


@exchange(
    ABOUT,
    "policy-upgrade-classic-only",
    "Where downgrades are not allowed a consumer group of classic members goes on as one",
    policy="upgrade",
)
def _(group: Classic) -> None:
    group.consume_join("N", instanceId="n")
    group.enter("A")
    group.sync("A")
    group.consume("N", -1, instanceId="n")
    group.beat("A")
    group.enter("B")
    group.sync("B")
    group.beat("A")
    group.join("A")
    group.sync("A")
    group.describe_consumers()
    group.leave("A")
    group.beat("B")
    group.leave("B")
    group.lists()
