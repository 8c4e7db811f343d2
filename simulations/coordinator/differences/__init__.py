"""Every difference between the proposal's coordinator and the released one, as data, with what shows it.

Source: KIP-848 and its own contradictions; Apache Kafka 4.3.1.
"""

from __future__ import annotations

from typing import Final

from simulations.coordinator.differences.computing import COMPUTING
from simulations.coordinator.differences.exchange import Case, Step, play
from simulations.coordinator.differences.joining import JOINING
from simulations.coordinator.differences.leaving import LEAVING
from simulations.coordinator.differences.moving import MOVING
from simulations.coordinator.differences.readings import READINGS
from simulations.coordinator.differences.subscribing import SUBSCRIBING
from simulations.coordinator.differences.table import Difference, Seen

DIFFERENCES: Final = (*JOINING, *COMPUTING, *MOVING, *LEAVING, *SUBSCRIBING, *READINGS)
"""In the order of the docs' tables."""

__all__ = ["DIFFERENCES", "Case", "Difference", "Seen", "Step", "play"]
