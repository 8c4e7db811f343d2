"""Reads ``network``, of a scenario and of a line of its script, and ``world``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulations.scenario.nodes import Node
from simulations.scenario.surroundings import Network

NETWORK_KEYS: Final = ("delay_ms", "loss", "duplicate", "reorder")

NETWORK_KEYS_TO_COME: Final = ("loss", "duplicate", "reorder")

DELAY_MAX_MS: Final = 60_000
"""Twice a request's timeout: a message that is on its way for longer is as good as lost."""

SHARE_MAX: Final = 0.9
"""With more of all messages lost nothing ever gets through, and the run shows nothing."""


def read_network(node: Node | None, usual: Network | None = None) -> Network:
    """What the mapping says, and ``usual`` for what it does not."""
    usual = usual or Network()
    if node is None:
        return usual
    keys = node.mapping(NETWORK_KEYS)
    for key in NETWORK_KEYS_TO_COME:
        if key in keys and keys[key].number(0, 1):
            raise keys[key].wrong(f"{key} is not simulated yet; only 0 is taken")
    return Network(
        delay_ms=_delay(keys["delay_ms"]) if "delay_ms" in keys else usual.delay_ms,
        loss=_share(keys, "loss", usual.loss),
        duplicate=_share(keys, "duplicate", usual.duplicate),
        reorder=_share(keys, "reorder", usual.reorder),
    )


def _share(keys: Mapping[str, Node], key: str, usual: float) -> float:
    return keys[key].number(0, SHARE_MAX) if key in keys else usual


def _delay(node: Node) -> tuple[int, int]:
    items = node.items()
    if len(items) != 2:
        raise node.wrong("expected the least and the greatest delay, such as [1, 5]")
    least, greatest = (item.integer(0, DELAY_MAX_MS) for item in items)
    if least > greatest:
        raise node.wrong(f"the least delay ({least}) is above the greatest ({greatest})")
    return least, greatest
