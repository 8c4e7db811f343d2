"""All scripted exchanges on one broker, side by side, since they mostly wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from .acting import Group
from .exchanges import EXCHANGES, Exchange
from .node import Node

SETTINGS: Mapping[str, object] = {
    "broker.rack": "rack-1",
    "group.consumer.max.size": 5,
    "group.consumer.regex.refresh.interval.ms": 600_000,
}
"""On top of the node's own: brokers have racks, and a group can be full."""

AT_ONCE = 24
"""Exchanges side by side: each waits for most of its time, and two cores have to serve all of them."""


def play(node: Node, exchanges: Iterable[Exchange] = tuple(EXCHANGES.values())) -> dict[str, Exception]:
    """Plays them; what went wrong with a script itself, by its name."""
    problems: dict[str, Exception] = {}

    def one(exchange: Exchange) -> None:
        try:
            group = Group(node, exchange.name)
            try:
                exchange.play(group)
            finally:
                group.close()
        except Exception as problem:
            problems[exchange.name] = problem

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, exchanges))
    return problems
