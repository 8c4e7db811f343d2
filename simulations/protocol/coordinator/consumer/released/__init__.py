"""The coordinator of released Kafka for groups of the consumer protocol, by the rules of ``Settings.release``.

``coordinator`` is the way in, and the short one for a heartbeat that changes nothing; ``heartbeat`` and ``leaving`` are what members ask for; ``advancing`` bumps the group epoch, computes
the target and moves the member a step on. ``upgrading`` and ``downgrading`` convert a group, ``classic_members`` answers members
of the classic protocol in it.
"""

from simulations.protocol.coordinator.consumer.released.coordinator import KafkaCoordinator
