"""Epochs over time: the group's epoch, the assignment's, and each member's, as Plotly JSON.

Every trace is a staircase: ``x`` in milliseconds of the source's clock, ``y`` an epoch (``None`` where the member is
gone), ``customdata`` the sequence of the entry that changed it, so that a click can go there. Traces are distinguished
by ``meta``: ``{"line": "group"}``, ``{"line": "assignment"}``, ``{"line": "member", "member": id}``. The page gives
the colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypedDict

from groups.history.frames.changes import Change
from groups.history.frames.shapes import Frame

MEMBERS_MOST: Final = 24
"""More lines than this cannot be distinguished; beyond, one line shows the member that is farthest behind."""

POINTS_MOST: Final = 20_000
"""Points of the whole figure; the newest are kept. A browser draws about this many without a pause."""

CLOCK_FROM_MS: Final = 365 * 24 * 3600 * 1000
"""A simulation counts from 0, a log from 1970: what lies beyond its first year is a date."""

FROM_ZERO_UP_TO: Final = 10
"""A group whose lines begin higher has an axis of its own range: its steps would be lost above the empty part."""

TICKS_MOST: Final = 8
"""So few epochs have a tick each; left alone, Plotly would put ticks at halves and write each number twice."""

LEFT_PX: Final = 44
LEFT_DIGITS: Final = 3
"""Room for labels of so many digits, and ``DIGIT_PX`` for each digit more."""

DIGIT_PX: Final = 8


class Trace(TypedDict):
    """A staircase, by Plotly's names."""

    type: str
    mode: str
    name: str
    x: list[int]
    y: list[int | None]
    customdata: list[int]
    line: dict[str, str | float]
    hovertemplate: str
    meta: dict[str, str]


class Figure(TypedDict):
    """``layout`` is Plotly's own, and read by nobody else."""

    data: list[Trace]
    layout: dict[str, object]


@dataclass(frozen=True, slots=True)
class Point:
    """``epoch`` holds from ``at_ms`` on; ``None``: there is nobody any more."""

    at_ms: int
    epoch: int | None
    sequence: int


@dataclass(slots=True, kw_only=True)
class Epochs:
    """The staircases of one timeline, in the order of its sequences."""

    classic: bool = False
    group: list[Point] = field(default_factory=list)
    assignment: list[Point] = field(default_factory=list)
    members: dict[str, list[Point]] = field(default_factory=dict)
    behind: list[Point] = field(default_factory=list)
    end_ms: int | None = None


def collect(chunks: Iterable[tuple[Frame, Sequence[Change]]]) -> Epochs:
    """The staircases from a timeline's chunks: the frame that begins each, and its changes in order.

    Only the parts of changes that hold an epoch are looked at, so a chunk costs one pass over its changes.
    """
    epochs = Epochs()
    now: dict[str, int] = {}
    for index, (frame, changes) in enumerate(chunks):
        at_ms = frame["at_ms"]
        if index == 0:
            _begin(epochs, frame, now)
        for sequence, group in _by_sequence(changes):
            at_ms = next((c["new"] for c in group if c["path"] == ["at_ms"] and "new" in c), at_ms)
            touched = False
            for change in group:
                touched |= _take(epochs, change, at_ms, sequence, now)
            if touched:
                _add(epochs.behind, at_ms, min(now.values(), default=None), sequence)
        epochs.end_ms = at_ms
    return epochs


def figure(epochs: Epochs) -> Figure:
    """Plotly JSON: ``data`` and ``layout``; no data where no epoch was seen."""
    lines: list[tuple[str, str | None, str, list[Point]]] = [
        ("group", None, "generation" if epochs.classic else "group epoch", epochs.group)
    ]
    if not epochs.classic:
        lines.append(("assignment", None, "assignment epoch", epochs.assignment))
        if len(epochs.members) <= MEMBERS_MOST:
            lines += [("member", member, member, points) for member, points in epochs.members.items()]
        else:
            lines.append(("behind", None, "the member farthest behind", epochs.behind))
    drawn = [line for line in lines if any(point.epoch is not None for point in line[3])]
    budget = POINTS_MOST // max(1, len(drawn))
    data = [_trace(*line, end_ms=epochs.end_ms, budget=budget) for line in drawn]
    first = next((point.at_ms for point in epochs.group), 0)
    dates = first > CLOCK_FROM_MS
    seen = [epoch for trace in data for epoch in trace["y"] if epoch is not None]
    lowest, highest = min(seen, default=0), max(seen, default=0)
    from_zero = lowest <= FROM_ZERO_UP_TO
    few = highest - (0 if from_zero else lowest) <= TICKS_MOST
    layout: dict[str, object] = {
        "margin": {"l": _left_px(highest), "r": 14, "t": 8, "b": 38},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": {"type": "date" if dates else "linear", "title": {"text": "" if dates else "seconds"}},
        "yaxis": {
            "title": {"text": "generation" if epochs.classic else "epoch"},
            "rangemode": "tozero" if from_zero else "normal",
            "tickformat": "d",
        }
        | ({"dtick": 1} if few else {}),
    }
    return {"data": data, "layout": layout}


