"""A record of a group as Spark's rows give it to the fold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from groups.history.entries import Entry


class GroupRecord(NamedTuple):
    """One record of a group, as far as units, incarnations and entries need it."""

    partition: int | None
    offset: int
    batch: int
    at_ms: int
    type: int | None
    payload: Mapping[str, Any]
    text: bytes
    """The payload as JSON, as it is stored."""

    @property
    def tombstone(self) -> bool:
        return "value" in self.payload and self.payload["value"] is None

    @property
    def member(self) -> str | None:
        key = self.payload.get("key")
        return key.get("memberId") if key else None


def entry_text(entry: Entry, payload: bytes) -> bytes:
    """A record's entry as ``Entry.to_json`` gives it, around a payload that is JSON already."""
    partition = "null" if entry.partition is None else entry.partition
    cause = "null" if entry.cause is None else entry.cause
    head = (
        f'{{"sequence":{entry.sequence},"at_ms":{entry.at_ms},"kind":"record","actor":"coordinator","cause":{cause},'
        f'"provenance":"recorded","partition":{partition},"offset":{entry.offset},"batch":{entry.batch},'
        f'"unit":{entry.unit},"settled":{"true" if entry.settled else "false"},"payload":'
    )
    return b"".join((head.encode(), payload, b"}"))
