"""Share and streams groups beside Kafka's own tools of theirs: the classes, and what their tables say.

Their members are heartbeats of ``tests.broker.share_and_streams``, so that a group stays as it is while it is sampled.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.broker import share_and_streams
from tests.broker.node import Node
from tests.clusters.releases.sampling import Sampler, sampling
from tests.clusters.releases.tool import GroupFacts, MemberFacts, number, places, rows, tool_of

SHARE = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
STREAMS = "org.apache.kafka.tools.streams.StreamsGroupCommand"

KINDS = ("ACTIVE", "STANDBY", "WARMUP")
TASKS = re.compile(r"((?:TARGET-)?(?:ACTIVE|STANDBY|WARMUP)): ((?:\S+:\[[\d,]*\]; ?)*)")
SUBTOPOLOGY = re.compile(r"(\S+):\[([\d,]*)\];")


def read_share(members: str, state: str) -> GroupFacts | None:
    """A share group by its two tables; no table has its target."""
    states = rows(state)
    if len(states) != 1:
        return None
    return GroupFacts(
        state=states[0]["STATE"],
        members={
            row["CONSUMER-ID"]: MemberFacts(places(row.get("ASSIGNMENT", "")), number(row["MEMBER-EPOCH"]))
            for row in rows(members)
        },
        group_epoch=number(states[0]["GROUP-EPOCH"]),
        assignment_epoch=number(states[0]["ASSIGNMENT-EPOCH"]),
    )


def read_streams(members: str, state: str) -> GroupFacts | None:
    """A streams group by its two tables; a task is written ``active 0-1``, of subtopology 0 and partition 1."""
    states = rows(state)
    if len(states) != 1:
        return None
    found = {}
    for row in rows(members):
        told = dict(TASKS.findall(row.get("ASSIGNMENTS", "")))
        found[row["MEMBER"]] = MemberFacts(
            partitions=_tasks({kind: told.get(kind, "") for kind in KINDS}),
            epoch=number(row["MEMBER-EPOCH"]),
            target_epoch=number(row["TARGET-ASSIGNMENT-EPOCH"]),
            target=_tasks({kind: told.get(f"TARGET-{kind}", "") for kind in KINDS}),
        )
    return GroupFacts(
        state=states[0]["STATE"],
        members=found,
        group_epoch=number(states[0]["GROUP-EPOCH"]),
        assignment_epoch=number(states[0]["TARGET-ASSIGNMENT-EPOCH"]),
    )


def _tasks(told: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        f"{kind.lower()} {subtopology}-{partition}"
        for kind, text in told.items()
        for subtopology, numbers in SUBTOPOLOGY.findall(text)
        for partition in numbers.split(",")
        if partition
    )


def share_facts(shown: dict[str, Any]) -> GroupFacts:
    """A frame in the words of the share groups' tool."""
    return GroupFacts(
        state=shown["state"],
        members={
            member: MemberFacts(_named(each["assigned"]), each["epoch"])
            for member, each in shown["members"].items()
        },
        group_epoch=shown["group_epoch"],
        assignment_epoch=shown["assignment_epoch"],
    )


def streams_facts(shown: dict[str, Any]) -> GroupFacts:
    """A frame in the words of the streams groups' tool."""

    def tasks(**kinds: Mapping[str, list[int]]) -> frozenset[str]:
        return frozenset(f"{kind} {each}" for kind, topics in kinds.items() for each in _named(topics))

    def target(name: str, member: str) -> Mapping[str, list[int]]:
        found: Mapping[str, list[int]] = (shown.get(name) or {}).get(member, {})
        return found

    return GroupFacts(
        state=shown["state"],
        members={
            member: MemberFacts(
                partitions=tasks(active=each["assigned"], standby=each["standby"], warmup=each["warmup"]),
                epoch=each["epoch"],
                target_epoch=shown["assignment_epoch"],
                target=tasks(
                    active=target("target", member),
                    standby=target("target_standby", member),
                    warmup=target("target_warmup", member),
                ),
            )
            for member, each in shown["members"].items()
        },
        group_epoch=shown["group_epoch"],
        assignment_epoch=shown["assignment_epoch"],
    )


def _named(topics: Mapping[str, list[int]]) -> frozenset[str]:
    return frozenset(f"{topic}-{partition}" for topic, numbers in topics.items() for partition in numbers)


@contextlib.contextmanager
def samplers(node: Node, classes: Path) -> Iterator[Mapping[str, Sampler]]:
    """A sampler of each of the two groups, with its own tool."""
    with contextlib.ExitStack() as stack:

        def made(main: str, read: Callable[[str, str], GroupFacts | None], facts: Any) -> Sampler:
            tool = stack.enter_context(tool_of(node, classes, main, read))
            return stack.enter_context(sampling(tool, facts))

        yield {
            share_and_streams.SHARE: made(SHARE, read_share, share_facts),
            share_and_streams.STREAMS: made(STREAMS, read_streams, streams_facts),
        }


def sampled(node: Node, classes: Path, count: int) -> list[Sampler]:
    """Plays both groups; after each heartbeat so many brackets of the group that it was sent to."""
    with samplers(node, classes) as each:

        def after(group: str) -> None:
            for _ in range(count):
                each[group].sample(group)

        share_and_streams.play(node, after=after)
        return list(each.values())
