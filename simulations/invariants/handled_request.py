"""A request that is being handled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from groups.history.entries import Entry


@dataclass(slots=True)
class HandledRequest:
    """``wrote`` is the sequence of the first record that it wrote, 0 as long as it wrote none."""

    entry: Entry
    wrote: int = 0

    @property
    def body(self) -> Mapping[str, Any]:
        body: Mapping[str, Any] = self.entry.payload["body"]
        return body
