"""The walk over a file: chains of batches by columns, and step by step whatever else is between them."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from groups.pipeline.reading.columns.chains import Chain, Run, follow
from groups.pipeline.reading.columns.commit_fields import KeyMemory, are_commits, read_keys, read_values
from groups.pipeline.reading.columns.framing import Records, frame
from groups.pipeline.reading.columns.values import Commits, Damage, Other, Stretch
from groups.pipeline.reading.columns.window import Int64, Window
from groups.wire.logs.batches import BatchProblem, Walk
from groups.wire.logs.compression import decompress
from groups.wire.logs.record_batch import HEADER_BYTES, RecordBatch

if TYPE_CHECKING:
    from groups.wire.logs.batches import Buffer

STRETCH_BYTES: Final = 4 * 1024 * 1024
"""Some 40,000 commits: many enough that the calls of numpy cost nothing next to what they do, few enough that their
columns stay in the processor's caches, and 50 MB hold all that is made of them."""

CHAINS_BY_COLUMNS: Final = 64
"""So many chains go by columns however short they are. In a file that is damaged everywhere the rest of the short
ones is read batch by batch: columns cost a millisecond a chain."""

_SHORT_CHAIN_BYTES: Final = 64 * 1024

_USUAL: Final = 1 << 62


def read_stretches(
    data: Buffer,
    *,
    stretch_bytes: int = STRETCH_BYTES,
    file_bytes: int | None = None,
    memory: KeyMemory | None = None,
) -> Iterator[Stretch]:
    """The records of a segment or of whole batches of one, and its damage, as ``read_batches`` and ``decode_record``
    give them.

    A stretch covers about ``stretch_bytes`` of the file, and of what that decompresses to about as many and a batch. ``file_bytes`` is the size of
    the file of which ``data`` is a part: it bounds what all compressed batches may come to
    (``groups.wire.logs.compression.Allowance``). ``memory`` may be shared by calls that follow each other. ``data`` may be a mapped file, of which a stretch is copied at a time.
    Never raises: what cannot be read is damage, or among the ``others``, for which ``decode_record`` has the reason.
    """
    with memoryview(data) as view, view.cast("B") as raw:
        yield from _Reader(raw, stretch_bytes, file_bytes, KeyMemory() if memory is None else memory).run()


