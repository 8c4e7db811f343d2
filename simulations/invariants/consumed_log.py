"""One partition that gets records at a rate, as the rules have it: who reads it from where, and what that costs.

A model of its own, read by read: each reader goes from where it is to the end of the log, and what of that lies below the
furthest record that anybody had read was read before. What replaying a run's notes gives is held against it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

SECOND_MS: Final = 1_000


@dataclass(slots=True)
class Stint:
    """A reader: where it is, and whether it gets more."""

    position: int
    fetches: bool


@dataclass(slots=True)
class ConsumedLog:
    """``furthest``: up to where anybody has read; ``None`` until somebody has. ``reached``: where each reader ever began, and came to."""

    rate: int
    begin_ms: int
    begin_offset: int = 0
    furthest: int | None = None
    readers: dict[str, Stint] = field(default_factory=dict)
    reached: dict[str, tuple[int, int]] = field(default_factory=dict)
    read_twice: int = 0
    skipped: int = 0
    gaps_ms: int = 0
    longest_gap_ms: int = 0
    gap_since_ms: int | None = None
    over_ms: int | None = None
    """When its topic was deleted."""

    def end(self, at_ms: int) -> int:
        """The offset of the record that is written next."""
        return self.begin_offset + (at_ms - self.begin_ms) * self.rate // SECOND_MS

    def lag(self, at_ms: int) -> int:
        """Written, and read by nobody."""
        if (
            self.over_ms is not None
            or self.furthest is None
            or any(stint.fetches for stint in self.readers.values())
        ):
            return 0
        return self.end(at_ms) - self.furthest

    def gap_ms(self, at_ms: int) -> int:
        """How long nobody fetched it, from its first reader or, of an added partition, from its first record on."""
        return self.gaps_ms + self._open_ms(at_ms)

    def longest_ms(self, at_ms: int) -> int:
        """The longest gap."""
        return max(self.longest_gap_ms, self._open_ms(at_ms))

    def _open_ms(self, at_ms: int) -> int:
        """The gap that is not over."""
        until_ms = at_ms if self.over_ms is None else self.over_ms
        return 0 if self.gap_since_ms is None else until_ms - self.gap_since_ms

    def advance(self, at_ms: int) -> None:
        """Each member that fetches reads all that is written by then, one after another."""
        end = self.end(at_ms)
        for who, stint in self.readers.items():
            if stint.fetches and stint.position < end:
                self._reads(stint.position, end)
                stint.position = end
                began, _ = self.reached[who]
                self.reached[who] = began, end

    def begins(self, who: str, at_ms: int, committed: int | None, *, fetches: bool) -> None:
        """``who`` has it at hand from here on: from the committed offset, or without one from the end of the log."""
        self.advance(at_ms)
        end = self.end(at_ms)
        position = end if committed is None else committed
        # A commit of more than was written here: the log was longer from the beginning.
        self.begin_offset += max(position - end, 0)
        furthest = position if self.furthest is None else self.furthest
        self.skipped += max(position - furthest, 0)
        self.furthest = max(furthest, position)
        self.readers[who] = Stint(position, fetches)
        began, came = self.reached.get(who, (position, position))
        self.reached[who] = min(began, position), max(came, position)
        self._look(at_ms)
        self.advance(at_ms)

    def goes_on(self, who: str, at_ms: int, *, fetches: bool) -> None:
        self.advance(at_ms)
        self.readers[who].fetches = fetches
        self._look(at_ms)
        self.advance(at_ms)

    def leaves(self, who: str, at_ms: int) -> None:
        self.advance(at_ms)
        self.readers.pop(who, None)
        self._look(at_ms)

    def _look(self, at_ms: int) -> None:
        """A gap ends with the first that fetches, and begins where the last one stops."""
        fetched = any(stint.fetches for stint in self.readers.values())
        if fetched and self.gap_since_ms is not None:
            gap_ms, self.gap_since_ms = self._open_ms(at_ms), None
            self.gaps_ms += gap_ms
            self.longest_gap_ms = max(self.longest_gap_ms, gap_ms)
        elif not fetched and self.gap_since_ms is None:
            self.gap_since_ms = at_ms

    def closes(self, at_ms: int) -> None:
        """Its topic is gone: what it cost stays counted, and its lag is over."""
        self.advance(at_ms)
        self.readers.clear()
        self.over_ms = at_ms

    def renamed(self, former: str, who: str) -> None:
        """The same process under another id: what it sent before goes on under the former one."""
        if former in self.readers:
            self.readers[who] = self.readers.pop(former)
            self.reached[who] = self.reached[former]

    def _reads(self, start: int, end: int) -> None:
        assert self.furthest is not None
        self.read_twice += max(min(end, self.furthest) - start, 0)
        self.furthest = max(self.furthest, end)
