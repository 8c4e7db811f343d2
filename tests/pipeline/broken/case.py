"""What a broken input is: a name, files, and what an import of it must say and keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from groups.wire.logs.record_batch import coordinator_batch, write_batch
from groups.wire.records import encode_record
from tests.pipeline.segments import FOO, Group, Payload, Segment, hash_of
from tests.pipeline.segments import record as record

FIRST: Final = "00000000000000000000.log"
AT_MS: Final = 1_700_000_000_000
ANYTHING: Final = ".*"
"""Whatever is skipped is right: the bytes can be taken for several things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``make`` writes the files of one broken input.

    ``reason`` is an expression that some skipped row of these files must match, ``None`` where nothing may be skipped;
    ``keeps`` the groups of these files that must become timelines; ``alone`` the exit code without a good file beside.
    ``slow`` cases are imported one by one only.
    """

    name: str
    make: Callable[[Place], object]
    reason: str | None
    keeps: tuple[str, ...] = ()
    alone: int = 0
    slow: bool = False


class Place:
    """Where a case's files go: a folder of its own, partitions that no other case has."""

    def __init__(self, root: Path, case: Case, number: int) -> None:
        self.case = case.name
        self.root = root / f"{number:03d}"
        self.partition = 1_000 + 10 * number
        self.root.mkdir(parents=True)

    def folder(self, extra: int = 0) -> Path:
        path = self.root / f"__consumer_offsets-{self.partition + extra}"
        path.mkdir(parents=True, exist_ok=True)
        return path

    def put(self, content: bytes, name: str = FIRST, *, extra: int = 0) -> Path:
        """A file in the partition's folder; ``extra`` counts on to the case's further partitions (up to 8)."""
        path = self.folder(extra) / name
        path.write_bytes(content)
        return path

    def name(self, word: str) -> str:
        return f"{word}-{self.case}"

    def group(self, word: str) -> Group:
        return Group(self.name(word))

    def put_good(self) -> Path:
        """The good segment beside: always the same shape, in a partition of its own."""
        return self.put(good_segment(self.name("good")).bytes(), extra=9)


def good_segment(group: str) -> Segment:
    """``sample_group`` under another name."""
    made = Group(group)
    named = hash_of({"foo": (FOO, 3)})
    return (
        Segment()
        .add(made.join("A", {FOO: [0, 1, 2]}, named))
        .add(made.join("B", {FOO: []}, named))
        .add(made.advance("A", {FOO: [0, 1]}))
        .add(made.advance("B", {FOO: [2]}))
        .add(made.leave("B"))
        .add(made.advance("A", {FOO: [0, 1, 2]}))
    )


def three(place: Place) -> list[bytes]:
    """Three batches of five records: of the groups ``before``, ``hit`` and ``after``."""
    return [
        batch(5 * index, *requests(place.group(word)))
        for index, word in enumerate(("before", "hit", "after"))
    ]


def requests(group: Group) -> list[Payload]:
    return group.join("A", {FOO: [0]}, hash_of({"foo": (FOO, 3)}))


def batch(base_offset: int, *payloads: Payload, at_ms: int | None = None) -> bytes:
    return pairs(base_offset, *(encode_record(payload) for payload in payloads), at_ms=at_ms)


def pairs(base_offset: int, *some: tuple[bytes | None, bytes | None], at_ms: int | None = None) -> bytes:
    made = coordinator_batch(
        base_offset=base_offset,
        timestamp_ms=AT_MS + 1000 * base_offset if at_ms is None else at_ms,
        records=some,
    )
    return write_batch(made)


def segment_of(*payloads: Payload) -> bytes:
    """A batch for each record."""
    return b"".join(batch(offset, payload) for offset, payload in enumerate(payloads))


def changed(value: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {**value, **fields}
