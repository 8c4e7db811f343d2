"""The coordinator of the released Kafka (4.3.1) for groups of the consumer protocol."""

from __future__ import annotations

from simulations.protocol.coordinator.consumer.released.coordinator import KafkaCoordinator

__all__ = ["KafkaCoordinator"]
