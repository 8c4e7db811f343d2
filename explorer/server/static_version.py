"""Where the collected static files are: a folder for each version of their sources, so that an update leaves the files
of running servers alone."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import django

COMPLETE: Final = ".complete"
"""The file that is written when all files are collected, and locked by each server that serves them."""

DIGEST_LETTERS: Final = 16


def package_data() -> Path:
    """Plotly's data folder, found without importing the package (which would cost every start 60 ms)."""
    spec = importlib.util.find_spec("plotly")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "package_data"


def versioned(root: Path, sources: Path, *, with_admin: bool) -> Path:
    """The folder in ``root`` for the static files of the folder ``sources``, Plotly's, and perhaps the admin pages', as they are now."""
    digest = hashlib.sha256(django.__version__.encode() if with_admin else b"")
    for path in (*sorted(sources.rglob("*")), package_data() / "plotly.min.js"):
        with contextlib.suppress(OSError):
            found = path.stat()
            digest.update(f"{path.name} {found.st_size} {found.st_mtime_ns}\n".encode())
    return root / digest.hexdigest()[:DIGEST_LETTERS]


def is_complete(folder: Path) -> bool:
    return (folder / COMPLETE).is_file()


def mark_complete(folder: Path) -> None:
    (folder / COMPLETE).touch()


@contextlib.contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Keeps the folder from ``remove_unused``, as long as the context lasts."""
    try:
        file = os.open(folder / COMPLETE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        # Files that were not collected, as with DEBUG, need not be kept.
        yield
        return
    try:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield
    finally:
        os.close(file)


def remove_unused(current: Path) -> None:
    """Remove the folders of other versions that no server serves any more."""
    for folder in current.parent.iterdir():
        if folder != current and len(folder.name) == DIGEST_LETTERS and folder.is_dir():
            with contextlib.suppress(OSError):
                _remove_if_unused(folder)


def _remove_if_unused(folder: Path) -> None:
    # Without the file it is empty, or its collection was cut short: nobody serves it.
    file = os.open(folder / COMPLETE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(file)
