"""The assignors of the consumer protocol, which the group coordinator runs."""

from simulations.protocol.assignors.consumer.range import RangeAssignor
from simulations.protocol.assignors.consumer.uniform import UniformAssignor
