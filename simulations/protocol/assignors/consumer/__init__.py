"""The assignors of the consumer protocol, which the group coordinator runs."""

from __future__ import annotations

from simulations.protocol.assignors.consumer.range import RangeAssignor
from simulations.protocol.assignors.consumer.uniform import UniformAssignor
