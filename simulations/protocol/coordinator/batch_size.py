"""How large the records of one operation are as a batch: an operation is appended whole, or not at all.

Kafka's classes: ``CoordinatorRuntime`` with the ``max.message.bytes`` of ``__consumer_offsets`` (measured on a broker: what is larger is
answered UNKNOWN_SERVER_ERROR, without a message, and nothing of it is written). KIP-848 has the same bound for a target, "the delta
between two assignments", and leaves open what comes then: here it is as with the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import orjson

from groups.history.state.group import Semantics
from groups.wire.kip import as_proposed, encode_kip_record
from groups.wire.logs.record_batch import coordinator_batch, write_batch
from groups.wire.records import encode_record
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record

BYTES_A_CHARACTER: Final = 4
"""A record's JSON names its fields and is never four times shorter than its bytes: a digit and a comma stand for an int32 at least."""


class RecordTooLarge(Exception):
    """The records of ``outcome`` do not fit into one batch; nothing was written, and nothing is remembered."""

    def __init__(self, outcome: Outcome[object], size_bytes: int, limit_bytes: int) -> None:
        super().__init__(
            f"{len(outcome.records)} records take {size_bytes} bytes, and {limit_bytes} are the most"
        )
        self.outcome = outcome


def batch_bytes(records: Sequence[Record], semantics: Semantics = Semantics.KAFKA) -> int:
    """The size of a batch with these records alone, all of one time; in ``kip`` in the proposal's layout."""
    if semantics is Semantics.KIP:
        encoded = [encode_kip_record(as_proposed(record)[0]) for record in records]
    else:
        encoded = [encode_record(record) for record in records]
    return len(write_batch(coordinator_batch(base_offset=0, timestamp_ms=0, records=encoded)))


def check_fits(outcome: Outcome[object], limit_bytes: int, semantics: Semantics) -> None:
    """``RecordTooLarge`` where the records are more than a batch may hold; costs little where they are far from it."""
    at_most = BYTES_A_CHARACTER * len(orjson.dumps(outcome.records))
    if at_most <= limit_bytes:
        return
    size_bytes = batch_bytes(outcome.records, semantics)
    if size_bytes > limit_bytes:
        raise RecordTooLarge(outcome, size_bytes, limit_bytes)
