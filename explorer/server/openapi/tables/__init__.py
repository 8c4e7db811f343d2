"""The rows of the table of operations, by what they are about; ``OPERATIONS`` has all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from explorer.server.openapi.operation import Operation
from explorer.server.openapi.tables import imports, laboratory, remedies, sharing, sweeps, timelines, watching

OPERATIONS: Final[Mapping[str, Mapping[str, Operation]]] = {
    **timelines.ROWS,
    **imports.ROWS,
    **watching.ROWS,
    **laboratory.ROWS,
    **sweeps.ROWS,
    **remedies.ROWS,
    **sharing.ROWS,
}
"""An address's name in the URL map → method → the operation."""
