"""Commits, fetches, and offsets that are deleted."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "offsets"

OFFSET_METADATA_TOO_LARGE, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID = 12, 3, 100
UNKNOWN_MEMBER_ID, STALE_MEMBER_EPOCH, UNSUPPORTED_VERSION, GROUP_ID_NOT_FOUND = 25, 113, 35, 69
GROUP_SUBSCRIBED_TO_TOPIC, ILLEGAL_GENERATION = 86, 22
NOBODYS_ID = "AAAAAAAAAAAAAAAAAAAAQQ"


@exchange(ABOUT, "committed", "Commits by topic id and by name, fetched one by one and all at once")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.join("A", ["foo"])
    group.commit("A", None, "foo", {2: 7, 0: 5})
    group.commit("A", None, "foo", {1: 9}, version=9, metadata="m")
    group.commit("A", None, "foo", {0: 6}, metadata=None)
    epoch = group.epochs["A"]
    group.fetch("A", epoch, {"foo": [0, 1, 2, 3]})
    group.fetch("A", epoch, {"foo": [3, 0]}, version=9)
    group.fetch("A", epoch, None)
    group.fetch(None, -1, {"foo": [1]}, stable=True)
    group.fetch(None, -1, {"foo": [1, 2]}, version=8)


@exchange(
    ABOUT, "commit-stale", "Epochs of commits: the member's own, a greater one, one before its partition's"
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    epoch = group.epochs["A"]
    (kept,) = list(group.owned["A"].values())
    gone = next(n for n in range(4) if n not in kept)
    group.commit("A", epoch, "foo", {kept[0]: 1})
    group.commit("A", epoch - 1, "foo", {kept[0]: 2})
    group.commit("A", epoch - 1, "foo", {kept[0]: 3, gone: 3}, codes=[STALE_MEMBER_EPOCH] * 2)
    group.commit("A", epoch + 1, "foo", {kept[0]: 4}, codes=[STALE_MEMBER_EPOCH])
    group.commit("A", 1, "foo", {kept[0]: 5}, codes=[STALE_MEMBER_EPOCH])
    group.commit("A", epoch, "foo", {gone: 6})
    theirs = next(iter(group.owned["B"].values()))
    group.commit("B", group.epochs["B"] - 1, "foo", {theirs[0]: 7}, codes=[STALE_MEMBER_EPOCH])


@exchange(
    ABOUT,
    "commit-while-revoking",
    "A member commits what it is to give up, at its own epoch and an older one",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.beat("A")
    group.commit("A", None, "foo", {0: 1, 1: 1, 2: 1, 3: 1})
    group.ack("A")
    kept = next(iter(group.owned["A"].values()))
    gone = next(n for n in range(4) if n not in kept)
    group.commit("A", group.epochs["A"] - 1, "foo", {gone: 2}, codes=[STALE_MEMBER_EPOCH])
    group.settle("A", "B")


@exchange(
    ABOUT,
    "commit-of-nobody",
    "Who may not commit: no member, an old version, no group; and a tool, once the group is empty",
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.commit("A", 3, "foo", {0: 1}, codes=[GROUP_ID_NOT_FOUND])
    group.commit("A", 3, "foo", {0: 1}, codes=[ILLEGAL_GENERATION], version=8)
    group.join("A", ["foo"])
    group.commit("B", 2, "foo", {0: 1}, codes=[UNKNOWN_MEMBER_ID])
    group.commit("", -1, "foo", {0: 1}, codes=[UNKNOWN_MEMBER_ID])
    group.commit("A", None, "foo", {0: 1}, codes=[UNSUPPORTED_VERSION], version=8)
    group.leave("A")
    group.commit("", -1, "foo", {0: 2})
    group.commit("A", 2, "foo", {0: 2}, codes=[UNKNOWN_MEMBER_ID])


@exchange(
    ABOUT,
    "commit-parts",
    "Within one commit: metadata that is too long, partitions and topics that are not there",
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.join("A", ["foo"])
    long = "x" * 4097
    group.commit("A", None, "foo", {0: 1, 1: 2}, metadata=long, codes=[OFFSET_METADATA_TOO_LARGE] * 2)
    group.commit("A", None, "foo", {0: 1}, metadata=long[1:])
    group.commit("A", None, "foo", {7: 1}, codes=[UNKNOWN_TOPIC_OR_PARTITION])
    group.commit("A", None, "foo", {0: 3, 7: 1, 1: 4}, codes=[UNKNOWN_TOPIC_OR_PARTITION, 0, 0])
    group.commit("A", None, "foo", {0: 1}, codes=[UNKNOWN_TOPIC_ID], topic_id=NOBODYS_ID)
    group.commit("A", None, "none", {0: 1}, codes=[UNKNOWN_TOPIC_OR_PARTITION], version=9)


@exchange(
    ABOUT, "fetch-refused", "Fetches of who is no member, and of another epoch; topics that are not there"
)
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.fetch("A", 2, {"foo": [0]})
    group.join("A", ["foo"])
    epoch = group.epochs["A"]
    group.fetch("B", epoch, {"foo": [0]}, error=UNKNOWN_MEMBER_ID)
    group.fetch("A", epoch - 1, {"foo": [0]}, error=STALE_MEMBER_EPOCH)
    group.fetch("A", epoch + 1, None, error=STALE_MEMBER_EPOCH)
    group.fetch("", epoch, {"foo": [0]}, error=UNKNOWN_MEMBER_ID)
    group.fetch("A", epoch, {"foo": [0]}, topic_id=NOBODYS_ID)
    group.fetch("A", epoch, {"none": [0, 1]}, version=9)


@exchange(ABOUT, "offsets-deleted", "Offsets of a topic that is subscribed to stay; others go")
def _(group: Group) -> None:
    group.topic("foo", 2)
    group.topic("bar", 2)
    group.delete_offsets("bar", [0], error=GROUP_ID_NOT_FOUND)
    group.join("A", ["foo"])
    group.commit("A", None, "foo", {0: 1})
    group.commit("A", None, "bar", {0: 1, 1: 2})
    group.delete_offsets("foo", [0, 1])
    group.delete_offsets("bar", [1, 0])
    group.delete_offsets("bar", [1, 8])
    group.fetch("A", group.epochs["A"], None)
    group.leave("A")
    group.delete_offsets("foo", [0])


@exchange(
    ABOUT,
    "committed-again",
    "Partitions that are committed again stand in another order where all are told or deleted",
)
def _(group: Group) -> None:
    group.topic("foo", 12)
    group.topic("bar", 12)
    group.join("A", ["foo"])
    epoch = group.epochs["A"]
    group.commit("A", None, "foo", {0: 1, 4: 1})
    group.commit("A", None, "bar", {2: 1, 7: 1, 9: 1, 5: 1, 10: 1})
    group.fetch("A", epoch, None)
    group.commit("A", None, "foo", {4: 2})
    group.commit("A", None, "bar", {9: 2})
    group.fetch("A", epoch, None)
    group.leave("A")
    group.delete_offsets("foo", [4])
    group.commit("", -1, "foo", {4: 3, 0: 3})
    group.fetch(None, -1, None)
    group.delete()
