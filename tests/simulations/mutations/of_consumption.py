"""Mistakes in how records are counted, in what a client reads, and in what ACLs keep from being written."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

REPLAY: Final = "groups/history/replay/consumption.py"
PROCESS: Final = "simulations/world/engine/process.py"
ACTIONS: Final = "simulations/world/engine/actions.py"
ACCESS: Final = "simulations/world/engine/access.py"
CLIENT_READING: Final = "simulations/protocol/client/consumer/fetched_partitions.py"

CONSUMING: Final = (
    _m(
        "new-records-read-twice",
        REPLAY,
        "read_twice=partition.read_twice + advanced - (end - partition.read),",
        "read_twice=partition.read_twice + advanced,",
        "records count as read twice that are read for the first time",
    ),
    _m(
        "committed-overlooked",
        REPLAY,
        "end if committed is None else committed\n",
        "end\n",
        "who is given a partition begins at the end of its log, whatever is committed",
    ),
    _m(
        "skipped-overlooked",
        REPLAY,
        "        skipped=partition.skipped + max(position - read, 0),\n",
        "",
        "records that a reader leaves out are not counted",
    ),
    _m(
        "gap-is-nothing",
        REPLAY,
        "        unread_ms=partition.unread_ms + length_ms,\n",
        "        unread_ms=partition.unread_ms,\n",
        "a gap between two readers is not counted once it is over",
    ),
    _m(
        "gap-never-begins",
        REPLAY,
        "        return replace(partition, unread_since_ms=at_ms) if waits else partition\n",
        "        return partition\n",
        "nobody notices that the last reader of a partition is gone",
    ),
    _m(
        "longest-gap-is-last",
        REPLAY,
        "unread_max_ms = max(unread_max_ms, new.unread_max_ms)",
        "unread_max_ms = new.unread_max_ms",
        "of the gaps of all partitions the last counts as the longest",
    ),
    _m(
        "lag-before-readers",
        REPLAY,
        "read = None if known is None else 0",
        "read = 0",
        "what was written before anybody read a topic counts as lag",
    ),
    _m(
        "lag-of-added-overlooked",
        REPLAY,
        "read = None if known is None else 0",
        "read = None",
        "what is written to a partition that was added is no lag until somebody reads it",
    ),
    _m(
        "greatest-lag-overlooked",
        REPLAY,
        "if lag > consumption.lag_max else consumption",
        "if lag < consumption.lag_max else consumption",
        "the greatest lag of the group is not kept",
    ),
    _m(
        "deleted-topic-cost-nothing",
        REPLAY,
        "costs = Sums(unread_ms=gone.unread_until(at_ms), read_twice=last.read_twice, skipped=last.skipped)",
        "costs = Sums(read_twice=last.read_twice, skipped=last.skipped)",
        "the time not read of a deleted topic is forgotten",
    ),
    _m(
        "commits-one-more",
        ACTIONS,
        "                    position = next_offset\n",
        "                    position = next_offset + 1\n",
        "a client commits a record that it has not read",
    ),
    _m(
        "commits-the-beginning",
        ACTIONS,
        "                    position = next_offset\n",
        "                    position = next_offset // 2\n",
        "a client commits less than where it began",
    ),
    _m(
        "paused-reads-on",
        PROCESS,
        "now.fetches and not self._paused and self.reaches()",
        "now.fetches and self.reaches()",
        "a paused process reads on",
    ),
    _m(
        "paused-forgets",
        PROCESS,
        "        if self.alive:\n            now = self",
        "        if self.alive and not self._paused:\n            now = self",
        "a paused process does not go on where it was",
    ),
    _m(
        "cut-off-reads-on",
        PROCESS,
        "not self._paused and self.reaches()",
        "not self._paused",
        "a process that is cut off reads on",
    ),
    _m(
        "killed-reads-on",
        PROCESS,
        "        if self.alive:\n            now = self",
        "        if self.host:\n            now = self",
        "a killed process reads on",
    ),
    _m(
        "reads-in-callback",
        CLIENT_READING,
        "return Reading(has, m.polls(now_ms), now_ms",
        "return Reading(has, now_ms >= m.busy_until_ms, now_ms",
        "a client fetches while it is in a callback",
    ),
    _m(
        "reads-before-handed-over",
        CLIENT_READING,
        "    for event in (*m.events, m.calling):\n",
        "    for event in m.events:\n",
        "a client reads what on_partitions_assigned has not handed over yet",
    ),
    _m(
        "denied-is-read",
        PROCESS,
        "denied = [topic for topic in names if not self.may_read(topic)]",
        "denied: list[str] = []",
        "a client reads a topic that it may not",
    ),
    _m(
        "denied-commit-written",
        ACCESS,
        "return replace(request, offsets=rest), answer",
        "return request, answer",
        "an offset is written of a topic that ACLs deny its sender",
    ),
)
