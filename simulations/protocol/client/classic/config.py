"""A classic consumer's settings, under Kafka's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from simulations.protocol.assignors.classic.strategies import DEFAULT_STRATEGIES, EAGER, rebalance_protocol
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.client.classic.releases import NEWEST, Release
from simulations.protocol.client.consumer.config import ClientConfig

Metadata = Callable[[], Mapping[str, Topic]]
"""The cluster's topics as a broker lists them now."""

AFTER_ERROR_MS: Final = 1_000
"""An application whose ``poll()`` has thrown polls again after so long; one that does so at once would only log more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicConfig(ClientConfig):
    """``member_id`` names the process, and is what the coordinator is made to draw for it; the member has no id before.

    ``assignors`` is ``partition.assignment.strategy``.
    ``revoke_commits``: the application commits synchronously in ``on_partitions_revoked``.
    ``metadata`` is asked when metadata are fetched: for new topics, and each ``metadata_max_age_ms``.
    ``upgrade_from``: Streams' setting of that name keeps it EAGER.
    """

    metadata: Metadata
    is_denied: Callable[[str], bool] = lambda _topic: False
    """Whether an ACL hides a topic: its metadata come with an error."""
    assignors: tuple[str, ...] = DEFAULT_STRATEGIES
    upgrade_from: bool = False
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    revoke_commits: bool = False
    metadata_max_age_ms: int = 300_000
    release: Release = NEWEST

    @property
    def protocol(self) -> str:
        """EAGER or COOPERATIVE, for the life of the client."""
        if self.upgrade_from or not self.release.cooperative:
            return EAGER
        return rebalance_protocol(self.assignors) or EAGER
