"""Records of one group as entries, cut into units as the passes cut them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Provenance
from groups.history.passes.units import COORDINATOR, LogRecord, units


def entries_from_records(
    records: Iterable[LogRecord], *, partition: int, first_sequence: int = FIRST_SEQUENCE
) -> Iterator[Entry]:
    """The entries of one group's records, given in the order of their offsets."""
    first = first_sequence
    for unit in units(records):
        for index, record in enumerate(unit):
            yield Entry(
                sequence=first + index,
                at_ms=record.at_ms,
                kind=Kind.RECORD,
                actor=COORDINATOR,
                provenance=Provenance.RECORDED,
                payload=record.payload,
                settled=index == len(unit) - 1,
                partition=partition,
                offset=record.offset,
                batch=record.batch,
                unit=first,
            )
        first += len(unit)
