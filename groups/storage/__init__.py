"""How timelines are stored and read: what tasks, views, sockets and commands call.

* ``writing``: one writer per timeline, with a lease and the next sequence;
* ``reading``: chunks, frames, changes and entries, bounded;
* ``names``: the topic names that a user gave, applied when shown;
* ``refolding``: the cache made anew when the fold changed;
* ``errors``: what each of them refuses, in one line.
"""

from groups.history.entries import ENTRY_FORMAT
from groups.storage.errors import BadName, LeaseLost, NoSuchTimeline, NotReady, SequenceGap, StorageError
from groups.storage.names import set_topic_names
from groups.storage.reading import (
    Chunk,
    changes_after,
    chunk_text,
    chunks,
    describe,
    entries_before,
    entries_between,
    every_entry,
    frame_at,
    get,
    listing,
    metrics_at,
    version,
)
from groups.storage.refolding import protocol_at_start, refold, stale, summary_at
from groups.storage.writing import (
    LEASE_S,
    Writer,
    cancel,
    create_timeline,
    delete,
    forget_queue,
    interrupt,
    lost_timelines,
    new_id,
    open_writer,
    replace_timeline,
    requeue,
)

__all__ = [
    "ENTRY_FORMAT",
    "LEASE_S",
    "BadName",
    "Chunk",
    "LeaseLost",
    "NoSuchTimeline",
    "NotReady",
    "SequenceGap",
    "StorageError",
    "Writer",
    "cancel",
    "changes_after",
    "chunk_text",
    "chunks",
    "create_timeline",
    "delete",
    "describe",
    "entries_before",
    "entries_between",
    "every_entry",
    "forget_queue",
    "frame_at",
    "get",
    "interrupt",
    "listing",
    "lost_timelines",
    "metrics_at",
    "new_id",
    "open_writer",
    "protocol_at_start",
    "refold",
    "replace_timeline",
    "requeue",
    "set_topic_names",
    "stale",
    "summary_at",
    "version",
]
