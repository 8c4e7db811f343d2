"""Online migration: a classic group becomes a consumer group, and back."""

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
