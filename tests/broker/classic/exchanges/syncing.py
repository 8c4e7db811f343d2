"""SyncGroup: who waits for whom, what is written, and what a wrong request is told."""

from __future__ import annotations

from ..acting import Classic
from .table import exchange

ABOUT = "classic: assigning"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}


def joined(group: Classic, *names: str, **fields: int) -> list[str]:
    """Everybody has joined; the followers."""
    for name in names:
        group.enter(name, **fields)
    group.settle()
    return [name for name in names if name != group.leader]


@exchange(
    ABOUT,
    "classic-sync-order",
    "Followers wait for the leader, whoever asks first; later ones are answered at once",
)
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C")
    group.sync(one)
    group.describe()
    group.sync(group.leader, {"A": {"foo": [0]}, "B": {"foo": [1]}, "C": {"foo": [2]}})
    group.sync(two)
    group.sync(one)
    group.sync(group.leader, {"A": {"foo": [7]}})
    group.describe()


@exchange(
    ABOUT,
    "classic-sync-left-out",
    "Members that the leader leaves out get nothing; who is no member is not written",
)
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C")
    group.sync(one)
    group.sync(group.leader, {one: {"foo": [0, 1]}}, raw={"nobody": Classic.assignment({"foo": [2]})})
    group.sync(two)
    group.describe()


@exchange(ABOUT, "classic-sync-follower-assigns", "A follower's assignments are ignored")
def _(group: Classic) -> None:
    (one,) = joined(group, "A", "B")
    group.sync(one, {one: {"foo": [0, 1, 2]}})
    group.sync(group.leader, {one: {"foo": [0]}})
    group.describe()


@exchange(
    ABOUT, "classic-sync-refused", "Generation, protocol type and name, member: each wrong one has its error"
)
def _(group: Classic) -> None:
    (one,) = joined(group, "A", "B")
    group.sync(one, generation=0)
    group.sync(one, generation=2)
    group.sync(one, protocol_type="connect")
    group.sync(one, protocol="sticky")
    group.sync(one, member_id="nobody")
    group.sync(one, protocol_type=None, protocol=None)
    group.sync(group.leader, {one: {"foo": [0]}})
    group.sync(one, generation=5)
    group.join(group.leader)
    group.sync(one)
    group.sync(one, generation=0)


@exchange(
    ABOUT, "classic-sync-interrupted", "A rebalance while followers wait for the leader: they are told so"
)
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C")
    group.sync(one)
    group.sync(two)
    group.enter("D")
    group.describe()
    group.sync(group.leader, {one: {"foo": [0]}})
    for name in "ABC":
        group.join(name)
    group.settle()
    group.assign("A", "B", "C", "D")


@exchange(
    ABOUT,
    "classic-sync-twice",
    "A second SyncGroup of a member takes the place of the first, which is never answered",
)
def _(group: Classic) -> None:
    (one,) = joined(group, "A", "B")
    group.sync(one)
    group.sync(one)
    group.sync(group.leader, {one: {"foo": [0]}})
    group.pause(0.3)
    group.describe()


@exchange(
    ABOUT,
    "classic-sync-timeout",
    "Who does not ask for its assignment within the rebalance timeout is removed",
)
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C", rebalance_ms=1_500)
    group.sync(one)
    group.sync(group.leader, {one: {"foo": [0]}})
    group.beat(two)
    group.pause(2.0)
    group.describe()
    group.beat(two)
    group.beat(one)
    group.join(one, rebalance_ms=1_500)
    group.join(group.leader, rebalance_ms=1_500)
    group.settle()
    group.describe()


@exchange(
    ABOUT,
    "classic-sync-leader-silent",
    "A leader that never assigns is removed, the others join again under another one",
)
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C", rebalance_ms=1_500)
    lost = group.leader
    group.sync(one)
    group.sync(two)
    group.beat(lost)
    group.pause(2.0)
    group.describe()
    group.join(one, rebalance_ms=1_500)
    group.join(two, rebalance_ms=1_500)
    group.settle()
    group.assign(one, two)
    group.describe()
    group.beat(lost)


@exchange(ABOUT, "classic-sync-leader-leaves", "The leader leaves while the others wait for it")
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C")
    group.sync(one)
    group.leave(group.leader)
    group.describe()
    group.join(one)
    group.join(two)
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-sync-waiter-leaves", "A member leaves that waits for its assignment: it is not answered"
)
def _(group: Classic) -> None:
    one, two = joined(group, "A", "B", "C")
    group.sync(one)
    group.leave(one)
    group.join(two)
    group.join(group.leader)
    group.pause(0.5)
    group.describe()


@exchange(ABOUT, "classic-sync-empty", "SyncGroup in a group without members")
def _(group: Classic) -> None:
    group.form("A")
    group.leave("A")
    group.sync("A")
    group.beat("A")
    group.join("A")
    group.describe()