class _Reader:
    """One pass over a file, and the stretch that is being gathered."""

    def __init__(
        self, view: memoryview, stretch_bytes: int, file_bytes: int | None, memory: KeyMemory
    ) -> None:
        self.view = view
        self.stretch_bytes = stretch_bytes
        self.walk = Walk(view, file_bytes)
        self.memory = memory
        self.chains = 0
        self.at = 0
        self.reached: int | None = None
        self.waiting: BatchProblem | None = None
        """Damage whose next batch is not known yet."""
        self.leader: int | None = None
        """The leader epoch of the last batch."""
        self.begin()

    def begin(self) -> None:
        self.began_at = self.at
        self.commits = _no_commits()
        self.others: list[Other] = []
        self.controls: list[RecordBatch] = []
        self.damage: list[Damage] = []
        self.leaders: list[tuple[int, int]] = []
        self.weight = 0
        """Bytes of the records that were read one by one."""
        self.records = 0
        self.first_offset: int | None = None
        self.last_offset: int | None = None

    def run(self) -> Iterator[Stretch]:
        size = len(self.view)
        while self.at < size:
            # What is damaged everywhere has short chains, which are detected here before a whole stretch is copied.
            short = self.chains >= CHAINS_BY_COLUMNS
            places = follow(self.view, self.at, _SHORT_CHAIN_BYTES if short else 1)
            if len(places) == 1 or (short and places[-1] - places[0] < _SHORT_CHAIN_BYTES):
                yield from self.one_by_one(places)
                continue
            self.chains += 1
            chain = Chain(self.view, self.at, self.stretch_bytes)
            for run in chain.runs(self.walk.allowance, self.stretch_bytes):
                self.by_columns(chain, run)
                yield self.stretch()
        if self.waiting is not None:
            self.damage.append(Damage(self.waiting, self.reached, None))
            self.waiting = None
        if self.at > self.began_at or self.damage:
            yield self.stretch()

    def stretch(self) -> Stretch:
        """What was gathered."""
        made = Stretch(
            self.commits,
            self.others,
            self.controls,
            self.damage,
            self.records,
            self.first_offset,
            self.last_offset,
            self.at - self.began_at,
            self.leaders,
        )
        self.begin()
        return made

    def one_by_one(self, places: list[int]) -> Iterator[Stretch]:
        """Reads what begins at the ``places``; the last of them is left if it is but the end of the others."""
        for place in places[: max(len(places) - 1, 1)]:
            outcome, self.at = self.walk.step(place)
            read = self.take(outcome)
            self.others += read
            self.weight += sum(len(other.key or b"") + len(other.value or b"") for other in read)
            if max(self.weight, self.at - self.began_at) >= self.stretch_bytes:
                yield self.stretch()

    def take(self, outcome: RecordBatch | BatchProblem) -> list[Other]:
        """Counts what was read by itself; gives the records that are neither control records nor in columns."""
        if isinstance(outcome, BatchProblem):
            self.damaged(outcome)
            return []
        self.passed(outcome.base_offset, outcome.last_offset)
        self.led(outcome.base_offset, outcome.partition_leader_epoch)
        self.records += len(outcome.records)
        if outcome.is_control:
            self.controls.append(outcome)
            return []
        producer = outcome.producer_id if outcome.is_transactional else None
        return [
            Other(record.offset, outcome.base_offset, record.timestamp_ms, producer, record.key, record.value)
            for record in outcome.records
        ]

    def passed(self, base_offset: int, last_offset: int) -> None:
        """Batches that could be read: the base offset of the first, the last offset of the last one."""
        if self.waiting is not None:
            self.damage.append(Damage(self.waiting, self.reached, base_offset))
            self.waiting = None
        if self.first_offset is None:
            self.first_offset = base_offset
        self.last_offset = self.reached = last_offset

    def led(self, base_offset: int, epoch: int) -> None:
        """Under which leader epoch a batch was written."""
        if epoch != self.leader:
            self.leader = epoch
            self.leaders.append((base_offset, epoch))

    def damaged(self, problem: BatchProblem) -> None:
        if self.waiting is not None:
            self.damage.append(Damage(self.waiting, self.reached, None))
        self.waiting = problem

    def by_columns(self, chain: Chain, run: Run) -> None:
        """Reads a run; what is special in it, and what proves to be unusual, one by one in its place."""
        special = dict(run.special)
        plain = np.arange(run.begin, run.end)
        if special:
            plain = np.delete(plain, np.array(list(special), np.int64) - run.begin)
        window, begin, end = _bodies(chain, run, plain)
        strange = (chain.base_offset[plain] >= _USUAL) | (np.abs(chain.base_timestamp[plain]) >= _USUAL)
        records, unusual = frame(window, begin, end, np.where(strange, -1, chain.count[plain]))
        special.update(dict.fromkeys(plain[unusual].tolist(), decompress))
        numbered: list[tuple[int, Other]] = []
        next_ = run.begin
        for index in sorted(special):
            self.passed_by_columns(chain, next_, index)
            outcome, self.at = self.walk.step(chain.at + int(chain.start[index]), special[index])
            numbered += [(index, other) for other in self.take(outcome)]
            next_ = index + 1
        self.passed_by_columns(chain, next_, run.end)
        records.batch = plain[records.batch]
        self.records += len(records)
        self.commits, others = _split(chain, window, records, self.memory)
        if numbered:
            # Both are in the order of the log.
            others = list(merge(others, numbered, key=itemgetter(0)))
        self.others += [other for _, other in others]

    def passed_by_columns(self, chain: Chain, begin: int, end: int) -> None:
        if begin < end:
            self.passed(int(chain.base_offset[begin]), int(chain.last_offset[end - 1]))
            epochs = chain.headers["leader_epoch"][begin:end]
            for at in (0, *(np.flatnonzero(epochs[1:] != epochs[:-1]) + 1).tolist()):
                self.led(int(chain.base_offset[begin + at]), int(epochs[at]))
            self.at = chain.at + int(chain.end[end - 1])


