"""What a consumer gets when it is made: its settings under Kafka's names, and what its world adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from simulations.protocol.messages.groups import CommittedOffset, Partitions

Positions = Callable[[Partitions, int], tuple[CommittedOffset, ...]]
"""``positions(owned, now_ms)``: how far the application has consumed each partition that it owns."""

JITTER: Final = 0.2
"""``CommonClientConfigs.RETRY_BACKOFF_JITTER``: a back-off is longer or shorter by up to this share."""


class CloseOption(StrEnum):
    """``CloseOptions.GroupMembershipOperation``."""

    DEFAULT = "DEFAULT"
    LEAVE_GROUP = "LEAVE_GROUP"
    REMAIN_IN_GROUP = "REMAIN_IN_GROUP"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """``rebalance_timeout_ms`` is ``max.poll.interval.ms``; ``calls_for_nothing``: also with no partition gained.

    ``finds_coordinator``: the coordinator is looked up by FindCoordinator. Otherwise who is behind the address
    changes by itself, and an answer that it is not there costs one back-off.
    ``fetches_offsets``: positions of what is assigned are asked for by OffsetFetch.
    ``is_proposed``: it is KIP-848's, not a release's: a commit of an older epoch is sent again with the epoch of the next heartbeat's
    response, and OffsetFetch has version 9.
    ``positions`` is asked before each automatic commit; without it nothing has been consumed.
    ``jitter(n)`` is the n-th draw of this consumer, in [0, 1); ``None`` takes it from the member id and ``seed``.
    """

    group_id: str
    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    server_assignor: str | None = None
    rebalance_timeout_ms: int = 300_000
    callback_ms: int = 0
    calls_for_nothing: bool = True
    auto_commit: bool = False
    auto_commit_interval_ms: int = 5_000
    positions: Positions | None = None
    request_timeout_ms: int = 30_000
    api_timeout_ms: int = 60_000
    retry_back_off_ms: int = 100
    retry_back_off_max_ms: int = 1_000
    finds_coordinator: bool = False
    fetches_offsets: bool = False
    is_proposed: bool = False
    seed: int = 0
    jitter: Callable[[int], float] | None = None

    def back_off_ms(self, failures: int, draw: int) -> int:
        """How long to wait after a failure that follows ``failures`` others (``ExponentialBackoff``)."""
        drawn = self.jitter(draw) if self.jitter is not None else drawn_of(draw, self.member_id, self.seed)
        return backed_off_ms(self.retry_back_off_ms, self.retry_back_off_max_ms, failures, drawn)


def drawn_of(draw: int, member_id: str, seed: int) -> float:
    """What a client draws for one of its back-offs, from 0 to 1."""
    return Random(f"back-off {draw} of {member_id} in {seed}").random()


def backed_off_ms(first_ms: int, most_ms: int, failures: int, drawn: float) -> int:
    """How long to wait after a failure that follows ``failures`` others (``ExponentialBackoff``)."""
    doubled: float = first_ms
    for _ in range(failures):
        if doubled >= most_ms:
            break
        doubled *= 2
    return min(most_ms, int(doubled * (1 - JITTER + 2 * JITTER * drawn)))
