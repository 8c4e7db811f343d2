"""A classic consumer's settings, under Kafka's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from simulations.protocol.assignors.classic.strategies import DEFAULT_STRATEGIES, EAGER, rebalance_protocol
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.client.classic.releases import NEWEST, Release
from simulations.protocol.client.consumer.config import backed_off_ms, drawn_of
from simulations.protocol.messages.groups import CommittedOffset, Partitions

Positions = Callable[[Partitions, int], tuple[CommittedOffset, ...]]
"""``positions(owned, now_ms)``: how far the application has consumed each partition, by topic name."""

Metadata = Callable[[], Mapping[str, Topic]]
"""The cluster's topics as a broker lists them now."""

AFTER_ERROR_MS: Final = 1_000
"""An application whose ``poll()`` has thrown polls again after so long; one that does so at once would only log more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicConfig:
    """``member_id`` names the process, and is what the coordinator is made to draw for it; the member has no id before.

    ``assignors`` is ``partition.assignment.strategy``. ``rebalance_timeout_ms`` is ``max.poll.interval.ms``.
    ``revoke_commits``: the application commits synchronously in ``on_partitions_revoked``.
    ``metadata`` is asked when metadata are fetched: for new topics, and each ``metadata_max_age_ms``.
    ``callback_ms`` is how long each callback takes. ``upgrade_from``: Streams' setting of that name keeps it EAGER.
    """

    group_id: str
    member_id: str
    client_id: str
    client_host: str
    metadata: Metadata
    is_denied: Callable[[str], bool] = lambda _topic: False
    """Whether an ACL hides a topic: its metadata come with an error."""
    instance_id: str | None = None
    rack_id: str | None = None
    assignors: tuple[str, ...] = DEFAULT_STRATEGIES
    upgrade_from: bool = False
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 300_000
    callback_ms: int = 0
    auto_commit: bool = False
    auto_commit_interval_ms: int = 5_000
    revoke_commits: bool = False
    positions: Positions | None = None
    request_timeout_ms: int = 30_000
    retry_back_off_ms: int = 100
    retry_back_off_max_ms: int = 1_000
    metadata_max_age_ms: int = 300_000
    release: Release = NEWEST
    seed: int = 0

    @property
    def protocol(self) -> str:
        """EAGER or COOPERATIVE, for the life of the client."""
        if self.upgrade_from or not self.release.cooperative:
            return EAGER
        return rebalance_protocol(self.assignors) or EAGER

    def back_off_ms(self, failures: int, draw: int) -> int:
        """How long to wait after a failure that follows ``failures`` others (``ExponentialBackoff``)."""
        drawn = drawn_of(draw, self.member_id, self.seed)
        return backed_off_ms(self.retry_back_off_ms, self.retry_back_off_max_ms, failures, drawn)
