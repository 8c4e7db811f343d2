"""The way back: the last consumer goes, and which ways a broker's migration policy allows."""

from __future__ import annotations

from ..acting import Classic
from .migrating import rejoin
from .table import exchange

ABOUT = "migration: the way back, and policies"


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


@exchange(
    ABOUT,
    "migrate-down-overstated",
    "A downgrade without a rebalance writes targets as what members have: one that has less never hears of the rest",
)
def _(group: Classic) -> None:
    group.consume_join("N", instanceId="n")
    group.consume_ack("N", instanceId="n")
    group.enter("C")
    group.sync("C")
    group.consume("N", instanceId="n")
    group.consume_ack("N", instanceId="n")
    group.join("S", instance="n")
    group.beat("C")
    group.sync("S")
    group.describe()
    group.beat("C")
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
