"""A whole log segment: every batch that can be read, and a word on everything that cannot.

``read_batches`` goes from batch to batch and never stops at the first fault: damage is shown as a ``BatchProblem``,
and reading goes on at the next batch that can be recognised. Three endings are normal and marked so: a batch that is
cut short (the segment was still being written when it was copied), zeros to the end (a preallocated segment), and
nothing at all. ``.checkpoint`` files of ``__cluster_metadata`` have the same form.

How the next batch is found: by the length of the one before while that can be trusted. A length is not covered by
any checksum; where it leads nowhere, the bytes are searched for the next header whose own checksum is right.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import google_crc32c

from groups.wire.errors import BatchError, UnwritableBatchError
from groups.wire.logs.compression import Allowance
from groups.wire.logs.record_batch import (
    CRC_END,
    HEADER,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC,
    MAGIC_AT,
    RecordBatch,
    Unpack,
    parse_batch,
    write_batch,
)

if TYPE_CHECKING:
    from mmap import mmap

    Buffer = bytes | bytearray | memoryview | mmap

_HEAD: Final = struct.Struct(">qiiB")
LEAST_LENGTH: Final = HEADER_BYTES - LENGTH_END
_OLD_MAGICS: Final = (0, 1)
_LEAST_OLD_LENGTH: Final = 14
"""CRC, magic, attributes, and two lengths: a message of magic 0 with null key and value (KIP-32)."""

_SEARCH_BLOCK_BYTES: Final = 1024 * 1024
"""The search for a next header takes this much at a time, so that a mapped file is not read into memory at once."""

MOST_SEARCH_BYTES: Final = 256 * 1024 * 1024
"""What faults may cost in one segment: the bytes whose checksum proves wrong, those that the search for a next header
checks, and for each place that it looks at as much as ``_LOOK_COSTS_BYTES``. That is at most a few seconds. An honest
file needs a batch's length for each fault; bytes made to look like headers everywhere would need the square of
theirs. When it is spent, all that follows the next fault is left out."""

_LOOK_COSTS_BYTES: Final = 64
"""So that there are at most four million looks, as many as a gigabyte of random bytes asks for."""


class ProblemKind(StrEnum):
    """What is wrong, for counting; the sentence for people is the problem's ``reason``."""

    TRUNCATED = "truncated"
    PREALLOCATED = "preallocated"
    NOT_A_SEGMENT = "not-a-segment"
    DAMAGED = "damaged"
    OLD_FORMAT = "old-format"


