"""Rows: the one shape in which reading tasks hand on what they read, distinguished by ``kind``.

===== =========================================================================================================
block  records of one group from one stretch of a file, packed (``group_blocks``); ``first`` is its first batch
topic  a record of the cluster metadata log about a topic; ``payload`` is it as JSON
facts  what the split held besides records (``split_facts``)
times  how long a task read and decoded (``times``), as JSON
===== =========================================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

ROW: Final = "kind string, group string, partition int, source int, split int, first long, records long, payload binary"
"""The rows' schema in Spark's words."""


class Row(NamedTuple):
    """See the module. ``split`` is the split's number, ``source`` its file's."""

    kind: str
    group: str | None
    partition: int | None
    source: int
    split: int
    first: int | None
    records: int
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be read of a log: all of it, or some groups, up to a time."""

    groups: frozenset[str] | None = None
    until_ms: int | None = None

    def has(self, group: str) -> bool:
        return self.groups is None or group in self.groups


EVERYTHING: Final = Wanted()


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Rows turned into columns, which is the form Arrow takes."""
    turned = list(zip(*rows, strict=True)) if rows else [()] * len(Row._fields)
    return {name: list(values) for name, values in zip(Row._fields, turned, strict=True)}
