"""A request that is being handled."""

from __future__ import annotations

from dataclasses import dataclass

from groups.history.entries import Entry
from simulations.invariants.payloads import AnyRequest


@dataclass(slots=True)
class HandledRequest:
    """``wrote`` is the sequence of the first record that it wrote, 0 as long as it wrote none."""

    entry: Entry
    wrote: int = 0

    @property
    def body(self) -> AnyRequest:
        body: AnyRequest = self.entry.payload["body"]
        return body
