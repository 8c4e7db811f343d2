"""All scripted exchanges on one broker, side by side, since they mostly wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from .acting import Group
from .exchanges import EXCHANGES, Exchange
from .node import Node

SETTINGS: Mapping[str, object] = {
    "broker.rack": "rack-1",
    "group.consumer.max.size": 5,
    # A script that is not about sessions is not to lose its members on a busy machine.
    "group.consumer.session.timeout.ms": 30_000,
    "group.consumer.regex.refresh.interval.ms": 600_000,
}
"""On top of the node's own: brokers have racks, and a group can be full."""

AT_ONCE = 24
"""Exchanges side by side: each waits for most of its time, and two cores have to serve all of them."""


class Stage:
    """Plays exchanges; ``problems`` has what went wrong with a script itself, by its name."""

    def __init__(self, exchanges: Iterable[Exchange] = tuple(EXCHANGES.values())) -> None:
        self.exchanges = list(exchanges)
        self.problems: dict[str, Exception] = {}
        self._groups: dict[str, Group] = {}

    def play(self, node: Node) -> None:
        """All that need no restart."""
        self._each([each for each in self.exchanges if each.after_restart is None], self._first(node))

    def first_acts(self, node: Node) -> None:
        """Right before the restart, so that sessions live until then."""
        self._each([each for each in self.exchanges if each.after_restart is not None], self._first(node))

    def _first(self, node: Node) -> Callable[[Exchange], None]:
        def first(exchange: Exchange) -> None:
            group = self._groups[exchange.name] = Group(node, exchange.name)
            exchange.play(group)

        return first

    def second_acts(self, node: Node) -> None:
        """After a restart, which the groups' connections did not survive."""

        def second(exchange: Exchange) -> None:
            assert exchange.after_restart is not None
            group = self._groups[exchange.name]
            group.reconnect(node)
            exchange.after_restart(group)

        self._each([each for each in self.exchanges if each.after_restart is not None], second)

    def _each(self, exchanges: Iterable[Exchange], act: Callable[[Exchange], None]) -> None:
        def one(exchange: Exchange) -> None:
            if exchange.name in self.problems:
                return
            try:
                act(exchange)
            except Exception as problem:
                self.problems[exchange.name] = problem
            finally:
                if exchange.name in self._groups:
                    self._groups[exchange.name].close()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(one, exchanges))
