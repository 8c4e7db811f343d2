"""Keeps each part of the worlds once: a world is a few numbers, and what a part does is computed once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

from simulations.proof.exploration.canonical import EpochsSeen, Rename, ranks
from simulations.proof.exploration.state_layout import UNBORN


class Keyed(Protocol):
    """What can be distinguished by what decides its future."""

    def key(self, rename: Rename, /) -> Hashable: ...


T = TypeVar("T", bound=Keyed)


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
    """Parts by number, one of those that have the same key."""

    def __init__(self) -> None:
        self.parts: list[T] = []
        self.masks: list[int] = []
        self.own: list[int] = []
        """Number of each part's form with each epoch as its rank among the part's own: the same in all forms of a world."""
        self._own: dict[Hashable, int] = {}
        self.forms = AllForms(self)
        self._numbers: dict[Hashable, int] = {}
        self._canonical: dict[Hashable, int] = {}
        self._renamed: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.parts)

    def add(self, part: T) -> int:
        """The number of this part, or of one that is the same."""
        seen = EpochsSeen()
        key = part.key(seen)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.parts)
            self.parts.append(part)
            self.masks.append(seen.mask)
            own = part.key(ranks(seen.mask)) if seen.mask else key
            self.own.append(self._own.setdefault(own, len(self._own)))
        return number

    def canonical(self, number: int, mask: int) -> int:
        """The number of the part's form with each epoch as its rank in ``mask``."""
        own = self.masks[number]
        # Epochs above its own change no rank of its own.
        place = (number, mask & ((1 << own.bit_length()) - 1) if own else 0)
        renamed = self._renamed.get(place)
        if renamed is None:
            form = self.parts[number].key(ranks(mask))
            renamed = self._renamed[place] = self._canonical.setdefault(form, len(self._canonical))
        return renamed
