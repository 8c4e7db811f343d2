"""The rows of the table of operations, by what they are about; ``OPERATIONS`` has all."""

from __future__ import annotations

from typing import Final

from explorer.server.openapi.operation import Operation
from explorer.server.openapi.tables import (
    imports,
    laboratory,
    proofs,
    remedies,
    sharing,
    sweeps,
    timelines,
    watching,
)

OPERATIONS: Final[dict[str, dict[str, Operation]]] = {}
"""An address's name in the URL map → method → the operation."""

for _table in (timelines, imports, watching, laboratory, sweeps, remedies, proofs, sharing):
    for _row in _table.ROWS:
        _method, _name = _row.call.split()
        OPERATIONS.setdefault(_name, {})[_method] = _row
