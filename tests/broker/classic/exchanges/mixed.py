"""Members of both protocols in one consumer group."""

from __future__ import annotations

from ..acting import Classic
from .migrating import rejoin
from .table import exchange

ABOUT = "migration: members of both protocols"


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


@exchange(
    ABOUT,
    "mixed-subscribes-to-nothing",
    "A classic member that subscribes to nothing joins a consumer group without a new epoch",
)
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume_ack("N")
    group.enter("A", topics=())
    group.sync("A")
    group.describe_consumers()
    group.consume("N")
    group.beat("A")
    group.join("A")
    group.sync("A")
    group.describe_consumers()


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


@exchange(ABOUT, "mixed-empty", "SyncGroup, Heartbeat and LeaveGroup for a consumer group without members")
def _(group: Classic) -> None:
    group.consume_join("N")
    group.consume("N", -1)
    group.sync("A", generation=1, member_id="a")
    group.beat("A", generation=1, member_id="a")
    group.leave_entries(("a", None))


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
