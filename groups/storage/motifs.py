"""The motifs of a stored timeline (``groups.history.digests.motifs``)."""

from __future__ import annotations

from typing import Final, TypedDict

from groups.history.digests.levels import window
from groups.history.digests.motifs import Motif, motifs_of
from groups.models import Timeline
from groups.storage.committed import COMMITS_WITHIN
from groups.storage.courses import FINE
from groups.storage.digests import Wanted
from groups.storage.logs import log_of
from groups.storage.names import named_summary
from groups.storage.timeline_reader import summary

MOTIFS_MOST: Final = 1_000
"""Of one answer, the newest."""


class Motifs(TypedDict):
    """Of the entries from ``first`` on, in order. ``left_out``: earlier ones. ``is_known`` is false where the entries are still being read: ask again."""

    first: int
    is_known: bool
    motifs: list[Motif]
    left_out: int


def motifs(timeline: Timeline) -> Motifs:
    """Of the last ``COMMITS_WITHIN`` entries."""
    first = max(1, timeline.last - COMMITS_WITHIN)
    digest = log_of(timeline).digest(first, timeline.last, FINE, Wanted(members=True, partitions=True))
    found: list[Motif] = []
    is_known = digest is None or not any(digest.columns.unknown)
    if digest is not None and is_known:
        known = named_summary(summary(timeline), timeline.topic_names)
        members = {member["id"]: member for member in known.get("cast") or ()}
        topics = {one["id"]: name for name, one in (known.get("topics") or {}).items() if one.get("id")}
        found = motifs_of(window(digest, first, timeline.last), members, topics)
    left_out = max(0, len(found) - MOTIFS_MOST)
    return {"first": first, "is_known": is_known, "motifs": found[left_out:], "left_out": left_out}