NORMAL_ENDINGS: Final = frozenset({ProblemKind.TRUNCATED, ProblemKind.PREALLOCATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProblem:
    """Bytes of a segment that are no batch which can be read.

    ``position`` is the first of ``length`` bytes that were left out, ``offset`` the base offset that the batch claims
    (``None`` where not even that is known).
    """

    kind: ProblemKind
    position: int
    length: int
    offset: int | None
    reason: str

    @property
    def is_normal(self) -> bool:
        """Whether this is how a healthy segment may end."""
        return self.kind in NORMAL_ENDINGS


def write_segment(batches: Iterable[RecordBatch]) -> Iterator[bytes]:
    """The bytes of a segment, a batch at a time; ``UnwritableBatchError`` if offsets run backwards."""
    next_offset = 0
    for batch in batches:
        if batch.base_offset < next_offset:
            raise UnwritableBatchError(
                f"a batch begins at offset {batch.base_offset}, the one before ends at {next_offset - 1}"
            )
        next_offset = batch.next_offset
        yield write_batch(batch)


def read_batches(data: Buffer) -> Iterator[RecordBatch | BatchProblem]:
    """Every batch of a segment in its order, and a problem for each stretch of bytes that is none.

    ``data`` may be a mapped file: a batch is copied when it is read, nothing is kept. The map can be closed when the
    iterator has ended or was closed itself.
    """
    for _, _, outcome in read_placed_batches(data):
        yield outcome


def read_placed_batches(data: Buffer) -> Iterator[tuple[int, int, RecordBatch | BatchProblem]]:
    """``read_batches``, each with the position of its first byte and its length."""
    with memoryview(data) as view, view.cast("B") as raw:
        yield from Walk(raw).run()


class Walk:
    """One pass over a segment, a step at a time, from its beginning on.

    ``file_bytes`` is the size of the file that ``view`` is a part of, if it is one: it bounds what the compressed
    batches may come to.
    """

    def __init__(self, view: memoryview, file_bytes: int | None = None) -> None:
        self.view = view
        self.end = len(view)
        self.allowance = Allowance(len(view) if file_bytes is None else file_bytes)
        self.search_bytes_left = MOST_SEARCH_BYTES
        self.zeros_begin: int | None = None

    def run(self) -> Iterator[tuple[int, int, RecordBatch | BatchProblem]]:
        at = 0
        while at < self.end:
            outcome, after = self.step(at)
            yield at, after - at, outcome
            at = after

    def step(self, at: int, unpack: Unpack | None = None) -> tuple[RecordBatch | BatchProblem, int]:
        """What is at ``at``, and where to go on; ``unpack`` in place of the walk's own allowance."""
        left = self.end - at
        if left <= MAGIC_AT:
            return self.ending(at)
        base_offset, length, _, magic = self.head(at)
        if magic in _OLD_MAGICS and (after := self.after_old_message(at)):
            return self.old_messages(at, after)
        if magic != MAGIC or length < LEAST_LENGTH or base_offset < 0:
            return self.no_header(at)
        after = at + LENGTH_END + length
        if after > self.end:
            # Either the end of a segment in use, or a damaged length: then a whole batch is further on.
            found = self.search(at + 1)
            if found == self.end and self.search_bytes_left > 0:
                return self.ending(at)
            return self.left_out(at, found, f"a length of {length} bytes that leads beyond the file"), found
        try:
            return parse_batch(bytes(self.view[at:after]), unpack or self.allowance.decompress), after
        except BatchError as error:
            self.search_bytes_left -= after - at
            following = after if self.may_begin(after) else self.search(at + 1)
            return self.left_out(at, following, str(error)), following

    def head(self, at: int) -> tuple[int, int, int, int]:
        """Base offset, length, leader epoch and magic: there are 17 bytes at ``at``."""
        base_offset, length, leader_epoch, magic = _HEAD.unpack_from(self.view, at)
        return base_offset, length, leader_epoch, magic

    def may_begin(self, at: int) -> bool:
        """Whether a batch may begin at ``at``: the header looks like one, or the file ends there."""
        if self.end - at <= MAGIC_AT:
            return True
        base_offset, length, _, magic = self.head(at)
        return (magic == MAGIC and length >= LEAST_LENGTH and base_offset >= 0) or self.is_zeros(at)

    def ending(self, at: int) -> tuple[BatchProblem, int]:
        """The bytes at ``at`` are too few for the batch that they begin."""
        left = self.end - at
        # No log comes to an offset whose highest byte is used, so that anything else there is no batch at all.
        if self.view[at]:
            return self.no_batch(at, self.end)
        offset = int.from_bytes(self.view[at : at + 8], signed=True) if left >= 8 else None
        problem = BatchProblem(
            kind=ProblemKind.TRUNCATED,
            position=at,
            length=left,
            offset=offset,
            reason=f"the last batch is cut short, {left} bytes of it are here: the segment was still being written",
        )
        return problem, self.end

    def zeros(self, at: int) -> tuple[BatchProblem, int]:
        left = self.end - at
        problem = BatchProblem(
            kind=ProblemKind.PREALLOCATED,
            position=at,
            length=left,
            offset=None,
            reason=f"{left} bytes of zeros to the end of the file: the segment was preallocated",
        )
        return problem, self.end

    def no_header(self, at: int) -> tuple[BatchProblem, int]:
        """What is at ``at`` is no header of a batch."""
        if self.is_zeros(at):
            return self.zeros(at)
        return self.no_batch(at, self.search(at + 1))

    def no_batch(self, at: int, after: int) -> tuple[BatchProblem, int]:
        if at > 0 or after < self.end:
            return self.left_out(at, after, "bytes that are no record batch"), after
        problem = BatchProblem(
            kind=ProblemKind.NOT_A_SEGMENT,
            position=0,
            length=self.end,
            offset=None,
            reason="this is no log segment: it does not begin with a record batch, and none is in it",
        )
        return problem, self.end

    def left_out(self, at: int, after: int, reason: str) -> BatchProblem:
        offset = int.from_bytes(self.view[at : at + 8], signed=True) if after - at >= 8 else -1
        return BatchProblem(
            kind=ProblemKind.DAMAGED,
            position=at,
            length=after - at,
            offset=offset if offset >= 0 else None,
            reason=reason,
        )

    def old_messages(self, start: int, at: int) -> tuple[BatchProblem, int]:
        """A row of messages of magic 0 or 1, the first of which ends at ``at``, shown as one problem."""
        count = 1
        while after := self.after_old_message(at):
            count += 1
            at = after
        problem = BatchProblem(
            kind=ProblemKind.OLD_FORMAT,
            position=start,
            length=at - start,
            offset=self.head(start)[0],
            reason=f"{count} messages of magic 0 or 1, which brokers before 0.11 wrote; only magic {MAGIC} is read",
        )
        return problem, at

    def after_old_message(self, at: int) -> int | None:
        """Where a whole message of magic 0 or 1 ends; ``None`` if none is at ``at``.

        Its own checksum (CRC-32 of what follows it) decides: in an index file, too, there are zeros where the magic
        would be.
        """
        if self.end - at <= MAGIC_AT:
            return None
        _, length, _, magic = self.head(at)
        after = at + LENGTH_END + length
        if magic not in _OLD_MAGICS or length < _LEAST_OLD_LENGTH or after > self.end:
            return None
        crc = int.from_bytes(self.view[at + LENGTH_END : at + MAGIC_AT])
        if zlib.crc32(self.view[at + MAGIC_AT : after]) == crc:
            return after
        self.search_bytes_left -= after - at
        return None

    def is_zeros(self, at: int) -> bool:
        """Whether there are only zeros from ``at`` on; looked up once, from the end."""
        if self.zeros_begin is None:
            self.zeros_begin = 0
            for start in range(
                (self.end - 1) // _SEARCH_BLOCK_BYTES * _SEARCH_BLOCK_BYTES, -1, -_SEARCH_BLOCK_BYTES
            ):
                block = bytes(self.view[start : start + _SEARCH_BLOCK_BYTES])
                if used := len(block.rstrip(b"\0")):
                    self.zeros_begin = start + used
                    break
        return at >= self.zeros_begin

    def search(self, at: int) -> int:
        """Where the next whole batch begins, at ``at`` or later; the end if there is none, or nothing left to spend."""
        if self.search_bytes_left <= 0:
            return self.end
        sought = at + MAGIC_AT
        while sought < self.end:
            block = bytes(self.view[sought : sought + _SEARCH_BLOCK_BYTES])
            index = block.find(MAGIC)
            while index >= 0:
                begin = sought + index - MAGIC_AT
                if self.is_whole_batch(begin):
                    return begin
                if self.search_bytes_left <= 0:
                    return self.end
                index = block.find(MAGIC, index + 1)
            sought += len(block)
        return self.end

    def is_whole_batch(self, at: int) -> bool:
        self.search_bytes_left -= _LOOK_COSTS_BYTES
        if self.end - at < HEADER_BYTES:
            return False
        (
            base_offset, length, leader_epoch, magic, crc, _, last_offset_delta, _, _, _, _, _, count,
        ) = HEADER.unpack_from(self.view, at)  # fmt: skip
        after = at + LENGTH_END + length
        if (
            magic != MAGIC
            or base_offset < 0
            or leader_epoch < -1
            or not at + HEADER_BYTES <= after <= self.end
            or not 0 <= count <= last_offset_delta + 1
        ):
            return False
        self.search_bytes_left -= length
        return bool(google_crc32c.value(bytes(self.view[at + CRC_END : after])) == crc)
