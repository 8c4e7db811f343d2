"""Which metrics there are: KIP-848's and, where Kafka 4.3.1 says more of a consumer group, Kafka's own.

Names, tags and what is measured are those of ``GroupCoordinatorMetrics``, ``CoordinatorRuntimeMetricsImpl`` and, on the
client, ``ConsumerRebalanceMetricsManager``, ``HeartbeatMetricsManager``, ``OffsetCommitMetricsManager`` and
``RebalanceCallbackMetricsManager``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

BROKER: Final = "kafka.server:type=group-coordinator-metrics"
CLIENT: Final = "kafka.consumer:type=consumer-coordinator-metrics"


@dataclass(frozen=True, slots=True)
class Metric:
    """``tags`` as JMX has them beside the name; ``proposed``: KIP-848 names it, too."""

    where: str
    name: str
    unit: str
    about: str
    tags: tuple[str, ...] = ()
    proposed: bool = False


@dataclass(frozen=True, slots=True)
class NotTold:
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
    Metric(CLIENT, "rebalance-total", "rebalances", "Assignments that were taken up and acknowledged."),
    Metric(CLIENT, "rebalance-rate-per-hour", "an hour", "The same, as a rate."),
    Metric(
        CLIENT,
        "rebalance-latency-avg",
        "ms",
        "From the answer that brought an assignment to its acknowledgement.",
    ),
    Metric(CLIENT, "rebalance-latency-max", "ms", "The longest of them."),
    Metric(CLIENT, "rebalance-latency-total", "ms", "All of them together."),
    Metric(CLIENT, "failed-rebalance-total", "rebalances", "Those that an error ended before."),
    Metric(CLIENT, "failed-rebalance-rate-per-hour", "an hour", "The same, as a rate."),
    Metric(CLIENT, "last-rebalance-seconds-ago", "s", "Since the last acknowledgement; -1 before the first."),
    Metric(CLIENT, "assigned-partitions", "partitions", "What the consumer owns."),
    Metric(CLIENT, "heartbeat-total", "heartbeats", "Heartbeats that reached the coordinator."),
    Metric(CLIENT, "heartbeat-rate", "a second", "The same, as a rate."),
    Metric(CLIENT, "last-heartbeat-seconds-ago", "s", "Since the last of them; -1 before the first."),
    Metric(CLIENT, "commit-total", "commits", "Commit requests that reached the coordinator."),
    Metric(CLIENT, "commit-rate", "a second", "The same, as a rate."),
    Metric(CLIENT, "partition-revoked-latency-avg", "ms", "How long onPartitionsRevoked takes."),
    Metric(CLIENT, "partition-revoked-latency-max", "ms", "The longest call."),
    Metric(CLIENT, "partition-assigned-latency-avg", "ms", "How long onPartitionsAssigned takes."),
    Metric(CLIENT, "partition-assigned-latency-max", "ms", "The longest call."),
    Metric(CLIENT, "partition-lost-latency-avg", "ms", "How long onPartitionsLost takes."),
    Metric(CLIENT, "partition-lost-latency-max", "ms", "The longest call."),
)

NOT_TOLD: Final[tuple[NotTold, ...]] = (
    NotTold(
        BROKER,
        "event-queue-size",
        "the simulated coordinator has no threads, and a log of records shows none",
    ),
    NotTold(BROKER, "thread-idle-ratio-avg", "the same; KIP-848 names thread-idle-ratio-min beside it"),
    NotTold(BROKER, "offset-expiration-count", "a tombstone of an offset does not say why it was written"),
    NotTold(BROKER, "offset-deletion-count", "the same"),
    NotTold(
        CLIENT,
        "heartbeat-response-time-max",
        "requests stand where they reached the coordinator, not where they left",
    ),
    NotTold(CLIENT, "commit-latency-avg", "the same"),
    NotTold(CLIENT, "commit-latency-max", "the same"),
)
