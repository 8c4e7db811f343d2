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


class ConsumerClient(StrEnum):
    """Whose client it is: releases of the Java client by which what they send differs, and librdkafka.

    Java from 4.4 on acknowledges an assignment once of which it knows only some topics; before, with a heartbeat a round trip until
    it knows them all (its classes in both releases; nothing else that others notice is known to differ). librdkafka is as its
    version 2.16 was measured on a broker.
    """

    JAVA_4_3 = "4.3"
    JAVA_4_4 = "4.4"
    LIBRDKAFKA = "librdkafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """What consumers of both protocols have. ``rebalance_timeout_ms`` is ``max.poll.interval.ms``; ``callback_ms`` is how long each callback takes.

    ``positions`` is asked before each automatic commit; without it nothing has been consumed.
    ``notes_call`` is handed the name, the method and the outcome of each call of the client's assignors.
    ``jitter(n)`` is the n-th draw of this consumer, in [0, 1); ``None`` takes it from the member id and ``seed``.
    """

    group_id: str
    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = 300_000
    callback_ms: int = 0
    auto_commit: bool = False
    auto_commit_interval_ms: int = 5_000
    positions: Positions | None = None
    notes_call: Callable[[str, str, str], None] | None = None
    request_timeout_ms: int = 30_000
    retry_back_off_ms: int = 100
    retry_back_off_max_ms: int = 1_000
    seed: int = 0
    jitter: Callable[[int], float] | None = None

    def back_off_ms(self, failures: int, draw: int) -> int:
        """How long to wait after a failure that follows ``failures`` others (``ExponentialBackoff``)."""
        if self.jitter is not None:
            drawn = self.jitter(draw)
        else:
            drawn = Random(f"back-off {draw} of {self.member_id} in {self.seed}").random()
        doubled: float = self.retry_back_off_ms
        for _ in range(failures):
            if doubled >= self.retry_back_off_max_ms:
                break
            doubled *= 2
        return min(self.retry_back_off_max_ms, int(doubled * (1 - JITTER + 2 * JITTER * drawn)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig(ClientConfig):
    """``calls_for_nothing``: callbacks are called also with no partition gained.

    ``finds_coordinator``: the coordinator is looked up by FindCoordinator. Otherwise who is behind the address
    changes by itself, and an answer that it is not there costs one back-off.
    ``fetches_offsets``: positions of what is assigned are asked for by OffsetFetch.
    ``is_proposed``: it is KIP-848's, not a release's: a commit of an older epoch is sent again with the epoch of the next heartbeat's
    response, and OffsetFetch has version 9.
    """

    server_assignor: str | None = None
    calls_for_nothing: bool = True
    api_timeout_ms: int = 60_000
    finds_coordinator: bool = False
    fetches_offsets: bool = False
    is_proposed: bool = False
    client: ConsumerClient = ConsumerClient.JAVA_4_3

    @property
    def is_librdkafka(self) -> bool:
        return self.client is ConsumerClient.LIBRDKAFKA
