"""Which metrics there are: KIP-848's and, where Kafka's released coordinator reports more of a group, Kafka's own; of classic consumers KIP-429's.

Names, tags and what is measured are those of ``GroupCoordinatorMetrics``, ``CoordinatorRuntimeMetricsImpl`` and, on the
client, ``ConsumerCoordinatorMetrics`` and ``AbstractCoordinator`` (classic), ``ConsumerRebalanceMetricsManager``, ``HeartbeatMetricsManager``, ``OffsetCommitMetricsManager`` and
``RebalanceCallbackMetricsManager``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BROKER: Final = "kafka.server:type=group-coordinator-metrics"
CLASSIC_BROKER: Final = "kafka.coordinator.group:type=GroupMetadataManager"
CLIENT: Final = "kafka.consumer:type=consumer-coordinator-metrics"


@dataclass(frozen=True, slots=True)
class Metric:
    """``tags`` as JMX has them next to the name; ``proposed``: KIP-848 names it, too; ``kip_429``: what KIP-429 calls it."""

    where: str
    name: str
    unit: str
    about: str
    tags: tuple[str, ...] = ()
    proposed: bool = False
    kip_429: str = ""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A metric that a group's log cannot give, and why."""

    where: str
    name: str
    why: str


METRICS: Final[tuple[Metric, ...]] = (
    Metric(
        BROKER, "group-count", "groups", "Groups of each protocol; a timeline is one.", ("protocol",), True
    ),
    Metric(
        BROKER,
        "consumer-group-count",
        "groups",
        "Consumer groups in each state; a timeline is one.",
        ("state",),
        True,
    ),
    Metric(
        BROKER,
        "consumer-group-rebalance-count",
        "rebalances",
        "Group epochs that a heartbeat or a resolved expression began; those of leaves and expiries do not count.",
        (),
        True,
    ),
    Metric(BROKER, "consumer-group-rebalance-rate", "a second", "The same, as a rate.", (), True),
    Metric(
        BROKER,
        "num-partitions",
        "partitions",
        "Partitions of __consumer_offsets in each state; a group's records lie in one.",
        ("state",),
        True,
    ),
    Metric(BROKER, "partition-load-time-max", "ms", "The longest load of that partition.", (), True),
    Metric(BROKER, "partition-load-time-avg", "ms", "The average load.", (), True),
    Metric(
        BROKER, "offset-commit-count", "offsets", "Committed offsets, one for each partition of a commit."
    ),
    Metric(BROKER, "offset-commit-rate", "a second", "The same, as a rate."),
    Metric(BROKER, "batch-flush-rate", "a second", "Batches of records that were written."),
    *(
        Metric(
            CLASSIC_BROKER,
            f"NumGroups{state}",
            "groups",
            f"Classic groups that are {state}; a timeline is one.",
        )
        for state in ("PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Empty")
    ),
    Metric(
        BROKER,
        "group-completed-rebalance-count",
        "rebalances",
        "Generations of a classic group whose leader has sent the assignment.",
    ),
    Metric(BROKER, "group-completed-rebalance-rate", "a second", "The same, as a rate."),
    Metric(
        CLIENT,
        "rebalance-total",
        "rebalances",
        "Assignments that were taken up and acknowledged; of a classic consumer, joins that ended with an assignment.",
        kip_429="rebalance-total",
    ),
    Metric(
        CLIENT,
        "rebalance-rate-per-hour",
        "an hour",
        "The same, as a rate; the prose of KIP-429 says per day.",
        kip_429="rebalance-rate-per-hour",
    ),
    Metric(
        CLIENT,
        "rebalance-latency-avg",
        "ms",
        "From the answer that brought an assignment to its acknowledgement; of a classic consumer from the first JoinGroup to the answer of SyncGroup, without the callbacks that KIP-429 has in it.",
        kip_429="rebalance-latency-avg",
    ),
    Metric(CLIENT, "rebalance-latency-max", "ms", "The longest of them.", kip_429="rebalance-latency-max"),
    Metric(
        CLIENT, "rebalance-latency-total", "ms", "All of them together.", kip_429="rebalance-latency-total"
    ),
    Metric(
        CLIENT,
        "failed-rebalance-total",
        "rebalances",
        "Those that an error ended before; of a classic consumer every join that failed, MEMBER_ID_REQUIRED too.",
        kip_429="failed-rebalance-total",
    ),
    Metric(
        CLIENT,
        "failed-rebalance-rate-per-hour",
        "an hour",
        "The same, as a rate.",
        kip_429="failed-rebalance-rate-per-hour",
    ),
    Metric(
        CLIENT,
        "last-rebalance-seconds-ago",
        "s",
        "Since the last one ended; -1 before the first.",
        kip_429="last-rebalance-seconds-ago",
    ),
    Metric(
        CLIENT, "join-total", "joins", "JoinGroups of a classic consumer that were answered without an error."
    ),
    Metric(CLIENT, "join-rate", "a second", "The same, as a rate."),
    Metric(CLIENT, "join-time-avg", "ms", "How long such a JoinGroup waited for its answer."),
    Metric(CLIENT, "join-time-max", "ms", "The longest wait."),
    Metric(
        CLIENT, "sync-total", "syncs", "SyncGroups of a classic consumer that were answered without an error."
    ),
    Metric(CLIENT, "sync-rate", "a second", "The same, as a rate."),
    Metric(CLIENT, "sync-time-avg", "ms", "How long such a SyncGroup waited for its answer."),
    Metric(CLIENT, "sync-time-max", "ms", "The longest wait."),
    Metric(CLIENT, "assigned-partitions", "partitions", "What the consumer owns."),
    Metric(CLIENT, "heartbeat-total", "heartbeats", "Heartbeats that reached the coordinator."),
    Metric(CLIENT, "heartbeat-rate", "a second", "The same, as a rate."),
    Metric(CLIENT, "last-heartbeat-seconds-ago", "s", "Since the last of them; -1 before the first."),
    Metric(CLIENT, "commit-total", "commits", "Commit requests that reached the coordinator."),
    Metric(CLIENT, "commit-rate", "a second", "The same, as a rate."),
    Metric(
        CLIENT,
        "partition-revoked-latency-avg",
        "ms",
        "How long onPartitionsRevoked takes.",
        kip_429="partitions-revoked-latency-avg",
    ),
    Metric(
        CLIENT,
        "partition-revoked-latency-max",
        "ms",
        "The longest call.",
        kip_429="partitions-revoked-latency-max",
    ),
    Metric(
        CLIENT,
        "partition-assigned-latency-avg",
        "ms",
        "How long onPartitionsAssigned takes.",
        kip_429="partitions-assigned-latency-avg",
    ),
    Metric(
        CLIENT,
        "partition-assigned-latency-max",
        "ms",
        "The longest call.",
        kip_429="partitions-assigned-latency-max",
    ),
    Metric(
        CLIENT,
        "partition-lost-latency-avg",
        "ms",
        "How long onPartitionsLost takes.",
        kip_429="partitions-lost-latency-avg",
    ),
    Metric(
        CLIENT, "partition-lost-latency-max", "ms", "The longest call.", kip_429="partitions-lost-latency-max"
    ),
)

UNMEASURED: Final[tuple[Unmeasured, ...]] = (
    Unmeasured(
        BROKER,
        "event-queue-size",
        "the simulated coordinator has no threads, and a log of records shows none",
    ),
    Unmeasured(BROKER, "thread-idle-ratio-avg", "the same; KIP-848 names thread-idle-ratio-min beside it"),
    Unmeasured(BROKER, "offset-expiration-count", "a tombstone of an offset does not say why it was written"),
    Unmeasured(BROKER, "offset-deletion-count", "the same"),
    Unmeasured(
        CLIENT,
        "heartbeat-response-time-max",
        "requests stand where they reached the coordinator, not where they left",
    ),
    Unmeasured(CLIENT, "commit-latency-avg", "the same"),
    Unmeasured(CLIENT, "commit-latency-max", "the same"),
)
