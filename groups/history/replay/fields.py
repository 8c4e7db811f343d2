"""Reading fields of payloads: what is not of the kind that it should be is refused here, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from groups.history.entries import Payload
from groups.history.state.group import PARTITIONS_A_TOPIC_MAX

INT64_MAX: Final = 2**63 - 1

Fields = Payload
"""An object within a payload, by Kafka's own field names. A caller reads each field with a function of this module."""

EMPTY: Final[Fields] = {}


def integer(value: object) -> int:
    """A whole number as Kafka's records can hold one; ``ValueError`` for anything else."""
    if type(value) is int and -INT64_MAX <= value <= INT64_MAX:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -INT64_MAX <= value <= INT64_MAX:
        return int(value)
    raise ValueError(f"{value!r} is not a number that a record can hold")


def partition_number(value: object) -> int:
    """A partition's number; ``ValueError`` for one that no topic can have."""
    number = integer(value)
    if 0 <= number < PARTITIONS_A_TOPIC_MAX:
        return number
    raise ValueError(
        f"partition {number:,} is none: numbers from 0 to {PARTITIONS_A_TOPIC_MAX - 1:,} are believed"
    )


def text(value: object) -> str | None:
    """A nullable string; whatever else a broken log holds there is shown as text."""
    return None if value is None else str(value)


def mapping(value: object) -> Fields:
    """An object's fields, none if it is something else."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    return EMPTY
