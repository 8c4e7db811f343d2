"""Offset commits by columns: their keys, each decoded once, and their values by the fixed layouts of the versions.

A value of version 0 to 3 is numbers around one string, whose length is an int16; one of version 4 has a compact
string and a tagged section, which is empty or holds the topic's id. Everything else (an unknown tag, a null that may
not be, bytes too many) is left to the decoder of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from groups.pipeline.reading.columns.distinct import distinct
from groups.pipeline.reading.columns.framing import Records
from groups.pipeline.reading.columns.values import CommitKey
from groups.pipeline.reading.columns.window import Bools, Int64, Window
from groups.wire.codecs.codec import codec
from groups.wire.codecs.primitives import LONGEST_STRING
from groups.wire.codecs.uuids import UUID_BYTES, uuid_to_base64
from groups.wire.commit_payloads import NO_EXPIRATION, NO_LEADER_EPOCH, TOMBSTONE
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError
from groups.wire.generated.classic import OFFSET_COMMIT

REMEMBERED_KEYS: Final = 65_536
"""Keys that are remembered from stretch to stretch, about 20 MB of them: a log repeats the few partitions that its
groups read."""

_VERSION_BYTES: Final = 2
_UNFIT: Final = -2
"""The version of a value that the columns do not fit."""

_NO_TEXT: Final = 0
"""Number of the empty string among the texts."""

_ZERO_ID: Final = uuid_to_base64(bytes(UUID_BYTES))
_read_key: Final = codec(RECORD_TYPES[OFFSET_COMMIT].key, 0).read


@dataclass(slots=True)
class Values:
    """Columns of the values, as in ``Commits``, with ``version`` at ``_UNFIT`` where they do not fit."""

    version: Int64
    committed: Int64
    leader_epoch: Int64
    commit_ms: Int64
    expire_ms: Int64
    metadata: Int64
    topic_id: Int64
    texts: list[str]
    topic_ids: list[str]

    @property
    def fits(self) -> Bools:
        fits: Bools = self.version != _UNFIT
        return fits


class KeyMemory(dict[bytes, CommitKey | None]):
    """Keys of commits by their bytes; ``None`` for bytes that are no such key."""

    def __missing__(self, raw: bytes) -> CommitKey | None:
        if len(self) >= REMEMBERED_KEYS:
            self.clear()
        found = self[raw] = _key(raw)
        return found


def _key(raw: bytes) -> CommitKey | None:
    try:
        fields, end = _read_key(raw, _VERSION_BYTES)
    except RecordError:
        return None
    if end != len(raw):
        return None
    return CommitKey(fields["group"], fields["topic"], fields["partition"])


def are_commits(window: Window, records: Records) -> Bools:
    """Which records have a key that begins as that of a commit."""
    begins: Bools = window.int16(records.key_at) == OFFSET_COMMIT
    return begins & (records.key_length >= _VERSION_BYTES)


def read_keys(window: Window, records: Records, memory: KeyMemory) -> tuple[list[CommitKey], Int64]:
    """The different keys of commits, and the number of each record's in them; -1 where its bytes are no key."""
    leaders, numbers = distinct(window, records.key_at, records.key_length)
    raw = window.raw
    begin = records.key_at[leaders]
    places = zip(begin.tolist(), (begin + records.key_length[leaders]).tolist(), strict=True)
    found = [memory[raw[at:end]] for at, end in places]
    keys = [key for key in found if key is not None]
    if len(keys) == len(found):
        return keys, numbers
    known = np.array([key is not None for key in found], np.bool_)
    return keys, np.where(known, np.cumsum(known) - 1, -1)[numbers]


