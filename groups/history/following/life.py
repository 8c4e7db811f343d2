"""The lives of a group and the gaps between its records: counted and written alike of an imported and of a followed log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from groups.history.passes.units import Written
from groups.history.replay.record_types import CLASSIC_GROUP, EPOCH_TYPES

LIFE_TYPES: Final = EPOCH_TYPES | {CLASSIC_GROUP}
"""Records that keep a group in being, and whose tombstones end its life: of a classic group, of one that has epochs."""

COMPACTED: Final = "compacted"


def ends_life(alive: list[int], unit: Iterable[Written]) -> bool:
    """Whether a group's life ends with these records. ``alive`` has the types that keep it in being, and is updated."""
    removed = False
    for record in unit:
        number = record.payload.get("type")
        if number not in LIFE_TYPES or "key" not in record.payload:
            continue
        if number in alive:
            alive.remove(number)
        if record.payload["value"] is None:
            removed = True
        else:
            alive.append(number)
    return removed and not alive


def gap_note(partition: int | None, first: int, last: int, reason: str, **more: object) -> dict[str, object]:
    """The payload of a note: the offsets ``first`` to ``last`` are missing."""
    return {
        "note": "gap",
        "partition": partition,
        "from_offset": first,
        "to_offset": last,
        "reason": reason,
        **more,
    }
