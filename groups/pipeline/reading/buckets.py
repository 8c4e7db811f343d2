"""Paths in a bucket or in HDFS: their files are fetched through Arrow's file systems into the import's own folder, and read there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from groups.one_line import without_credentials
from groups.pipeline.reading.archives import UNPACKED_BYTES_MOST
from groups.pipeline.reading.given_files import FILES_MOST
from groups.spark_ready import how_to_install, missing_packages

if TYPE_CHECKING:
    from pyarrow.fs import FileInfo, FileSystem

SCHEME: Final = "://"


class CannotFetch(Exception):
    """A path that cannot be fetched: one line."""


def fetched(paths: Sequence[str], into: Path | None) -> list[str]:
    """The paths; in place of one with a scheme, a folder under ``into`` with its files."""
    return [
        _fetch(path, into / "fetched" / str(number)) if SCHEME in path and into is not None else path
        for number, path in enumerate(paths)
    ]


def _fetch(uri: str, into: Path) -> str:
    shown = without_credentials(uri)
    if missing := missing_packages():
        raise CannotFetch(f"{shown} cannot be read: {how_to_install(missing)}")
    from pyarrow import ArrowException, fs

    # A folder of a partition keeps its name, which is the partition's.
    target = into / (PurePosixPath(uri).name or "root")
    try:
        store, path = fs.FileSystem.from_uri(uri)
        copy(shown, store, path, target)
    except (ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].replace(uri, shown)[:300]
        raise CannotFetch(f"{shown} cannot be read: {reason}") from None
    return str(target)


def copy(uri: str, store: FileSystem, path: str, target: Path) -> None:
    """Copies the file or folder ``path`` of a store to ``target``. ``CannotFetch`` if it is not there, or more than an import may have."""
    from pyarrow import fs

    found = store.get_file_info(path)
    if found.type is fs.FileType.NotFound:
        raise CannotFetch(f"{uri} is not there, or may not be read.")
    files = [found] if found.is_file else _files(uri, store, path)
    size = sum(each.size or 0 for each in files)
    if size > UNPACKED_BYTES_MOST:
        raise CannotFetch(
            f"{uri} has {size:,} bytes, more than the {UNPACKED_BYTES_MOST:,} of one import: name a part of it."
        )
    (target.parent if found.is_file else target).mkdir(parents=True, exist_ok=True)
    fs.copy_files(path, str(target), source_filesystem=store)


def _files(uri: str, store: FileSystem, path: str) -> list[FileInfo]:
    """The files under a folder, a folder at a time: a whole bucket that somebody names is not listed to its end."""
    from pyarrow import fs

    files: list[FileInfo] = []
    folders = [path]
    seen = 0
    while folders:
        found = store.get_file_info(fs.FileSelector(folders.pop()))
        seen += len(found)
        # A key of a bucket is any text, and Arrow would write one with dots outside the import's folder.
        if any(".." in each.path.split("/") for each in found):
            raise CannotFetch(f"{uri} has a file whose path leads out of it.")
        if seen > FILES_MOST:
            raise CannotFetch(
                f"{uri} has more than the {FILES_MOST:,} files and folders of one import: name a part of it."
            )
        files += [each for each in found if each.is_file]
        folders += [each.path for each in found if not each.is_file]
    return files
