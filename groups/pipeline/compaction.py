"""What compaction took of a partition, from what each split of its files found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Final

from groups.pipeline.folding.context import Compaction
from groups.pipeline.reading.split_facts import HOLES_A_SPLIT_MOST, SplitFacts

SEGMENT_DIGITS: Final = 20
"""A segment is named by its base offset in so many digits."""

Ranges = list[tuple[int, int]]


def compaction_of(
    splits: Sequence[SplitFacts], files: Iterable[str], lost: Iterable[tuple[int, int]] = ()
) -> Compaction | None:
    """Of one partition; ``None`` where nothing is missing. ``missing`` is 0 where files overlap and have too many holes to compare.

    ``lost`` are offsets that are missing for another reason, which is known."""
    holes = [facts.holes for facts in splits if facts.holes is not None]
    if not holes:
        return None
    first, last = min(one[0] for one in holes), max(one[1] for one in holes)
    spans = [_span(facts) for facts in splits if facts.first_offset is not None]
    begin = min(one[0] for one in spans)
    # A segment keeps its name when the cleaner takes its first records.
    named = min((base for base in map(_base, files) if base is not None and base < begin), default=begin)
    covered = _length(_united(spans))
    if all(len(facts.hole_ranges) < HOLES_A_SPLIT_MOST for facts in splits):
        present = [one for facts in splits for one in _present(facts)]
        present += [(at, to) for at, to in lost if any(span[0] <= at and to <= span[1] for span in spans)]
        missing = covered - _length(_united(present))
        if not missing and named == begin:
            return None
    elif covered == _length(spans):
        missing = sum(one[2] for one in holes)
    else:
        return Compaction(min(first, named), last, 0, 0)
    return Compaction(
        first=min(first, named) if named < begin else first,
        last=last,
        missing=missing + begin - named,
        offsets=covered + begin - named,
    )


def _base(file: str) -> int | None:
    stem = PurePath(file).name.removesuffix(".log")
    return int(stem) if len(stem) == SEGMENT_DIGITS and stem.isdecimal() else None


def _span(facts: SplitFacts) -> tuple[int, int]:
    """From its first offset, or the first hole before it, to the last."""
    assert facts.first_offset is not None
    assert facts.last_offset is not None
    first = facts.first_offset if facts.holes is None else min(facts.first_offset, facts.holes[0])
    last = facts.last_offset if facts.holes is None else max(facts.last_offset, facts.holes[1])
    return first, last


def _present(facts: SplitFacts) -> Ranges:
    """Offsets that a split has, between its holes."""
    if facts.first_offset is None:
        return []
    at, last = _span(facts)
    found = []
    for first_missing, last_missing in sorted(facts.hole_ranges):
        if first_missing > at:
            found.append((at, first_missing - 1))
        at = max(at, last_missing + 1)
    return [*found, (at, last)] if at <= last else found


def _united(ranges: Ranges) -> Ranges:
    united: Ranges = []
    for first, last in sorted(ranges):
        if united and first <= united[-1][1] + 1:
            united[-1] = (united[-1][0], max(united[-1][1], last))
        else:
            united.append((first, last))
    return united


def _length(ranges: Ranges) -> int:
    return sum(last - first + 1 for first, last in ranges)
