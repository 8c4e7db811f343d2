"""What every folding task knows: it is made on the driver from what the reading tasks found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from groups.pipeline.reading.transactions import Ends, Log
from groups.pipeline.topics.facts import Known


@dataclass(frozen=True, slots=True, kw_only=True)
class LostOffsets:
    """Offsets of a partition that could not be read or were not given."""

    from_offset: int
    to_offset: int
    reason: str


class Compaction(NamedTuple):
    """What compaction took of a partition: ``missing`` of its ``offsets``, the first and the last of them."""

    first: int
    last: int
    missing: int
    offsets: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierTimeline:
    """A stored timeline of a group: a log that begins with its entries continues it."""

    id: str
    entries: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """``lost`` and ``compacted`` are by partition (None: files of an unknown partition).

    ``store`` is the URL of the files, ``folder`` the part of it that this import writes to.
    """

    known: Known
    store: str
    folder: str
    rights: str = "owner"
    """Who may read what is written: a name of ``groups.packs.files.RIGHTS``."""

    lost: Mapping[int | None, tuple[LostOffsets, ...]] = field(default_factory=dict)
    compacted: Mapping[int | None, Compaction] = field(default_factory=dict)
    leaders: Mapping[int | None, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    """By partition, from which offsets on another leader wrote, each with its epoch."""
    files: tuple[str, ...] = ()
    ends: Mapping[Log, Ends] = field(default_factory=dict)
    earlier: Mapping[str, tuple[EarlierTimeline, ...]] = field(default_factory=dict)
    """By the group's name as it is listed (``listed_summary.listed_name``)."""
    settings: Mapping[str, int] = field(default_factory=dict)
    """Of the groups' consumers, by Kafka's names, as somebody gave them."""
    resume: str = ""
    """The key of what the next attempt may take over (``finished.key_of``); empty: nothing is kept for it."""
    finished: frozenset[str] = frozenset()
    """Groups that an earlier attempt has finished."""
    from_ms: int | None = None
    """Groups of which nothing is later than this are left out."""


def log_of(partition: int | None, source: int) -> Log:
    """Files of an unknown partition are logs of their own."""
    return ("file", source) if partition is None else ("partition", partition)
