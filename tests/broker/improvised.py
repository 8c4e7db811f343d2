"""Groups whose requests are drawn at random: what no script thought of, asked of a real broker.

``python -m tests.broker.improvised 0-63`` plays a group for each seed on one broker and prints what the simulated
coordinator would have answered or written otherwise; the tests play a few.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from . import played
from .acting import Group
from .conformed import conform
from .node import Node, running
from .rpc import RpcError

TOPICS = ("foo", "bar", "baz")
UNKNOWN = "nope"
"""Subscribed to, and never made."""

MEMBERS = "ABCDE"
STEPS = 60
AT_ONCE = 8

GROWN_TO = 12
PARTITIONS = (1, 2, 3, 4, 5, 7, 8, 11)
EXPRESSIONS = ("[.]foo", "[.]b.*", "[.].*", "[.]none")

MOMENT_S = 0.4
"""Long enough for an expression to be resolved meanwhile."""


def name_of(seed: int) -> str:
    return f"improvised-{seed}"


class Improvised:
    """One group's members, of whom some are static, and what they do next. Refusals are answers like others."""

    def __init__(self, group: Group, seed: int) -> None:
        self._group = group
        self._drawn = drawn = random.Random(seed)
        self._instances = {name: f"i-{name}" for name in MEMBERS if drawn.random() < 0.4}
        self._ids = {name: name for name in MEMBERS}
        self._regexes = drawn.random() < 0.6
        self._assignors = drawn.random() < 0.4
        self._replaced = 0

    def play(self, steps: int = STEPS) -> None:
        for name in TOPICS:
            self._group.topic(name, self._drawn.choice(PARTITIONS))
        if self._drawn.random() < 0.7:
            self._group.at_once()
        for _ in range(steps):
            act = self._drawn.choices(list(_ACTS), weights=list(_ACTS.values()))[0]
            try:
                act(self, self._drawn.choice(MEMBERS))
            except (AssertionError, RpcError):
                # Acts say what they expect; here nothing is, and the answer stands in the broker's log.
                continue

    def join(self, name: str) -> None:
        instance = self._instances.get(name)
        if instance and self._drawn.random() < 0.5:
            self._replaced += 1
            self._ids[name] = f"{name}{self._replaced}"
        told: dict[str, Any] = {
            "rebalanceTimeoutMs": 60_000,
            "topicPartitions": [],
            "subscribedTopicNames": None,
        }
        told |= self._subscription()
        if instance and self._drawn.random() < 0.9:
            told["instanceId"] = instance
        if self._assignors and self._drawn.random() < 0.5:
            told["serverAssignor"] = self._drawn.choice(["uniform", "range"])
        self._group.beat(self._ids[name], 0, **told)

    def report(self, name: str) -> None:
        self._group.ack(self._ids[name], **self._instance(name))

    def beat(self, name: str) -> None:
        self._group.beat(self._ids[name], **self._instance(name))

    def everybody_reports(self, _name: str) -> None:
        for name, member_id in self._ids.items():
            if member_id in self._group.epochs:
                self.report(name)

    def subscribe(self, name: str) -> None:
        send = self._group.ack if self._drawn.random() < 0.4 else self._group.beat
        send(self._ids[name], **self._subscription(), **self._instance(name))

    def give_up_some(self, name: str) -> None:
        owned = self._group.owned.get(self._ids[name], {})
        kept = {
            topic_id: self._drawn.sample(numbers, self._drawn.randrange(len(numbers) + 1))
            for topic_id, numbers in owned.items()
        }
        told = [{"topicId": topic_id, "partitions": numbers} for topic_id, numbers in kept.items() if numbers]
        self._group.beat(self._ids[name], topicPartitions=told, **self._instance(name))

    def leave(self, name: str) -> None:
        self._group.beat(self._ids[name], -1, **self._instance(name))

    def static_leave(self, name: str) -> None:
        self._group.beat(self._ids[name], -2, **self._instance(name))

    def beat_at_another_epoch(self, name: str) -> None:
        epoch = max(0, self._group.epochs.get(self._ids[name], 0)) + self._drawn.choice([-2, -1, 1])
        self._group.beat(self._ids[name], epoch, **self._instance(name))

    def commit(self, name: str) -> None:
        epoch = max(0, self._group.epochs.get(self._ids[name], 0)) - (self._drawn.random() < 0.2)
        numbers = self._drawn.sample(range(6), self._drawn.randrange(1, 5))
        offsets = {number: self._drawn.randrange(99) for number in numbers}
        self._group.commit(self._ids[name], epoch, self._drawn.choice(TOPICS), offsets)

    def fetch(self, _name: str) -> None:
        self._group.fetch(None, -1, None)

    def delete_offsets(self, _name: str) -> None:
        self._group.delete_offsets(self._drawn.choice(TOPICS), [0, 1, 2])

    def describe(self, _name: str) -> None:
        self._group.describe()

    def delete(self, _name: str) -> None:
        self._group.delete()

    def wait(self, _name: str) -> None:
        time.sleep(MOMENT_S)

    def grow(self, _name: str) -> None:
        self._group.grow(self._drawn.choice(TOPICS), GROWN_TO)

    def _instance(self, name: str) -> dict[str, str]:
        instance = self._instances.get(name)
        return {"instanceId": instance} if instance else {}

    def _subscription(self) -> dict[str, Any]:
        told: dict[str, Any] = {}
        if self._regexes and self._drawn.random() < 0.4:
            ends = self._drawn.choice(EXPRESSIONS)
            told["subscribedTopicRegex"] = f"{self._group.name}{ends}" if self._drawn.random() < 0.85 else ""
        if not told or self._drawn.random() < 0.75:
            names = self._drawn.sample([*TOPICS, UNKNOWN], self._drawn.randrange(4))
            told["subscribedTopicNames"] = [self._group.full(name) for name in names]
        return told