def read_values(window: Window, records: Records) -> Values:
    """The values of commits."""
    count = len(records)
    at, end = records.value_at, records.value_at + records.value_length
    given = records.value_length >= 0
    version = np.where(
        given, np.where(records.value_length >= _VERSION_BYTES, window.int16(at), _UNFIT), TOMBSTONE
    )
    version[given & ((version < 0) | (version > 4))] = _UNFIT
    values = Values(
        version,
        np.zeros(count, np.int64),
        np.full(count, NO_LEADER_EPOCH, np.int64),
        np.zeros(count, np.int64),
        np.full(count, NO_EXPIRATION, np.int64),
        np.full(count, _NO_TEXT, np.int64),
        np.full(count, -1, np.int64),
        [""],
        [],
    )
    for number in range(5):
        chosen = np.flatnonzero(version == number)
        if chosen.size:
            # Most logs have one version alone; a slice of all costs nothing.
            some = slice(None) if chosen.size == count else chosen
            _read_version(window, number, some, at[some], end[some], values)
    return values


def _read_version(
    window: Window, number: int, chosen: Int64 | slice, at: Int64, end: Int64, values: Values
) -> None:
    at = at + _VERSION_BYTES
    values.committed[chosen] = window.int64(at)
    at = at + 8
    if number >= 3:
        values.leader_epoch[chosen] = window.int32(at)
        at = at + 4
    if number >= 4:
        length, at = window.varints(at)
        length -= 1
    else:
        length, at = window.int16(at), at + 2
    fit = (length >= 0) & (length <= LONGEST_STRING)
    text_at, text_length = at, np.where(fit, length, 0)
    # A place beyond the value is no place to read at; that the end is met exactly is asked below.
    at = at + text_length
    fit &= at <= end
    at = np.where(fit, at, end)
    values.commit_ms[chosen] = window.int64(at)
    at = at + 8
    if number == 1:
        values.expire_ms[chosen] = window.int64(at)
        at = at + 8
    if number >= 4:
        at, values.topic_id[chosen] = _read_topic_ids(window, at, end, fit, values.topic_ids)
    fit &= at == end
    present = np.flatnonzero(fit & (text_length > 0))
    if present.size:
        metadata = np.full(len(at), _NO_TEXT, np.int64)
        metadata[present] = _read_texts(window, text_at[present], text_length[present], values.texts)
        fit &= metadata >= 0
        values.metadata[chosen] = metadata
    if not fit.all():
        values.version[chosen] = np.where(fit, number, _UNFIT)


def _read_topic_ids(
    window: Window, at: Int64, end: Int64, fit: Bools, topic_ids: list[str]
) -> tuple[Int64, Int64]:
    """Reads the tagged sections at ``at``: where they end (-1 for any but the two usual ones), and the numbers of
    their ids, -1 where there is none."""
    tags = window.bytes[np.minimum(at, end)]
    after = np.where(tags == 0, at + 1, -1)
    found = np.full(len(at), -1, np.int64)
    present = np.flatnonzero(fit & (tags == 1) & (at + 3 + UUID_BYTES == end))
    present = present[(window.bytes[at[present] + 1] == 0) & (window.bytes[at[present] + 2] == UUID_BYTES)]
    if present.size:
        after[present] = end[present]
        id_at = at[present] + 3
        leaders, numbers = distinct(window, id_at, np.full(len(present), UUID_BYTES, np.int64))
        order = np.empty(len(leaders), np.int64)
        for index, place in enumerate(id_at[leaders].tolist()):
            text = uuid_to_base64(window.raw[place : place + UUID_BYTES])
            # The id of no topic is the field's default, which is left out.
            order[index] = -1 if text == _ZERO_ID else len(topic_ids)
            if text != _ZERO_ID:
                topic_ids.append(text)
        found[present] = order[numbers]
    return after, found


def _read_texts(window: Window, at: Int64, length: Int64, texts: list[str]) -> Int64:
    """The numbers of strings that are not empty; -1 for what is no UTF-8."""
    leaders, numbers = distinct(window, at, length)
    order = np.empty(len(leaders), np.int64)
    places = zip(at[leaders].tolist(), length[leaders].tolist(), strict=True)
    for index, (place, size) in enumerate(places):
        try:
            text = window.raw[place : place + size].decode()
        except UnicodeDecodeError:
            order[index] = -1
        else:
            order[index] = len(texts)
            texts.append(text)
    return order[numbers]