def _bodies(chain: Chain, run: Run, plain: Int64) -> tuple[Window, Int64, Int64]:
    """Where the records of the ``plain`` batches lie, decompressed, and in which window."""
    begin, end = chain.start[plain] + HEADER_BYTES, chain.end[plain]
    if not run.bodies:
        return chain.window, begin, end
    packed = np.array([index in run.bodies for index in plain.tolist()], np.bool_)
    lengths = np.array([len(body) for body in run.bodies.values()], np.int64)
    edges = np.cumsum(lengths)
    pieces: list[bytes | memoryview] = list(run.bodies.values())
    if not packed.all():
        first, last = int(chain.start[run.begin]), int(chain.end[run.end - 1])
        pieces.insert(0, memoryview(chain.window.raw)[first:last])
        edges += last - first
        begin, end = begin - first, end - first
    begin[packed], end[packed] = edges - lengths, edges
    return Window(pieces), begin, end


def _split(
    chain: Chain, window: Window, records: Records, memory: KeyMemory
) -> tuple[Commits, list[tuple[int, Other]]]:
    """Commits in columns; every other record with the number of its batch."""
    is_commit = are_commits(window, records)
    chosen = np.flatnonzero(is_commit)
    commits = records if len(chosen) == len(records) else records.at(chosen)
    keys, key = read_keys(window, commits, memory)
    values = read_values(window, commits)
    # A transaction without a producer cannot be distinguished from none.
    fit = values.fits & (key >= 0) & ~(chain.is_transactional & (chain.producer == -1))[commits.batch]
    kept: Int64 | slice = slice(None)
    if not fit.all():
        kept = np.flatnonzero(fit)
        commits = commits.at(kept)
        is_commit[chosen[~fit]] = False
    batch = commits.batch
    made = Commits(
        offset=chain.base_offset[batch] + commits.offset_delta,
        batch=chain.base_offset[batch],
        at_ms=_timestamps(chain, commits),
        producer=np.where(chain.is_transactional, chain.producer, -1)[batch],
        key=key[kept].astype(np.int32),
        version=values.version[kept].astype(np.int8),
        committed=values.committed[kept],
        leader_epoch=values.leader_epoch[kept].astype(np.int32),
        commit_ms=values.commit_ms[kept],
        expire_ms=values.expire_ms[kept],
        metadata=values.metadata[kept].astype(np.int32),
        topic_id=values.topic_id[kept].astype(np.int32),
        keys=keys,
        texts=values.texts,
        topic_ids=values.topic_ids,
    )
    return made, list(_others(chain, window, records.at(np.flatnonzero(~is_commit))))


def _timestamps(chain: Chain, records: Records) -> Int64:
    created = chain.base_timestamp[records.batch] + records.timestamp_delta
    if not chain.has_append_time.any():
        return created
    return np.where(chain.has_append_time[records.batch], chain.max_timestamp[records.batch], created)


def _others(chain: Chain, window: Window, records: Records) -> Iterator[tuple[int, Other]]:
    raw = window.raw
    rows = zip(
        records.batch.tolist(),
        (chain.base_offset[records.batch] + records.offset_delta).tolist(),
        chain.base_offset[records.batch].tolist(),
        _timestamps(chain, records).tolist(),
        chain.is_transactional[records.batch].tolist(),
        chain.producer[records.batch].tolist(),
        records.key_at.tolist(),
        records.key_length.tolist(),
        records.value_at.tolist(),
        records.value_length.tolist(),
        strict=True,
    )
    for number, offset, batch, at_ms, in_transaction, producer, key_at, key, value_at, value in rows:
        yield (
            number,
            Other(
                offset,
                batch,
                at_ms,
                producer if in_transaction else None,
                raw[key_at : key_at + key] if key >= 0 else None,
                raw[value_at : value_at + value] if value >= 0 else None,
            ),
        )


def _no_commits() -> Commits:
    none64, none32 = np.empty(0, np.int64), np.empty(0, np.int32)
    return Commits(
        none64, none64, none64, none64, none32, np.empty(0, np.int8), none64, none32, none64, none64, none32, none32,
        [], [""], [],
    )  # fmt: skip
