"""Reads a file of entries and events that texts made (``entry_lines``): a block for each group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import xxhash

from groups.pipeline.reading.entry_lines import entry_of
from groups.pipeline.reading.group_blocks import COMMIT, GroupBlock, Tables
from groups.pipeline.reading.rows import Row, Wanted
from groups.pipeline.reading.split_reading import SplitReading

BLOCK_LINES: Final = 10_000
"""Lines of one group that are handed on at once: some megabytes."""


class EntriesReading(SplitReading):
    """A file of such lines as blocks of its groups."""

    def rows(self, data: memoryview, wanted: Wanted) -> Iterator[Row]:
        waiting: dict[str, list[bytes]] = {}
        seen: dict[str, list[int]] = {}
        for line in bytes(data).splitlines():
            found = entry_of(line)
            if not wanted.has(found.group) or (wanted.until_ms is not None and found.at_ms > wanted.until_ms):
                continue
            self.facts.read += 1
            self.facts.decoded += 1
            count, first, last = seen.get(found.group, (0, found.at_ms, found.at_ms))
            seen[found.group] = [count + 1, min(first, found.at_ms), max(last, found.at_ms)]
            lines = waiting.setdefault(found.group, [])
            lines.append(line)
            if len(lines) >= BLOCK_LINES:
                yield self._block(found.group, waiting.pop(found.group))
        for group, lines in waiting.items():
            yield self._block(group, lines)
        self.facts.groups = {group: [*some, []] for group, some in seen.items()}
        self.facts.group_hashes = [xxhash.xxh3_64_intdigest(group.encode()) >> 1 for group in seen]
        yield self.last_row()

    def _block(self, group: str, lines: list[bytes]) -> Row:
        block = GroupBlock(
            group, None, self.split.source, self.number, np.empty(0, COMMIT), Tables(), [], lines
        )
        return self.row("block", block.pack(), group=group, first=-1, records=len(lines))