def _left_px(highest: int) -> int:
    """How far the figure is from the left edge, so that the label of its highest epoch is whole."""
    return LEFT_PX + DIGIT_PX * max(0, len(str(highest)) - LEFT_DIGITS)


def _begin(epochs: Epochs, frame: Frame, now: dict[str, int]) -> None:
    sequence, at_ms = frame["sequence"], frame["at_ms"]
    epochs.classic = "generation" in frame
    if frame["members"]:
        _add(epochs.group, at_ms, frame.get("group_epoch", frame.get("generation")), sequence)
        _add(epochs.assignment, at_ms, frame.get("assignment_epoch"), sequence)
    for member, state in frame["members"].items():
        _member(epochs, member, state.get("epoch"), at_ms, sequence, now)
    if now:
        _add(epochs.behind, at_ms, min(now.values()), sequence)


def _take(epochs: Epochs, change: Change, at_ms: int, sequence: int, now: dict[str, int]) -> bool:
    """Note an epoch that a change holds; whether it was a member's."""
    path, new = change["path"], change.get("new")
    if path == ["group_epoch"] or path == ["generation"]:
        epochs.classic = path == ["generation"] if new is not None else epochs.classic
        if new is not None:
            _add(epochs.group, at_ms, new, sequence)
    elif path == ["assignment_epoch"]:
        if new is not None:
            _add(epochs.assignment, at_ms, new, sequence)
    elif path[0] == "members" and len(path) == 2:
        epoch = new.get("epoch") if isinstance(new, Mapping) else None
        _member(epochs, path[1], epoch, at_ms, sequence, now)
        return True
    elif path[0] == "members" and len(path) == 3 and path[2] == "epoch":
        _member(epochs, path[1], new, at_ms, sequence, now)
        return True
    return False


def _member(
    epochs: Epochs, member: str, epoch: int | None, at_ms: int, sequence: int, now: dict[str, int]
) -> None:
    if epoch is None:
        now.pop(member, None)
        if member not in epochs.members:
            return
    else:
        now[member] = epoch
    _add(epochs.members.setdefault(member, []), at_ms, epoch, sequence)


def _add(points: list[Point], at_ms: int, epoch: int | None, sequence: int) -> None:
    # Of one moment the last value counts: the records of a request pass through states that never existed.
    if points and points[-1].at_ms == at_ms:
        points.pop()
    if points and points[-1].epoch == epoch:
        return
    points.append(Point(at_ms, epoch, sequence))


def _by_sequence(changes: Sequence[Change]) -> Iterable[tuple[int, list[Change]]]:
    group: list[Change] = []
    for change in changes:
        if group and group[0]["sequence"] != change["sequence"]:
            yield group[0]["sequence"], group
            group = []
        group.append(change)
    if group:
        yield group[0]["sequence"], group


def _trace(
    line: str, member: str | None, name: str, points: Sequence[Point], *, end_ms: int | None, budget: int
) -> Trace:
    kept = points[-budget:]
    # A static member that left for now is at epoch -2, which is a word and no height: the line pauses.
    y = [point.epoch if point.epoch is None or point.epoch >= 0 else None for point in kept]
    x = [point.at_ms for point in kept]
    sequences = [point.sequence for point in kept]
    if end_ms is not None and y[-1] is not None and end_ms > x[-1]:
        # The last step reaches to the end of the timeline.
        x, y, sequences = [*x, end_ms], [*y, y[-1]], [*sequences, sequences[-1]]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "customdata": sequences,
        "line": {
            "shape": "hv",
            "width": 2.5 if line == "group" else 1.6,
            "dash": "dot" if line == "assignment" else "solid",
        },
        "hovertemplate": "%{fullData.name}: %{y}<extra></extra>",
        "meta": {"line": line} | ({"member": member} if member is not None else {}),
    }
