"""What is around a group: the network, the disks, the metadata and what befalls processes; and the named presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRates:
    """One way of a message takes between the two of ``delay_ms``, evenly spread; the rest are shares of messages.

    ``loss`` never arrive. ``duplicate`` arrive twice, as when the sender tries again. ``reorder`` are held up, and
    messages of other connections overtake them; those of one connection keep their order.
    """

    delay_ms: tuple[int, int] = (1, 5)
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRates:
    """A fault that comes by chance: ``every_ms`` on average, for a length between the two of ``length_ms``.

    A coordinator that fails over is loading for that length, and up to ``lost`` batches at the end of its log had
    not reached the new one.
    """

    every_ms: int
    length_ms: tuple[int, int]
    lost: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A preset. ``replication_ms`` and ``metadata_delay_ms`` as in ``Scenario``."""

    network: NetworkRates = field(default_factory=NetworkRates)
    replication_ms: int = 0
    metadata_delay_ms: int = 0
    pauses: FaultRates | None = None
    kills: FaultRates | None = None
    cuts: FaultRates | None = None
    fail_overs: FaultRates | None = None


CALM: Final = "calm"

STORM_SHARE: Final = 0.5
"""The part of a run in which chance makes trouble; the rest is quiet, so that it shows whether the group converges."""

WORLDS: Final[Mapping[str, World]] = {
    # One rack on a good day: nothing is lost, nothing waits. What a story about the protocol alone wants.
    CALM: World(),
    # A bad day that operators know: retries now and then, collections of garbage below the session timeout, a crash
    # every few minutes, replicas and metadata that lag visibly. A group is to get through it without losing members
    # that live.
    "stormy": World(
        network=NetworkRates(delay_ms=(1, 250), loss=0.01, duplicate=0.005, reorder=0.05),
        replication_ms=10,
        metadata_delay_ms=500,
        pauses=FaultRates(every_ms=60_000, length_ms=(1_000, 20_000)),
        kills=FaultRates(every_ms=300_000, length_ms=(5_000, 30_000)),
    ),
    # Everything that may go wrong does, oftener than timeouts can bear: pauses and cuts beyond the session timeout,
    # coordinators that lose the end of their log. Only what the protocol promises whatever happens still holds.
    "hostile": World(
        network=NetworkRates(delay_ms=(1, 2_000), loss=0.1, duplicate=0.05, reorder=0.2),
        replication_ms=100,
        metadata_delay_ms=5_000,
        pauses=FaultRates(every_ms=30_000, length_ms=(1_000, 90_000)),
        kills=FaultRates(every_ms=60_000, length_ms=(1_000, 60_000)),
        cuts=FaultRates(every_ms=60_000, length_ms=(5_000, 60_000)),
        fail_overs=FaultRates(every_ms=120_000, length_ms=(1_000, 10_000), lost=3),
    ),
}
"""Presets by name; a scenario's own keys override what they say."""
