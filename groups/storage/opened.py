"""Opened chunks of stored logs: a cache on this machine's disk, filled by child processes.

A chunk is opened when somebody first looks at it. Two at a time are: each takes a core for as long as it lasts.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Final

from django.conf import settings

from groups.history.replay.fold import FOLD_VERSION
from groups.jobs import waiting
from groups.jobs.children import ChildFailed, run_child
from groups.models import Timeline
from groups.packs.index import StoredChunk
from groups.packs.opening import OpenedChunk
from groups.packs.packs import Place
from groups.storage.errors import CannotOpen

CHILD: Final = "groups.packs.open_child"

CACHE_BYTES_MOST: Final = 2 * 1024**3
"""What opened chunks may take of the disk; those that were not looked at for the longest go first."""

SWEEP_EVERY: Final = 64
"""Chunks that are opened between two looks at the cache's size."""

OPENING_MOST: Final = 2

_slots = threading.BoundedSemaphore(OPENING_MOST)
_locks: dict[Path, threading.Lock] = {}
_guard = threading.Lock()
_opened = 0


def folder() -> Path:
    return Path(settings.VAR) / "opened"


def opened(timeline: Timeline, chunk: StoredChunk) -> OpenedChunk:
    """The chunk's frame, changes and moments; ``CannotOpen`` contains in one line why there are none."""
    path = _path(timeline, chunk)
    if (found := _read(path)) is not None:
        return found
    with _guard:
        lock = _locks.setdefault(path, threading.Lock())
    waiting.begins()
    try:
        # Who asks for the same chunk meanwhile waits for it; the others wait for their turn.
        with lock:
            if (found := _read(path)) is not None:
                return found
            with _slots:
                _open(path, chunk)
            found = _read(path)
    finally:
        with _guard:
            _locks.pop(path, None)
    if found is None:
        raise CannotOpen(
            f"Entries {chunk['first']} to {chunk['last']} of timeline {timeline.id} could not be opened."
        )
    _sweep_sometimes()
    return found


def look(timeline: Timeline, chunk: StoredChunk) -> OpenedChunk | None:
    """The chunk if it was opened before; null where nobody looked at it yet."""
    return _read(_path(timeline, chunk))


def forget(timeline_id: str) -> None:
    """Remove what was opened of a timeline."""
    for path in folder().glob(f"{timeline_id}/*"):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        (folder() / timeline_id).rmdir()


def sweep(most: int = CACHE_BYTES_MOST) -> None:
    """Remove the chunks that were not looked at for the longest until the rest fits."""
    found = []
    for path in folder().glob("*/*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    size = sum(one for _, one, _ in found)
    for _, one, path in sorted(found):
        if size <= most:
            return
        path.unlink(missing_ok=True)
        size -= one


def _open(path: Path, chunk: StoredChunk) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    question = {"store": settings.STORE_URL, "chunk": chunk, "to": str(path)}
    try:
        for message in run_child(CHILD, question=question):
            if message["type"] == "missing":
                raise CannotOpen(f"{message['message']}.")
    except ChildFailed as error:
        raise CannotOpen(
            f"Entries {chunk['first']} to {chunk['last']} could not be opened: {error}"
        ) from error


def _path(timeline: Timeline, chunk: StoredChunk) -> Path:
    # The pack is named by its content, so that a log made again under the same id has other addresses.
    place = Place.of(chunk["checkpoint"])
    return folder() / timeline.id / f"{FOLD_VERSION}-{Path(place.pack).stem[:16]}-{place.offset}"


def _read(path: Path) -> OpenedChunk | None:
    try:
        packed = path.read_bytes()
        os.utime(path)
    except FileNotFoundError:
        return None
    try:
        return OpenedChunk.unpack(packed)
    except ValueError:
        # Cut short by a full disk or a power cut: it is only a cache, and is made again.
        return None


def _sweep_sometimes() -> None:
    global _opened
    _opened += 1
    if _opened % SWEEP_EVERY == 0:
        sweep()
