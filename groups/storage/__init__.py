"""How timelines are stored and read: what tasks, views, sockets and commands call.

* ``writing``: one writer per timeline, with a lease and the next sequence: runs, which grow;
* ``importing``: the rows of imported timelines, whose entries stand in packs (``groups.packs``);
* ``timeline_reader``: chunks, frames, changes and entries, bounded, of both;
* ``digests``, ``digest_answers``: what the map shows of a window;
* ``committed``: the committed offsets of partitions, as lines over time;
* ``offset_blocks``: where partitions end and start, and what polled groups have committed, over time;
* ``lag_sources``, ``courses``: what is known of a timeline's offsets over time, and who owned its partitions;
* ``lag``: the lag of a timeline's group, and what each rebalance cost;
* ``motifs``: what happened to the same member or partition several times;
* ``opened``: chunks of packs that were looked at, a cache; ``deleting``: what gives the disk back;
* ``names``: the topic names that a user gave, applied when shown;
* ``searching``: the search over timelines, by the words that are stored with each;
* ``thinning``: old rows of live groups, merged and compressed, with fewer commits;
* ``watched``: watch expressions, followed along a timeline;
* ``refolding``: the cache made again when the fold changed;
* ``errors``: what each of them refuses, in one line.
"""

from groups.history.entries import ENTRY_FORMAT
from groups.storage.chunk import Chunk
from groups.storage.committed import COMMITS_WITHIN, LINES_MOST, POINTS_MOST, committed_lines
from groups.storage.deleting import collect, delete, delete_all
from groups.storage.digest_answers import COLUMNS_MOST, digest_answer
from groups.storage.errors import (
    BadName,
    CannotOpen,
    LeaseLost,
    NoSuchTimeline,
    NotReady,
    SequenceGap,
    StorageError,
)
from groups.storage.lag import BY, lag_between, range_between
from groups.storage.motifs import motifs
from groups.storage.names import rename, set_topic_names
from groups.storage.offset_blocks import store_imported
from groups.storage.refolding import protocol_at_start, refold, stale, summary_at
from groups.storage.searching import found_in, matches
from groups.storage.thinning import thin
from groups.storage.timeline_reader import (
    bytes_of_runs,
    changes_after,
    chunk_text,
    chunks,
    describe,
    described,
    entries_before,
    entries_between,
    every_entry,
    frame_at,
    get,
    last_change,
    last_with_members,
    listing,
    members_most,
    metrics_at,
    summary,
    version,
)
from groups.storage.watched import newest_chunks, watched
from groups.storage.writing import (
    LEASE_S,
    Writer,
    cancel,
    create_timeline,
    forget_queue,
    interrupt,
    lost_timelines,
    new_id,
    open_writer,
    replace_timeline,
    requeue,
    why_it_waits,
)
