"""Records as scripts read them: a line each, with their place in the log and Kafka's name for what they are."""

from __future__ import annotations

from groups.history.entries import EntryLine
from groups.wire.coordinator_schema import RECORD_TYPES


def record_line(entry: EntryLine) -> dict[str, object]:
    """The line of an entry of kind ``record`` (its JSON form): the one form of every ``--format records``."""
    payload = entry["payload"]
    known = RECORD_TYPES.get(payload["type"])
    return {
        "partition": entry["partition"],
        "offset": entry["offset"],
        "batch": entry["batch"],
        "timestamp": entry["at_ms"],
        "at_ms": entry["at_ms"],
        "sequence": entry["sequence"],
        "unit": entry["unit"],
        "name": known.message if known is not None else None,
        **payload,
    }
