"""A timeline as a small picture: a row for each partition, a column for each step. Pure: frames to SVG.

The grammar is the board's: a solid bar in the colour of its owner, hatched while it is given up, a thin line where
nobody owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

from groups.history.frames.shapes import Frame

WIDTH: Final = 180
HEIGHT: Final = 84

STEPS_MOST: Final = 60
"""More columns than this would be narrower than three pixels: a long timeline is sampled evenly."""

ROWS_MOST: Final = 24
"""More rows than this would be thinner than their gaps: the first ones stand for the rest."""

HUES: Final = 6
"""As many members have a colour of their own, by the order of joining; the page has the same rule."""

Holder = tuple[str, bool]
"""Who holds a partition, and whether it is being given up."""


def thumbnail(frames: Sequence[Frame], cast: Sequence[str]) -> str:
    """An SVG of the ownership in ``frames``, one per step; ``cast`` is the members' names in order of joining.

    ``""`` where nobody ever owns anything.
    """
    shown = sampled(frames, STEPS_MOST)
    owners = [owners_of(frame) for frame in shown]
    rows = sorted({key for owned in owners for key in owned})[:ROWS_MOST]
    if not rows or not shown:
        return ""
    hues = _hues(cast)
    row_height, column_width = HEIGHT / len(rows), WIDTH / len(shown)
    parts: list[str] = []
    for number, key in enumerate(rows):
        y = number * row_height + 1
        for holder, first, count in _runs([owned.get(key) for owned in owners]):
            parts.append(
                _bar(
                    holder,
                    hues,
                    x=first * column_width,
                    y=y,
                    width=count * column_width,
                    height=row_height - 2,
                )
            )
    return (
        f'<svg class="thumb" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" height="{HEIGHT}" '
        f'preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'
    )


def sampled(frames: Sequence[Frame], most: int) -> Sequence[Frame]:
    """All, or so many of them at even distances."""
    if len(frames) <= most:
        return frames
    return [frames[index * (len(frames) - 1) // (most - 1)] for index in range(most)]


def owners_of(frame: Frame) -> dict[tuple[str, int], Holder]:
    """Who holds each partition."""
    owners: dict[tuple[str, int], Holder] = {}
    clients = frame["clients"] or {}
    for member, state in frame["members"].items():
        for key in _keys(state.get("assigned")):
            owners[key] = (member, False)
        client = clients.get(member)
        revoking = client["revoking"] if client else None
        for key in (*_keys(state.get("pending_revocation")), *_keys(revoking)):
            owners[key] = (member, True)
    return owners


def _keys(partitions: Mapping[str, Sequence[int]] | None) -> Iterable[tuple[str, int]]:
    return ((topic, number) for topic, numbers in (partitions or {}).items() for number in numbers)


def _runs(holders: Sequence[Holder | None]) -> Iterable[tuple[Holder | None, int, int]]:
    """Equal neighbours as one: who, from which column, how many."""
    first = 0
    for index in range(1, len(holders) + 1):
        if index == len(holders) or holders[index] != holders[first]:
            yield holders[first], first, index - first
            first = index


def _hues(cast: Sequence[str]) -> dict[str, str]:
    """Hue by member; ``A~2`` is A again, in its lane and colour."""
    lanes: dict[str, str] = {}
    hues: dict[str, str] = {}
    for member in cast:
        lane = member.split("~")[0]
        lanes.setdefault(lane, str(len(lanes)) if len(lanes) < HUES else "x")
        hues[member] = lanes[lane]
    return hues


def _bar(
    holder: Holder | None, hues: Mapping[str, str], *, x: float, y: float, width: float, height: float
) -> str:
    if holder is None:
        return (
            f'<rect class="none" x="{x:.1f}" y="{y + height / 2 - 0.5:.1f}" width="{width:.1f}" height="1"/>'
        )
    member, going = holder
    hue = escape(hues.get(member, "x"))
    kind = "going" if going else "own"
    bar = f'<rect class="{kind}" x="{x - 0.2:.1f}" y="{y:.1f}" width="{width + 0.4:.1f}" height="{height:.1f}"/>'
    if going:
        strokes = "".join(
            f"M{x + offset:.1f} {y + height:.1f}L{min(x + offset + 6, x + width):.1f} {y:.1f}"
            for offset in range(0, max(1, int(width)), 6)
        )
        bar += f'<path class="hatch" d="{strokes}"/>'
    return f'<g data-hue="{hue}">{bar}</g>'
