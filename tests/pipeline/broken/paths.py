"""What a path can be beside a regular file in the folder of its partition."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.pipeline.broken.case import ANYTHING, FIRST, Case, Place, three

AS_ROOT: Final = os.geteuid() == 0
"""Who may read everything: permissions then stop nobody."""


def cases() -> Iterator[Case]:
    yield from kinds()
    yield from file_names()
    yield from folder_names()


def kinds() -> Iterator[Case]:
    yield Case(name="symlink-to-itself", make=loop, reason="symbolic|cannot be read|no such|loop", alone=2)
    yield Case(
        name="folder-that-is-linked-into-itself",
        make=lambda place: (place.put(b"".join(three(place))), (place.folder() / "again").symlink_to(place.folder())),
        reason=None,
        keeps=("before", "hit", "after"),
    )  # fmt: skip
    yield Case(
        name="symlink-to-nothing",
        make=lambda place: (place.folder() / FIRST).symlink_to(place.root / "gone"),
        reason="no such|cannot be read",
        alone=2,
    )
    yield Case(
        name="symlink-to-a-segment",
        make=lambda place: (place.folder(1) / FIRST).symlink_to(place.put(b"".join(three(place)))),
        reason=None,
        keeps=("before", "hit", "after"),
    )
    yield Case(
        name="symlink-to-endless-zeros",
        make=lambda place: (place.folder() / FIRST).symlink_to("/dev/zero"),
        reason=ANYTHING,
        alone=2,
    )
    yield Case(
        name="directory-named-like-a-segment",
        make=lambda place: (place.folder() / FIRST).mkdir(),
        reason=ANYTHING,
        alone=2,
    )
    yield Case(name="fifo", make=lambda place: os.mkfifo(place.folder() / FIRST), reason=ANYTHING, alone=2)
    yield Case(name="socket", make=listening, reason=ANYTHING, alone=2)
    yield Case(
        name="file-that-may-not-be-read",
        make=lambda place: place.put(b"".join(three(place))).chmod(0),
        reason=None if AS_ROOT else "permission|cannot be read",
        keeps=("before", "hit", "after") if AS_ROOT else (),
        alone=0 if AS_ROOT else 2,
    )
    yield Case(name="empty-folder", make=lambda place: place.folder(), reason=ANYTHING, alone=2)
    yield Case(
        name="fifty-folders-deep",
        make=lambda place: deep(place, 50),
        reason=None,
        keeps=("before", "hit", "after"),
    )


def loop(place: Place) -> None:
    path = place.folder() / FIRST
    path.symlink_to(path)


def listening(place: Place) -> None:
    """A socket's file; its whole path would be too long for the address of one."""
    path = place.folder() / FIRST
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as made:
        try:
            os.chdir(path.parent)
            made.bind(FIRST)
        finally:
            os.chdir(here)


def deep(place: Place, levels: int) -> None:
    folder = place.root
    for level in range(levels):
        folder = folder / f"d{level}"
    folder = folder / place.folder().name
    folder.mkdir(parents=True)
    (folder / FIRST).write_bytes(b"".join(three(place)))


def file_names() -> Iterator[Case]:
    names: dict[str, str | bytes] = {
        "right-to-left": "\u202egol.segment",
        "emoji": "\U0001f680\U0001f525.log",
        "newline": "two\nlines.log",
        "terminal-escape": "\x1b[31mred\x07.log",
        "control-one": "\x01.log",
        "picture-of-nul": "nul\u2400\u0000".replace("\0", "%00") + ".log",
        "249-letters": "x" * 245 + ".log",
        "255-bytes": "\u96c6" * 83 + "xx.log",
        "no-text": b"caf\xe9.log",
        "spaces": "   ",
        "quotes": 'it\'s "a" $(log).log',
        "hyphen-first": "--group.log",
        "percent": "%s%n%00.log",
        "glob": "[a-z]*{x,y}?.log",
        "colon": "a:b\\c.log",
    }
    for what, name in names.items():
        yield Case(
            name=f"file-named-{what}",
            make=lambda place, name=name: named(place.folder(), name, b"".join(three(place))),
            reason=None,
            keeps=("before", "hit", "after"),
        )
        yield Case(
            name=f"note-named-{what}",
            make=lambda place, name=name: named(place.folder(), name, b"no segment at all, but a note"),
            reason="no log segment",
            alone=2,
        )


def named(folder: Path, name: str | bytes, content: bytes) -> None:
    raw = os.fsencode(folder) + b"/" + (name if isinstance(name, bytes) else name.encode())
    with open(raw, "wb") as out:  # noqa: PTH123 (a name may be no text)
        out.write(content)


def folder_names() -> Iterator[Case]:
    """The partition is told by the folder alone, so a folder of another name leaves it unknown."""
    folders: dict[str, Callable[[Place], str]] = {
        "without-a-number": lambda _: "__consumer_offsets",
        "with-a-letter": lambda _: "__consumer_offsets-x",
        "negative": lambda _: "__consumer_offsets--1",
        "beyond-int64": lambda _: "__consumer_offsets-99999999999999999999",
        "beyond-int32": lambda _: "__consumer_offsets-4294967296",
        "in-arabic-digits": lambda _: "__consumer_offsets-\u0661\u0667",
        "marked-as-deleted": lambda place: f"__consumer_offsets-{place.partition}.0123456789abcdef-delete",
        "marked-as-stray": lambda place: f"__consumer_offsets-{place.partition}.0123456789abcdef-stray",
        "of-another-topic": lambda _: "orders-0",
        "of-the-metadata-log": lambda _: "__cluster_metadata-0",
    }
    for what, folder in folders.items():
        yield Case(
            name=f"folder-{what}",
            make=lambda place, folder=folder: elsewhere(place, folder(place)),
            reason=None,
            keeps=("before", "hit", "after"),
        )


def elsewhere(place: Place, name: str) -> None:
    folder = place.root / name
    folder.mkdir()
    (folder / f"{place.partition:020d}.log").write_bytes(b"".join(three(place)))
