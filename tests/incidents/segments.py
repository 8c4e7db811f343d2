"""The log of one incident: the segments of its group's partition and of the metadata log, in one small file."""

from __future__ import annotations

import io
import lzma
import re
import tarfile
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.generated.mixes import partition_for
from tests.broker.node import Node

OFFSETS_PARTITIONS = 50
"""Kafka's default; groups that are recorded at the same time lie in partitions of their own."""


class Offsets(NamedTuple):
    """Offsets of the group's partition that were written, and those of them that are not in the log any more."""

    written: int
    gone: int


def counted(node: Node, folder: Path) -> Offsets:
    """By Kafka's own dump of the segments."""
    segments = ",".join(str(each) for each in sorted(folder.glob("__consumer_offsets-*/*.log")))
    dumped = node.tool("org.apache.kafka.tools.DumpLogSegments", "--files", segments)
    batches = [(int(last), int(count)) for last, count in _BATCH.findall(dumped)]
    written = max(last for last, _ in batches) + 1
    return Offsets(written, written - sum(count for _, count in batches))


_BATCH = re.compile(r"baseOffset: \d+ lastOffset: (\d+) count: (\d+)")


def unpacked(log: bytes, folder: Path) -> Path:
    """Writes the segments of a recording under ``folder`` and returns it."""
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(log))) as archive:
        archive.extractall(folder, filter="data")
    return folder


def packed(data: Path, group: str | None = None) -> bytes:
    """The segments of the group's partition (of all, without one) and of the metadata log; the same segments give the same bytes."""
    slot = "*" if group is None else partition_for(group, OFFSETS_PARTITIONS)
    told = io.BytesIO()
    with tarfile.open(fileobj=told, mode="w") as archive:
        for pattern in (f"__consumer_offsets-{slot}/*.log", "__cluster_metadata-0/*.log"):
            for segment in sorted(data.glob(pattern)):
                content = segment.read_bytes()
                entry = tarfile.TarInfo(str(segment.relative_to(data)))
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return lzma.compress(told.getvalue(), preset=9 | lzma.PRESET_EXTREME)
