"""A new coordinator: it loads the log, restarts timers, and goes on."""

from __future__ import annotations

from ..acting import Group
from .table import after_restart, exchange

ABOUT = "a new coordinator"


@exchange(ABOUT, "restart-stable", "A stable group goes on where it was; nothing is written for a load")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.configure(assignment_interval_ms=0, session_timeout_ms=60_000)
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.commit("A", None, "foo", {next(iter(group.owned["A"].values()))[0]: 5})


@after_restart("restart-stable")
def _(group: Group) -> None:
    group.beat("A")
    group.describe()
    group.fetch("A", group.epochs["A"], None)
    group.join("C", ["foo"])
    group.settle("A", "B", "C")
    group.leave("B")
    group.settle("A", "C")


@exchange(
    ABOUT,
    "restart-grown",
    "A topic that grew while nobody beat: the first heartbeat after the load finds out",
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.configure(session_timeout_ms=60_000)
    group.join("A", ["foo"])
    group.pause(2.0)
    group.beat("A")
    group.grow("foo", 4)


@after_restart("restart-grown")
def _(group: Group) -> None:
    group.beat("A")
    group.settle("A")


@exchange(
    ABOUT,
    "restart-expired",
    "Sessions begin anew with the load, also that of a static member that left for now",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.configure(assignment_interval_ms=0)
    group.join("A", ["foo"], instanceId="i")
    group.join("B", ["foo"])
    group.settle_static("A", "i", "B", None)
    group.configure(session_timeout_ms=2_000, heartbeat_interval_ms=300)
    group.beat("A", instanceId="i")
    group.beat("B")
    group.beat("A", -2, instanceId="i")


@after_restart("restart-expired")
def _(group: Group) -> None:
    group.pause(3.5)
    group.describe()


@exchange(
    ABOUT, "restart-revoking", "The rebalance timer of a member that was to give something up begins anew"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.configure(assignment_interval_ms=0, session_timeout_ms=60_000)
    group.join("A", ["foo"], rebalanceTimeoutMs=3_000)
    group.join("B", ["foo"])
    group.beat("A")


@after_restart("restart-revoking")
def _(group: Group) -> None:
    group.beat("B")
    group.pause(4.5)
    group.describe()
    group.settle("B")


@exchange(
    ABOUT, "restart-regex", "An expression is resolved again after a load, since the image is another one"
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.configure(assignment_interval_ms=0, session_timeout_ms=60_000)
    group.join("A", None, subscribedTopicRegex="restart-regex[.].*")
    group.pause(1.0)
    group.settle("A")


@after_restart("restart-regex")
def _(group: Group) -> None:
    group.alive(4.0, "A")
    group.join("B", None, subscribedTopicRegex="restart-regex[.]f.*")
    group.pause(1.0)
    group.settle("A", "B")


@exchange(ABOUT, "restart-empty", "An empty group keeps its epochs")
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"])
    group.leave("A")


@after_restart("restart-empty")
def _(group: Group) -> None:
    group.join("B", ["foo"])
    group.settle("B")
    group.leave("B")
    group.delete()
