"""Recognises a file by its content: a segment of ``__consumer_offsets``, of ``__cluster_metadata``, or neither."""

from __future__ import annotations

import mmap
import re
import struct
from enum import StrEnum

from groups.wire.logs.batches import BatchProblem, ProblemKind, read_batches

LOOK_BYTES = 1024 * 1024
"""How far into a file the search goes for the first record that identifies the log."""

HEAD = struct.Struct(">qiib")
"""Base offset, length of what follows, leader epoch, magic: the first 17 bytes of a batch."""

HEADER_BYTES = 61

PATH_BYTES_MOST = 1024
"""A longer text is not looked at as a path."""

ABSOLUTE_PATH = re.compile(r"/\w|[A-Za-z]:\\")

KEY_TYPES_KNOWN = 64
"""Kafka's coordinator has key types to 23; a key that begins with a number above this is another topic's."""


class FileKind(StrEnum):
    """What a file is, by its content."""

    OFFSETS = "offsets"
    METADATA = "metadata"
    ENTRIES = "entries"
    """Entries and events that were read of a text (``printed_logs``)."""
    OTHER_TOPIC = "other-topic"
    NO_RECORDS = "no-records"
    EMPTY = "empty"
    NOT_A_SEGMENT = "not-a-segment"


READ = frozenset({FileKind.OFFSETS, FileKind.METADATA, FileKind.ENTRIES})
"""What is read to its end."""


def recognise(data: mmap.mmap | bytes, folder: str) -> tuple[FileKind, str]:
    """What the bytes are, and the reason where they are nothing that can be read.

    The first data record decides: coordinator keys begin with an int16 type and a string, records of
    ``__cluster_metadata`` have no key and begin with the version of their frame.
    """
    control_only = False
    old = ""
    with memoryview(data) as whole, whole[:LOOK_BYTES] as head:
        for found in read_batches(head):
            if isinstance(found, BatchProblem):
                if found.kind is ProblemKind.NOT_A_SEGMENT:
                    # Its first batch may be larger than what was looked at.
                    if len(whole) > len(head) and _looks_like_header(data):
                        return _by_folder(folder)
                    return FileKind.NOT_A_SEGMENT, _not_a_segment(data)
                if found.kind is ProblemKind.OLD_FORMAT:
                    # Batches of today may follow: a log that has lived through the upgrade.
                    old = old or found.reason
                continue
            if found.is_control or not found.records:
                control_only = True
                continue
            record = found.records[0]
            if record.key is None:
                if record.value and record.value[0] == 1:
                    return FileKind.METADATA, ""
                return FileKind.OTHER_TOPIC, "a segment of another topic: its records have no key"
            if is_coordinator_key(record.key):
                return FileKind.OFFSETS, ""
            return (
                FileKind.OTHER_TOPIC,
                "a segment of another topic: its keys are not the group coordinator's",
            )
    if old and not control_only:
        return FileKind.NOT_A_SEGMENT, old
    if _looks_like_header(data) and not control_only:
        return _by_folder(folder)
    if control_only:
        kind, reason = _by_folder(folder)
        return (
            (kind, reason)
            if kind is FileKind.METADATA
            else (FileKind.NO_RECORDS, "a segment without records")
        )
    if not any(data[:LOOK_BYTES]):
        return FileKind.EMPTY, "only zeros: a segment that was preallocated and not written to"
    return FileKind.NOT_A_SEGMENT, _not_a_segment(data)


def is_coordinator_key(key: bytes) -> bool:
    """Whether a record's key can be the group coordinator's: an int16 type, then the group's name.

    >>> is_coordinator_key(bytes.fromhex("0003") + bytes.fromhex("0006") + b"orders")
    True
    >>> is_coordinator_key(b"user-17")
    False
    """
    if len(key) < 4:
        return False
    number, length = struct.unpack_from(">hh", key)
    return bool(0 <= number < KEY_TYPES_KNOWN and 0 <= length <= len(key) - 4)


def _looks_like_header(data: mmap.mmap | bytes) -> bool:
    if len(data) < HEAD.size:
        return False
    base, length, _, magic = HEAD.unpack_from(data, 0)
    return bool(magic == 2 and length >= HEADER_BYTES - 12 and base >= 0)


def _by_folder(folder: str) -> tuple[FileKind, str]:
    """What the folder's name means, used if no record in reach can be read."""
    if folder.startswith("__cluster_metadata-"):
        return FileKind.METADATA, ""
    return FileKind.OFFSETS, ""


def _not_a_segment(data: mmap.mmap | bytes) -> str:
    line = _pasted_path(bytes(data[: PATH_BYTES_MOST + 1]))
    if line:
        return (
            f"only the path {line}, not what is there: choose that folder or its files, "
            f"or on the server run manage.py import_log {line}"
        )
    begins = bytes(data[:8])
    text = begins.decode("ascii", "replace")
    if text.isascii() and text.isprintable():
        what = f"no log segment, and no text that is known of Kafka’s tools or logs: it begins with “{text}”"
    else:
        what = "no log segment: it does not begin with a record batch’s offset, length and magic 2"
    return f"{what} (bytes {begins.hex(' ')})"


def _pasted_path(head: bytes) -> str:
    """The one line of a short file, if it is an absolute path: somebody pasted where the log is."""
    line = head.decode(errors="replace").strip()
    is_path = len(head) <= PATH_BYTES_MOST and line.isprintable() and ABSOLUTE_PATH.match(line)
    return line if is_path else ""
