"""A new coordinator of a classic group: what the log gives it, and what is lost."""

from __future__ import annotations

from ..acting import Classic
from .table import after_restart, exchange

ABOUT = "classic: a new coordinator"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}


@exchange(
    ABOUT,
    "classic-restart-stable",
    "A stable group goes on in its generation; only the chosen protocol is known",
)
def _(group: Classic) -> None:
    group.form("A", "B", protocols=dict.fromkeys(("range", "sticky")))
    group.commit("A", {0: 5})


@after_restart("classic-restart-stable")
def _(group: Classic) -> None:
    group.describe()
    group.beat("A")
    group.beat("B")
    group.sync("A")
    group.fetch()
    group.commit("B", {1: 5})
    group.join("C", protocols={"sticky": None})
    group.enter("C", protocols=dict.fromkeys(("range", "sticky")))
    group.join("A", protocols=dict.fromkeys(("sticky", "range")))
    group.join("B", protocols=dict.fromkeys(("sticky", "range")))
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-restart-joining", "Joining and pending members are lost, the last generation stands again"
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.join("D")
    group.enter("C")
    group.join("A", protocols=OTHER)


@after_restart("classic-restart-joining")
def _(group: Classic) -> None:
    group.describe()
    group.beat("A")
    group.join("C")
    group.join("D")
    group.join("A", protocols=OTHER)
    group.join("B")
    group.settle()
    group.describe()


@exchange(
    ABOUT, "classic-restart-completing", "A generation that was not assigned is lost: its members are told so"
)
def _(group: Classic) -> None:
    group.form("A", "B")
    group.enter("C")
    group.join("A")
    group.join("B")
    group.settle()


@after_restart("classic-restart-completing")
def _(group: Classic) -> None:
    group.describe()
    for name in "ABC":
        group.beat(name)
        group.sync(name)
    group.join("A")
    group.describe()


@exchange(ABOUT, "classic-restart-new", "A group of which no generation was ever assigned is empty")
def _(group: Classic) -> None:
    group.enter("A")
    group.settle()


@after_restart("classic-restart-new")
def _(group: Classic) -> None:
    group.describe()
    group.lists()
    group.join("A")
    group.ids.clear()
    group.form("A")
    group.describe()


@exchange(ABOUT, "classic-restart-static", "A static member comes back to the new coordinator")
def _(group: Classic) -> None:
    group.enter("A", instance="a")
    group.enter("B", instance="b")
    group.settle()
    group.assign("A", "B")


@after_restart("classic-restart-static")
def _(group: Classic) -> None:
    old = group.ids["A"]
    group.join("A", member_id="")
    group.sync("A")
    group.beat("A", member_id=old)
    group.beat("B")
    group.describe()


@exchange(ABOUT, "classic-restart-expires", "Sessions begin anew with the load")
def _(group: Classic) -> None:
    group.form("A", "B", session_ms=20_000)


@after_restart("classic-restart-expires")
def _(group: Classic) -> None:
    group.beat("A")
    group.pause(10.0)
    group.beat("A")
    group.pause(12.0)
    group.describe()
    group.beat("A")
    group.beat("B")


@exchange(
    ABOUT,
    "classic-restart-empty",
    "An empty group keeps its generation and its offsets, a simple one its offsets",
)
def _(group: Classic) -> None:
    group.form("A")
    group.commit("A", {0: 5})
    group.leave("A")


@after_restart("classic-restart-empty")
def _(group: Classic) -> None:
    group.describe()
    group.lists()
    group.ids.clear()
    group.form("B")
    group.fetch()
    group.leave("B")
    group.delete()


@exchange(ABOUT, "classic-restart-simple", "A group of offsets alone is one again")
def _(group: Classic) -> None:
    group.commit("x", {0: 5}, generation=-1, member_id="")


@after_restart("classic-restart-simple")
def _(group: Classic) -> None:
    group.describe()
    group.lists()
    group.commit("x", {0: 6}, generation=-1, member_id="")
    group.form("A")
    group.describe()