_ACTS: dict[Callable[[Improvised, str], None], float] = {
    Improvised.join: 16,
    Improvised.report: 18,
    Improvised.beat: 16,
    Improvised.everybody_reports: 5,
    Improvised.subscribe: 6,
    Improvised.give_up_some: 6,
    Improvised.leave: 4,
    Improvised.static_leave: 5,
    Improvised.beat_at_another_epoch: 4,
    Improvised.commit: 8,
    Improvised.fetch: 3,
    Improvised.delete_offsets: 2,
    Improvised.describe: 4,
    Improvised.delete: 1,
    Improvised.wait: 2,
    Improvised.grow: 1,
}
"""With how often each is done."""


def play(node: Node, seeds: Iterable[int]) -> dict[str, Exception]:
    """A group for each seed, side by side; what went wrong with one, by its name."""
    problems: dict[str, Exception] = {}

    def one(seed: int) -> None:
        try:
            group = Group(node, name_of(seed))
            try:
                Improvised(group, seed).play()
            finally:
                group.close()
        except Exception as problem:
            problems[name_of(seed)] = problem

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, seeds))
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.broker.improvised", description=__doc__)
    parser.add_argument("seeds", metavar="A-B", help="first and last seed, or one alone")
    first, _, last = parser.parse_args().seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    with tempfile.TemporaryDirectory() as folder:
        with running(Path(folder), played.SETTINGS, request_log=True) as node:
            problems = play(node, seeds)
            node.stop()
        conformed = conform(node, problems)
    for name, problem in problems.items():
        sys.stderr.write(f"{name} was not played to its end: {problem}\n")
    differing = 0
    for name, verdict in conformed.verdicts.items():
        differing += bool(verdict["differences"])
        for each in verdict["differences"]:
            sys.stdout.write(f"{name}: {json.dumps(each)}\n")
    requests = sum(verdict["requests"] for verdict in conformed.verdicts.values())
    sys.stdout.write(f"{len(seeds)} groups, {requests} requests, {differing} groups differ\n")
    return 1 if differing or problems else 0


if __name__ == "__main__":
    sys.exit(main())
