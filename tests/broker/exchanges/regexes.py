"""Regular expressions, which the coordinator resolves."""

from __future__ import annotations

from ..acting import Group
from .table import exchange

ABOUT = "regular expressions"

INVALID_REGULAR_EXPRESSION = 128

RESOLVED_S = 1.0
"""A resolution takes some 15 ms."""

AGAIN_S = 10.2
"""No group's expressions are resolved again before 10 s have passed."""


def _regex(group: Group, tail: str) -> str:
    return group.name.replace(".", "[.]") + tail


@exchange(
    ABOUT,
    "regex",
    "A member with an expression alone: 5 and 8 first, then 16 and 3 from the background, then its target",
)
def _(group: Group) -> None:
    group.topic("foo-a", 2)
    group.topic("foo-b", 3)
    group.topic("bar", 1)
    group.at_once()
    group.join("A", None, subscribedTopicRegex=_regex(group, "[.]foo.*"))
    group.pause(RESOLVED_S)
    group.describe()
    group.beat("A")
    group.settle("A")
    group.leave("A")


@exchange(ABOUT, "regex-invalid", "Expressions that RE2 does not know, in the words of RE2J")
def _(group: Group) -> None:
    for bad in (
        "foo(",
        "foo)",
        "[a",
        "a**",
        "*a",
        "a{2,1}",
        "(?<n>a)\\1",
        "(?=a)",
        "\\",
        "a\\",
        "[b-a]",
        "\\8",
        "(?P<n",
        "x{1001}",
    ):
        group.join("A", None, subscribedTopicRegex=bad, error=INVALID_REGULAR_EXPRESSION)
    group.topic("foo", 1)
    group.join("A", ["foo"])
    group.beat("A", subscribedTopicRegex="(", error=INVALID_REGULAR_EXPRESSION)
    group.beat("A")


@exchange(ABOUT, "regex-shared", "Two members with one expression: the second finds it resolved")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    for member in "AB":
        group.join(member, None, subscribedTopicRegex=_regex(group, "[.]f.o"))
        group.pause(RESOLVED_S)
        group.beat(member)
    group.settle("A", "B")
    group.leave("A")
    group.settle("B")
    group.leave("B")


@exchange(
    ABOUT,
    "regex-second",
    "A second expression within 10 s waits, and then all of the group are resolved again",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 3)
    group.at_once()
    group.join("A", None, subscribedTopicRegex=_regex(group, "[.]foo"))
    group.pause(RESOLVED_S)
    group.settle("A")
    group.join("B", None, subscribedTopicRegex=_regex(group, "[.]ba.?"))
    group.pause(RESOLVED_S)
    group.beat("B")
    group.alive(AGAIN_S, "A", "B")
    group.settle("A", "B")
    group.leave("B")
    group.settle("A")


