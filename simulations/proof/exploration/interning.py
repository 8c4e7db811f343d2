"""Keeps each part of the worlds once: a world is a few numbers, and what a part does is computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from simulations.proof.exploration.canonical import EpochsSeen, Rename, ranks
from simulations.proof.exploration.state_layout import UNBORN

T = TypeVar("T")

Key = Callable[[T, Rename], Hashable]


class Forms(dict[int, int]):
    """Number of a part → that of its form with each epoch as its rank in one mask."""

    def __init__(self, pool: Interner[T], mask: int) -> None:
        super().__init__({UNBORN: UNBORN})
        self._pool = pool
        self._mask = mask

    def __missing__(self, number: int) -> int:
        form = self[number] = self._pool.canonical(number, self._mask)
        return form


class AllForms(dict[int, Forms]):
    """Mask → forms."""

    def __init__(self, pool: Interner[T]) -> None:
        super().__init__()
        self._pool = pool

    def __missing__(self, mask: int) -> Forms:
        forms = self[mask] = Forms(self._pool, mask)
        return forms


class Interner(Generic[T]):
    """Parts by number; ``key(part, rename)`` is what decides a part's future."""

    def __init__(self, key: Key[T]) -> None:
        self.parts: list[T] = []
        self.masks: list[int] = []
        self.own: list[int] = []
        """Number of each part's form with each epoch as its rank among the part's own: the same in all forms of a world."""
        self._own: dict[Hashable, int] = {}
        self.forms = AllForms(self)
        self._key = key
        self._numbers: dict[Hashable, int] = {}
        self._canonical: dict[Hashable, int] = {}
        self._renamed: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.parts)

    def add(self, part: T) -> int:
        """The number of this part, or of one that is the same."""
        seen = EpochsSeen()
        key = self._key(part, seen)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.parts)
            self.parts.append(part)
            self.masks.append(seen.mask)
            self.own.append(self._own.setdefault(self._key(part, ranks(seen.mask)), len(self._own)))
        return number

    def canonical(self, number: int, mask: int) -> int:
        """The number of the part's form with each epoch as its rank in ``mask``."""
        own = self.masks[number]
        # Epochs above its own change no rank of its own.
        place = (number, mask & ((1 << own.bit_length()) - 1) if own else 0)
        renamed = self._renamed.get(place)
        if renamed is None:
            form = self._key(self.parts[number], ranks(mask))
            renamed = self._renamed[place] = self._canonical.setdefault(form, len(self._canonical))
        return renamed


class Pool(Generic[T]):
    """Parts by number, told apart by what ``key`` gives of them as they are."""

    def __init__(self, key: Callable[[T], Hashable]) -> None:
        self.parts: list[T] = []
        self._key = key
        self._numbers: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.parts)

    def add(self, part: T) -> int:
        """The number of this part, or of one that is the same."""
        key = self._key(part)
        number = self._numbers.setdefault(key, len(self.parts))
        if number == len(self.parts):
            self.parts.append(part)
        return number
