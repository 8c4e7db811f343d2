"""Reads ``network``, of a scenario and of a line of its script, and ``world``."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groups.wire.codecs.values import Fields
from simulations.world.scenario.environment import NetworkRates
from simulations.world.scenario.nodes import Node

SHARES: Final = ("loss", "duplicate", "reorder")

NETWORK_KEYS: Final = ("delay_ms", *SHARES)

DELAY_MAX_MS: Final = 60_000
"""Twice a request's timeout: a message that is on its way for longer is as good as lost."""

SHARE_MAX: Final = 0.9
"""With more of all messages lost nothing ever gets through, and the run shows nothing."""


def read_network(node: Node | None, usual: NetworkRates | None = None) -> NetworkRates:
    """The mapping's values, and ``usual`` for those that it does not have."""
    usual = usual or NetworkRates()
    return replace(usual, **read_rates(node)) if node is not None else usual


def read_rates(node: Node) -> Fields:
    """The fields of ``NetworkRates`` that the mapping sets."""
    keys = node.mapping(NETWORK_KEYS)
    return {
        key: _delay(value) if key == "delay_ms" else value.number(0, SHARE_MAX) for key, value in keys.items()
    }


def _delay(node: Node) -> tuple[int, int]:
    items = node.items()
    if len(items) != 2:
        raise node.wrong("expected the least and the greatest delay, such as [1, 5]")
    least, greatest = (item.integer(0, DELAY_MAX_MS) for item in items)
    if least > greatest:
        raise node.wrong(f"the least delay ({least}) is above the greatest ({greatest})")
    return least, greatest
