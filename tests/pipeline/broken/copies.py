"""Files of one partition that overlap, repeat, disagree or come in no order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from tests.pipeline.broken.case import ANYTHING, FIRST, Case, Place, batch, requests, three
from tests.pipeline.segments import FOO

ALL: Final = ("before", "hit", "after")


def cases() -> Iterator[Case]:
    for name, (make, reason, keeps) in KINDS.items():
        yield Case(name=name, make=make, reason=reason, keeps=keeps)


def whole(place: Place) -> bytes:
    return b"".join(three(place))


def other(place: Place) -> bytes:
    """Other records at the same offsets."""
    return batch(0, *requests(place.group("other")))


def beside(place: Place, first: bytes, second: bytes, name: str = "00000000000000000005.log") -> None:
    place.put(first)
    place.put(second, name)


def copied(place: Place, folder: str, content: bytes) -> None:
    """A second copy of the same partition, as another broker has it."""
    path = place.root / folder / place.folder().name
    path.mkdir(parents=True)
    (path / FIRST).write_bytes(content)


def both(place: Place, content: bytes) -> None:
    place.put(whole(place))
    copied(place, "broker-2", content)


Made = tuple[Callable[[Place], object], str | None, tuple[str, ...]]

KINDS: Final[dict[str, Made]] = {
    "copy-that-is-equal": (lambda place: both(place, whole(place)), ANYTHING, ALL),
    "copy-that-ends-earlier": (lambda place: both(place, whole(place)[:-20]), ANYTHING, ALL),
    "copy-that-begins-later": (
        lambda place: both(place, b"".join(three(place)[1:])),
        ANYTHING,
        ALL,
    ),
    "copy-that-is-damaged": (
        lambda place: both(place, whole(place)[:150] + b"\xff" + whole(place)[151:]),
        ANYTHING,
        ALL,
    ),
    "copy-that-disagrees": (
        lambda place: both(place, other(place) + b"".join(three(place)[1:])),
        ANYTHING,
        ("hit", "after"),
    ),
    "copy-that-is-compacted": (
        lambda place: both(place, three(place)[0] + three(place)[2]),
        ANYTHING,
        ALL,
    ),
    "files-that-overlap-by-a-batch": (
        lambda place: beside(place, b"".join(three(place)[:2]), b"".join(three(place)[1:])),
        ANYTHING,
        ALL,
    ),
    "file-within-another": (
        lambda place: beside(place, whole(place), three(place)[1]),
        ANYTHING,
        ALL,
    ),
    "files-named-in-the-wrong-order": (
        lambda place: (
            place.put(three(place)[2]),
            place.put(three(place)[0], "00000000000000000005.log"),
            place.put(three(place)[1], "00000000000000000010.log"),
        ),
        None,
        ALL,
    ),
    "file-missing-between-two": (
        lambda place: beside(place, three(place)[0], three(place)[2], "00000000000000000010.log"),
        None,
        ("before", "after"),
    ),
    "offsets-that-run-back-in-one-file": (
        lambda place: place.put(b"".join(reversed(three(place)))),
        ANYTHING,
        ALL,
    ),
    "a-batch-twice-in-one-file": (
        lambda place: place.put(three(place)[0] + three(place)[1] * 2 + three(place)[2]),
        ANYTHING,
        ALL,
    ),
    "a-batch-a-hundred-times": (
        lambda place: place.put(three(place)[0] + three(place)[1] * 100 + three(place)[2]),
        ANYTHING,
        ALL,
    ),
    "batches-that-overlap": (
        lambda place: place.put(
            three(place)[0] + three(place)[1] + batch(7, *place.group("after").join("A", {FOO: [0]}))
        ),
        ANYTHING,
        ("before", "hit"),
    ),
    "a-group-in-two-partitions": (
        lambda place: (place.put(whole(place)), place.put(whole(place), extra=1)),
        ANYTHING,
        ALL,
    ),
    "a-cleaned-copy-beside-its-segment": (
        lambda place: (place.put(whole(place)), place.put(whole(place), f"{FIRST}.cleaned")),
        None,
        ALL,
    ),
    "a-deleted-segment-beside": (
        lambda place: (place.put(whole(place)), place.put(other(place), f"{FIRST}.deleted")),
        None,
        ALL,
    ),
}
