"""Reading fields of payloads: what is not of the kind that it should be is refused here, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

INT64_MAX: Final = 2**63 - 1

EMPTY: Final[Mapping[str, Any]] = {}


def integer(value: object) -> int:
    """A whole number as Kafka's records can hold one; ``ValueError`` for anything else."""
    if not isinstance(value, int) or isinstance(value, bool) or not -INT64_MAX <= value <= INT64_MAX:
        raise ValueError(f"{value!r} is not a number that a record can hold")
    return value


def text(value: object) -> str | None:
    """A nullable string; whatever else a broken log holds there is shown as text."""
    return None if value is None else str(value)


def mapping(value: object) -> Mapping[str, Any]:
    """An object's fields, none if it is something else."""
    return value if isinstance(value, Mapping) else EMPTY
