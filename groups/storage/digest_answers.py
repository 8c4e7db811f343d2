"""What the map asks: members, partitions or the group, of a window, in as many columns as are wanted."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Any, Final, Literal, TypedDict

import orjson

from groups.history.digests import coarsened, window
from groups.history.digests.digest_json import (
    GroupAnswer,
    MemberAnswer,
    PartitionAnswer,
    group_answer,
    member_answer,
    partition_answer,
)
from groups.models import Timeline
from groups.storage.digests import Wanted
from groups.storage.logs import log_of
from groups.storage.names import named
from groups.storage.timeline_reader import version

Kind = Literal["members", "partitions", "group"]

COLUMNS_MOST: Final = 4_000
"""Columns of one answer: twice the dots that a wide screen has side by side."""

ANSWERS_KEPT: Final = 48
"""Answers in memory: what a few people look at. One is some hundred kilobytes."""

_WANTED: Final = {
    "members": Wanted(members=True, partitions=False),
    "partitions": Wanted(members=False, partitions=True),
    "group": Wanted(members=True, partitions=True),
}

_kept: OrderedDict[tuple[Any, ...], bytes] = OrderedDict()
_lock = Lock()


DigestWindow = TypedDict("DigestWindow", {"from": int, "to": int, "exact": bool})


class MemberDigest(DigestWindow, MemberAnswer):
    """``exact``: each moment of the window is a column of its own."""


class PartitionDigest(DigestWindow, PartitionAnswer):
    """``exact``: each moment of the window is a column of its own."""


class GroupDigest(DigestWindow, GroupAnswer):
    """``exact``: each moment of the window is a column of its own."""


def digest_answer(
    timeline: Timeline, of: Kind, first: int, last: int, columns: int, topics: list[str] | None = None
) -> tuple[bytes, bool]:
    """JSON text, and whether it stays what it is: nothing is unknown in it, and nothing can be added."""
    last = min(last, timeline.last)
    key = (timeline.pk, version(timeline), timeline.last, of, first, last, columns, tuple(topics or ()))
    with _lock:
        if (text := _kept.get(key)) is not None:
            _kept.move_to_end(key)
            return text, timeline.status != Timeline.Status.RUNNING
    found = log_of(timeline).digest(first, last, columns, _WANTED[of])
    if found is None:
        return b"null", False
    cut = window(found, first, last)
    exact = not any(cut.columns.unknown) and all(moments <= 1 for moments in cut.columns.moments)
    shown = coarsened(cut, columns)
    place: DigestWindow = {
        "from": first,
        "to": last,
        "exact": exact and len(shown.columns) == len(cut.columns),
    }
    answer: MemberDigest | PartitionDigest | GroupDigest
    if of == "members":
        answer = {**place, **member_answer(shown)}
    elif of == "partitions":
        answer = {**place, **partition_answer(shown, topics)}
    else:
        answer = {**place, **group_answer(shown)}
    text = orjson.dumps(named(answer, timeline.topic_names))
    whole = not any(cut.columns.unknown)
    if whole:
        with _lock:
            _kept[key] = text
            while len(_kept) > ANSWERS_KEPT:
                _kept.popitem(last=False)
    return text, whole and timeline.status != Timeline.Status.RUNNING
