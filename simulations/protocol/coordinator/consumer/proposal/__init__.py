"""The coordinator as KIP-848's text describes it, where that differs from what was released."""

from simulations.protocol.coordinator.consumer.proposal.coordinator import KipCoordinator
