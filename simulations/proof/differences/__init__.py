"""Every difference between the proposal's coordinator and the released one, as data, with what shows it.

Source: KIP-848 and its own contradictions; Apache Kafka's released coordinator.
"""

from __future__ import annotations

from typing import Final

from simulations.proof.differences.computing import COMPUTING
from simulations.proof.differences.exchange import Case, Step, frames, play
from simulations.proof.differences.joining import JOINING
from simulations.proof.differences.leaving import LEAVING
from simulations.proof.differences.moving import MOVING
from simulations.proof.differences.readings import READINGS
from simulations.proof.differences.subscribing import SUBSCRIBING
from simulations.proof.differences.table import Difference, Seen

DIFFERENCES: Final = (*JOINING, *COMPUTING, *MOVING, *LEAVING, *SUBSCRIBING, *READINGS)
"""In the order of the docs' tables."""
