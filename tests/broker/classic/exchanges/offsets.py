"""Offsets of classic groups: who may commit, fetch and delete them."""

from __future__ import annotations

from ..acting import Classic
from .table import exchange

ABOUT = "classic: offsets"
OTHER = {"range": b"\x00\x01\x00\x00\x00\x01\x00\x03foo\xff\xff\xff\xff\x00\x00\x00\x00"}


@exchange(ABOUT, "classic-commit-phases", "A member commits in each state: not between join and sync")
def _(group: Classic) -> None:
    group.enter("A")
    group.commit("A", {0: 1}, generation=0)
    group.settle()
    group.commit("A", {0: 2})
    group.sync("A", {"A": {"foo": [0, 1]}})
    group.commit("A", {0: 3, 1: 4})
    group.enter("B")
    group.beat("A")
    group.commit("A", {0: 5})
    group.join("A")
    group.settle()
    group.commit("A", {0: 6})
    group.commit("A", {0: 6}, generation=1)
    group.assign("A", "B")
    group.commit("A", {0: 7}, generation=1)
    group.commit("A", {0: 7}, version=10)
    group.commit("B", {1: 8}, version=2)
    group.fetch()


@exchange(ABOUT, "classic-commit-refused", "Unknown members, wrong generations, and who is no member at all")
def _(group: Classic) -> None:
    group.form("A")
    group.commit("A", {0: 1}, member_id="nobody")
    group.commit("A", {0: 1}, member_id="")
    group.commit("x", {0: 1}, generation=-1, member_id="")
    group.commit("x", {0: 1}, generation=-1, member_id="nobody")
    group.commit("A", {0: 1}, generation=0)
    group.commit("A", {0: 1}, generation=2)
    group.commit("A", {0: 1}, generation=-1)
    group.commit("A", {0: 1}, topic="nope")
    group.commit("A", {0: 1}, topic="nope", version=10)
    group.commit("A", {99: 1, 0: 1})
    group.commit("A", {0: 1, 1: 2}, metadata="m" * 4097)
    group.commit("A", {0: 1, 1: 2}, metadata="m" * 4096)
    group.fetch()


@exchange(
    ABOUT,
    "classic-commit-without-group",
    "Who is no member commits: a group of offsets alone, that others can join and delete",
)
def _(group: Classic) -> None:
    group.commit("x", {0: 1}, generation=3, member_id="nobody")
    group.commit("x", {0: 1}, generation=3, member_id="nobody", version=8)
    group.commit("x", {0: 1}, generation=-1, member_id="")
    group.describe()
    group.lists()
    group.commit("x", {1: 2}, generation=-1, member_id="somebody")
    group.commit("x", {1: 2}, generation=0, member_id="")
    group.form("A")
    group.fetch()
    group.commit("x", {0: 1}, generation=-1, member_id="")
    group.leave("A")
    group.commit("x", {0: 9}, generation=-1, member_id="")
    group.delete_offsets("foo", [0])
    group.delete()


@exchange(
    ABOUT,
    "classic-commit-keeps-alive",
    "Commits keep a session alive while the group is stable or joins again",
)
def _(group: Classic) -> None:
    group.form("A", "B", session_ms=2_000)
    for offset in range(4):
        group.pause(0.9)
        group.commit("A", {0: offset})
        group.beat("B")
    group.describe()
    group.join("B", protocols=OTHER, session_ms=2_000)
    for offset in range(4):
        group.pause(0.9)
        group.commit("A", {0: offset})
    group.describe()


@exchange(
    ABOUT,
    "classic-delete-offsets",
    "Offsets of a topic that is subscribed to are not deleted, until the group is empty",
)
def _(group: Classic) -> None:
    group.form("A")
    group.commit("A", {0: 1, 1: 2})
    group.commit("A", {0: 1}, topic="bar")
    group.delete_offsets("foo", [0])
    group.delete_offsets("bar", [0, 5])
    group.delete_offsets("nope", [0])
    group.fetch()
    group.leave("A")
    group.delete_offsets("foo", [0])
    group.fetch()
    group.delete()
    group.fetch()


@exchange(ABOUT, "classic-fetch", "Anybody fetches the offsets, whatever member and generation it tells")
def _(group: Classic) -> None:
    group.form("A")
    group.commit("A", {0: 1, 1: 2, 5: 9})
    group.fetch()
    group.fetch("A", 1)
    group.fetch("A", 77)
    group.fetch("nobody", 1)
