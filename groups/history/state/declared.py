"""What a class declares, next to the types of its fields, of how ``groups.history.state.plain`` writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from typing import Final, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Named:
    """A field's name in the plain form; neighbours of one name are a list there."""

    name: str


@dataclass(frozen=True, slots=True)
class As:
    """A field that is written as a value of another type: what makes that of it, and it of that. An ``object`` is JSON as it is."""

    kind: object
    write: Callable[..., object]
    read: Callable[..., object]


class Rows:
    """``{("foo", 2): Stop(…)}`` as ``[["foo", 2, …]]``."""


ROWS: Final = Rows()

DOCUMENTS: Final[set[type]] = set()
"""Classes that are a ``document``, and those that are a ``row``."""
LISTED: Final[set[type]] = set()


def document(of: type[T]) -> type[T]:
    """A dataclass all of whose fields are written, and demanded when it is read."""
    assert is_dataclass(of), of
    DOCUMENTS.add(of)
    return of


def row(of: type[T]) -> type[T]:
    """A dataclass that is written as the list of its fields."""
    assert is_dataclass(of), of
    LISTED.add(of)
    return of