@exchange(
    ABOUT,
    "regex-changed",
    "An expression given up for names and the other way round; the last holder's is removed",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", None, subscribedTopicRegex=_regex(group, "[.]foo"))
    group.pause(RESOLVED_S)
    group.settle("A")
    group.beat("A", subscribedTopicRegex="", subscribedTopicNames=[group.full("bar")])
    group.settle("A")
    group.beat("A", subscribedTopicRegex=_regex(group, "[.].*"), subscribedTopicNames=[])
    group.pause(RESOLVED_S)
    group.beat("A")
    group.settle("A")


@exchange(
    ABOUT,
    "regex-new-topic",
    "A topic that is created later is found by the first heartbeat 10 s after the last resolution",
)
def _(group: Group) -> None:
    group.topic("foo-a", 2)
    group.at_once()
    group.join("A", None, subscribedTopicRegex=_regex(group, "[.]foo.*"))
    group.pause(RESOLVED_S)
    group.settle("A")
    group.topic("foo-b", 2)
    group.alive(AGAIN_S, "A")
    group.settle("A")
    group.remove_topic("foo-a")
    group.settle("A")


@exchange(ABOUT, "regex-and-names", "Names and expressions in one group")
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo"], subscribedTopicRegex=_regex(group, "[.]b.*"))
    group.pause(RESOLVED_S)
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.leave("A")
    group.settle("B")


@exchange(
    ABOUT,
    "regex-matches-nothing",
    "An expression without topics, and one that differs from null only by being empty",
)
def _(group: Group) -> None:
    group.topic("foo", 1)
    group.at_once()
    group.join("A", None, subscribedTopicRegex=_regex(group, "[.]none"))
    group.pause(RESOLVED_S)
    group.beat("A")
    group.join("B", ["foo"])
    group.beat("B", subscribedTopicRegex="")
    group.settle("A", "B")
    group.describe()


@exchange(
    ABOUT,
    "regex-unresolved-joiner",
    "Who joins with an expression that nobody has resolved while a target is due gets topics that it does not subscribe to",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.topic("bar", 2)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.leave("B")
    # The leave computed no target, so this heartbeat does, and it raises no epoch.
    group.join("C", None, subscribedTopicRegex=_regex(group, "[.]ba.?"))
    group.pause(RESOLVED_S)
    group.describe()
    group.settle("A", "C")


@exchange(
    ABOUT,
    "regex-unresolved-nothing",
    "The same with an expression that matches nothing: partitions are nobody's until the next group epoch",
)
def _(group: Group) -> None:
    group.topic("foo", 4)
    group.at_once()
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.leave("B")
    group.join("C", None, subscribedTopicRegex=_regex(group, "[.]none"))
    group.pause(RESOLVED_S)
    group.settle("A", "C")
    group.alive(2, "A", "C")
    group.describe()
    group.join("D", ["foo"])
    group.settle("A", "C", "D")
    group.describe()


@exchange(
    ABOUT,
    "regex-left-behind",
    "After the last member with an expression left, the next target is still that of unlike subscriptions",
)
def _(group: Group) -> None:
    group.topic("foo", 5)
    group.topic("bar", 2)
    group.at_once()
    group.join("B", ["foo", "bar"])
    group.join("C", ["foo", "bar"])
    group.topic("baz", 1)
    group.join("A", ["foo", "bar"], subscribedTopicRegex=_regex(group, "[.]baz"))
    group.pause(RESOLVED_S)
    group.settle("A", "B", "C")
    # A leave looks at no subscription anew: what the group was taken for when it lost A holds for the next target.
    group.leave("A")
    group.settle("B", "C")
    group.join("D", ["foo", "bar"])
    group.settle("B", "C", "D")


@exchange(
    ABOUT,
    "regex-left-for-names",
    "Who gives its expression up for names within the interval: the later target is that of a group looked at before",
)
def _(group: Group) -> None:
    group.topic("foo", 5)
    group.topic("bar", 2)
    group.configure(assignment_interval_ms=4000)
    group.topic("baz", 1)
    group.join("A", ["foo"], subscribedTopicRegex=_regex(group, "[.]baz"))
    group.pause(RESOLVED_S)
    group.beat("A")
    group.join("B", ["foo", "bar"])
    group.beat("A", subscribedTopicRegex="", subscribedTopicNames=[group.full("foo"), group.full("bar")])
    group.alive(4.5, "A", "B")
    group.settle("A", "B")


@exchange(
    ABOUT,
    "regex-switched",
    "From one expression to another that is known, and to one that is still unresolved; offsets of what they match stay",
)
def _(group: Group) -> None:
    group.topic("foo", 3)
    group.topic("bar", 3)
    group.at_once()
    group.join("A", None, subscribedTopicRegex=_regex(group, "[.]foo"))
    group.pause(RESOLVED_S)
    group.settle("A")
    group.alive(AGAIN_S, "A")
    group.join("B", None, subscribedTopicRegex=_regex(group, "[.]bar"))
    group.pause(RESOLVED_S)
    group.settle("A", "B")
    group.commit("A", None, "foo", {0: 1})
    group.delete_offsets("foo", [0])
    group.join("C", None, subscribedTopicRegex=_regex(group, "[.]b.*"))
    group.beat("B", subscribedTopicRegex=_regex(group, "[.]foo"))
    group.beat("A", subscribedTopicRegex=_regex(group, "[.]b.*"))
    group.beat(
        "D", 0, subscribedTopicRegex=_regex(group, "[.]b.*"), rebalanceTimeoutMs=60_000, topicPartitions=[]
    )
    for member in "ABCD":
        group.ack(member)
    group.alive(AGAIN_S, "A", "B", "C", "D")
    group.settle("A", "B", "C", "D")
