"""Committed offsets over time: the line that rises while somebody reads a partition, and is flat where nobody does.

A line of a busy partition has more commits than a screen has dots, so it is shown by the first and the last commit of each of a
number of equal times: no flat part is lost that is longer than two of them, and its ends are those of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Final, NamedTuple

from groups.history.entries import EntryLine, Payload
from groups.wire.generated.classic import OFFSET_COMMIT

TopicPartition = tuple[str, int]
"""Topic and partition."""

_RECORD: Final = "record"
_COMMITS: Final = "commits"


class Committed(NamedTuple):
    """``at_ms`` is the commit's time; ``offset`` is ``None`` where the commit was deleted or has expired.

    ``between``: commits of the partition before this one that were thinned.
    """

    sequence: int
    at_ms: int
    offset: int | None
    between: int = 0


def committed_in(entries: Iterable[EntryLine]) -> Iterable[tuple[TopicPartition, Committed]]:
    """The commits among entries in their JSON form; what cannot be read is none."""
    for entry in entries:
        payload = entry["payload"]
        if entry["kind"] == _COMMITS:
            yield from _committed_in_columns(entry["sequence"], payload)
        if entry["kind"] != _RECORD:
            continue
        if payload.get("type") != OFFSET_COMMIT:
            continue
        key, value = payload.get("key"), payload.get("value")
        if not isinstance(key, dict) or not isinstance(key.get("partition"), int):
            continue
        offset = value.get("offset") if isinstance(value, dict) else None
        if value is None or isinstance(offset, int):
            yield (
                (str(key.get("topic")), key["partition"]),
                Committed(entry["sequence"], entry["at_ms"], offset),
            )


def _committed_in_columns(sequence: int, payload: Payload) -> list[tuple[TopicPartition, Committed]]:
    found: list[tuple[TopicPartition, Committed]] = []
    try:
        for line in payload["commits"]:
            place = str(line["topic"]), int(line["partition"])
            between = line.get("between") or repeat(0)
            for after_ms, offset, gone in zip(line["after_ms"], line["offsets"], between, strict=False):
                at_ms = payload["first_ms"] + after_ms
                found.append((place, Committed(sequence, at_ms, int(offset), int(gone))))
    except (LookupError, TypeError, ValueError, AttributeError):
        return []
    return found


def thinned(line: Sequence[Committed], columns: int) -> list[Committed]:
    """The first and the last commit of each of ``columns`` equal times between the first and the last of ``line``.

    Deletions stay: a line ends there. Times may run backwards (fail-over), which begins a column again.
    """
    if len(line) <= 2 * columns:
        return list(line)
    begin = min(one.at_ms for one in line)
    width = max(1, max(one.at_ms for one in line) - begin) / columns
    kept: list[Committed] = []
    column = -1
    for at, one in enumerate(line):
        here = min(columns - 1, int((one.at_ms - begin) / width))
        ends = at + 1 == len(line) or min(columns - 1, int((line[at + 1].at_ms - begin) / width)) != here
        if here != column or ends or one.offset is None:
            kept.append(one)
        column = here
    return kept
