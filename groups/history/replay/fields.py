"""Reading fields of payloads: what is not of the kind that it should be is refused here, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

INT64_MAX: Final = 2**63 - 1

EMPTY: Final[Mapping[str, Any]] = {}


def integer(value: object) -> int:
    """A whole number as Kafka's records can hold one; ``ValueError`` for anything else."""
    if type(value) is int and -INT64_MAX <= value <= INT64_MAX:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -INT64_MAX <= value <= INT64_MAX:
        return int(value)
    raise ValueError(f"{value!r} is not a number that a record can hold")


def text(value: object) -> str | None:
    """A nullable string; whatever else a broken log holds there is shown as text."""
    return None if value is None else str(value)


def mapping(value: object) -> Mapping[str, Any]:
    """An object's fields, none if it is something else."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    return EMPTY
