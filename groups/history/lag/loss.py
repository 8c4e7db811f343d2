"""Records that were deleted before a group read them: the log's first offset went beyond the committed one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from groups.history.lag.partition import Commit


class Loss(NamedTuple):
    """``at_ms``: the look that first found records deleted; ``records``: those of all commits that were overtaken."""

    at_ms: int
    records: int


def loss_of(committed: Sequence[Commit], times_ms: Sequence[int], starts: Sequence[int]) -> Loss | None:
    """What one partition lost, of the log's first offset at each time; null where it lost nothing.

    A start that falls is that of another log, and no loss.
    """
    least = min((one.offset for one in committed if one.offset is not None and one.offset >= 0), default=None)
    if least is None or max(starts, default=0) <= least:
        return None
    at_ms, records = None, 0
    for number, one in enumerate(committed):
        until_ms = committed[number + 1].at_ms if number + 1 < len(committed) else 2**63
        first, last = (min(len(starts), bisect_left(times_ms, at)) for at in (one.at_ms, until_ms))
        if one.offset is None or one.offset < 0:
            continue
        most = one.offset
        for place in range(first, last):
            if 0 <= starts[place] < (starts[place - 1] if place > first else 0):
                break
            if starts[place] > most:
                at_ms, most = at_ms if at_ms is not None else times_ms[place], starts[place]
        records += most - one.offset
    return Loss(at_ms, records) if at_ms is not None else None
