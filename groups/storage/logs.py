"""Where a timeline's entries stand: in packs, or in rows. Both are read in the same way."""

from __future__ import annotations

from groups.models import Timeline
from groups.storage.rows_log import RowsLog
from groups.storage.stored_log import StoredLog

Log = RowsLog | StoredLog


def log_of(timeline: Timeline) -> Log:
    return RowsLog(timeline) if timeline.index_place is None else StoredLog(timeline)
