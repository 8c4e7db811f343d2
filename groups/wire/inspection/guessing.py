"""Which kind bytes are, by trying them all.

A kind that reads every byte is before one that does not; among those, the one whose values look like what
brokers and clients write: names of printable letters, numbers of an ordinary size, times of this century. Kinds
that are often met have an advantage (``Kind.prior``). It is a guess, and is marked as one; and where nothing in the values
speaks for it (four bytes are a number, whatever they are) it is not even ``likely``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.schema import UNKNOWN_TAGS
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import RecordError
from groups.wire.inspection.kinds import Kind, kinds
from groups.wire.inspection.nodes import Problem

MOST_GUESSED_BYTES: Final = 1024 * 1024
"""Longer bytes are tried as a batch and as a segment alone: no record of a coordinator is longer by default."""

MOST_VALUES: Final = 2_000
"""Values that are looked at to judge how plausible a reading is."""

LATER_MOST: Final = 10
"""Versions beyond those that are known, of bytes to which newer ones append: in ten years there was one every three
years. A higher number is chance, and what lies behind the known fields is not taken for what was appended."""

EVIDENCE_LEAST: Final = 1.0
"""From here on a reading is plausible: two letters of a name, or a time of this century. Of random bytes that any kind
reads to the end (one length in two does not occur at all), none comes above 0."""

_YEAR_2000_MS: Final = 946_684_800_000
_YEAR_2100_MS: Final = 4_102_444_800_000
_LARGE: Final = 1 << 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """A kind that was tried: how far it was read, and what was in the way."""

    kind: str
    title: str
    version: int | None
    read: int
    whole: bool
    """Whether it reads every byte, but for those that a later version appended."""
    likely: bool
    """Whether more than the lengths speaks for it."""
    problem: Problem | None
    score: float

    def to_json(self) -> Fields:
        out: Fields = {
            "kind": self.kind,
            "title": self.title,
            "version": self.version,
            "read": self.read,
            "whole": self.whole,
            "likely": self.likely,
        }
        if self.problem is not None:
            out["problem"] = self.problem.to_json()
        return out


def guess(data: bytes) -> list[Guess]:
    """Every kind, the likeliest first; those that cannot read the bytes to the end come last, with the reason."""
    likely = [kind for kind in kinds().values() if not kind.by_name_only]
    if len(data) > MOST_GUESSED_BYTES:
        likely = [kinds()[name] for name in ("batch", "segment")]
    tried = [_tried(kind, data) for kind in likely if not kind.last_resort]
    if not any(each.whole for each in tried):
        tried += [_tried(kind, data) for kind in likely if kind.last_resort]
    # Of kinds that do not read every byte, one that gets through most of them scores higher than one that ends after four.
    half = len(data) / 2

    def order(each: Guess) -> tuple[bool, bool, bool, float]:
        is_far = each.whole or each.read >= half
        return not each.whole, not is_far, not is_far and each.problem is not None, -each.score

    return sorted(tried, key=order)


def _tried(kind: Kind, data: bytes) -> Guess:
    version: int | None = None
    problem: Problem | None = None
    score, evidence = float(kind.prior), 0.0
    read = 0
    later = False
    try:
        version, value, read = kind.layout.read(data, None)
    except RecordError as error:
        read = error.offset or 0
        score += 12 * read / max(len(data), 1)
        problem = Problem(sentence=error.sentence, offset=error.offset, path=".".join(error.path))
    else:
        evidence = _plausibility(value)
        # Of those that leave bytes behind them, the one that leaves fewer.
        score += evidence + 12 * read / max(len(data), 1)
        if read < len(data) and not kind.layout.appends:
            problem = Problem(
                sentence=f"the fields end here, the bytes go on for {len(data) - read} more", offset=read
            )
        if kind.layout.appends and version is not None and kind.layout.versions:
            beyond = version - kind.layout.versions[-1]
            later = 0 < beyond <= LATER_MOST
            score -= 4 if beyond > 0 else 0
    whole = problem is None and (read == len(data) or later)
    return Guess(
        kind=kind.name,
        title=kind.title,
        version=version,
        read=read,
        whole=whole,
        likely=whole and (kind.is_checked or (not kind.last_resort and evidence >= EVIDENCE_LEAST)),
        problem=problem,
        score=score,
    )


def _plausibility(value: object) -> float:
    """Between about -20 and 16."""
    letters = strange = odd = times = 0
    for count, (name, leaf) in enumerate(_leaves(value)):
        if count >= MOST_VALUES:
            break
        if name == UNKNOWN_TAGS:
            odd += 3
        elif isinstance(leaf, str):
            if leaf.isascii() and leaf.isprintable():
                letters += len(leaf)
            else:
                strange += 1
        elif isinstance(leaf, int) and not isinstance(leaf, bool):
            odd += _oddness(name, leaf)
            times += _is_timestamp(name) and _YEAR_2000_MS < leaf < _YEAR_2100_MS
    # Eight bytes are a time of this century by chance once in millions: what reads them as one is right.
    return min(letters, 24) / 2 + 4 * min(times, 1) - min(strange * 8, 20) - min(odd, 10)


def _is_timestamp(name: str) -> bool:
    return name.endswith(("imestamp", "imestampMs"))


def _oddness(name: str, number: int) -> int:
    if _is_timestamp(name):
        return 0 if number < 0 or _YEAR_2000_MS < number < _YEAR_2100_MS else 4
    if name == "metadataHash" or "Offset" in name or name == "offset":
        return 0
    return 3 if number < -2 or abs(number) > _LARGE else 0


def _leaves(value: Value, name: str = "") -> Iterator[tuple[str, Value]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == UNKNOWN_TAGS:
                yield key, None
            else:
                yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    else:
        yield name, value
