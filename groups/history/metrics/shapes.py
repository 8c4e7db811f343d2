"""The shapes of a timeline's metrics, as the API reports them."""

from __future__ import annotations

from typing import TypedDict


class AboutMetric(TypedDict):
    """``proposed``: KIP-848 names it, too; ``kip_429``: what KIP-429 calls it."""

    where: str
    name: str
    unit: str
    about: str
    proposed: bool
    kip_429: str | None


class MetricValue(AboutMetric):
    """``None`` where Kafka would say NaN: nothing happened in the last minute."""

    value: float | int | None


class BrokerMetric(MetricValue):
    """``tags`` as JMX has them next to the name."""

    tags: dict[str, str]


class ConsumerMetrics(TypedDict):
    """What a consumer reports."""

    member: str
    client_id: str | None
    metrics: list[MetricValue]


class UnmeasuredMetric(TypedDict):
    """What the log cannot give, and why."""

    where: str
    name: str
    why: str


class MetricsSheet(TypedDict):
    """All of a moment."""

    sequence: int
    at_ms: int
    broker: list[BrokerMetric]
    clients: list[ConsumerMetrics]
    not_told: list[UnmeasuredMetric]
