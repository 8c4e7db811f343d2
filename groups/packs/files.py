"""Where packs stand: a folder, or a file system that is named by its URL (``hdfs://…``, ``s3://…``).

Names are relative, with ``/`` between their parts. A file appears whole under its name, or not at all.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol

UNFINISHED: Final = ".writing-"
"""How the name of a file begins that is still being written; one whose import is over may be removed by any process."""


class Rights(NamedTuple):
    """Modes of the folders and files that are made."""

    folder: int
    file: int


OWNER: Final = Rights(0o700, 0o600)
GROUP: Final = Rights(0o2770, 0o660)
"""For accounts that share a group, as those of a server and of a cluster's workers do; files take the folder's group."""

RIGHTS: Final[Mapping[str, Rights]] = {"owner": OWNER, "group": GROUP}
"""By the value of the setting ``FILE_RIGHTS``."""


class MissingFile(Exception):
    """A file that should be there is not; the message is one line."""


class StoreAway(MissingFile):
    """The place of the files does not answer, or refuses to."""

    def __init__(self, error: OSError, done: str) -> None:
        why = " ".join(str(error.strerror or error).split()).rstrip(".")
        super().__init__(f"The store cannot be {done} now (STORE_URL): {why}")


WRITTEN: Final = "written to"
READ: Final = "read"

FULL: Final = (errno.ENOSPC, errno.EDQUOT)
"""A full disk is not a store that is away: it has a sentence and a remedy of its own."""


@contextlib.contextmanager
def _reached(done: str) -> Iterator[None]:
    """Raises ``StoreAway`` if the place cannot be ``READ`` or ``WRITTEN``."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise
        raise StoreAway(error, done) from error


class DamagedFile(MissingFile):
    """A file is there, and what it holds is not what was written."""


class Writing(Protocol):
    """A file under way."""

    def write(self, data: bytes) -> None: ...

    def keep(self, name: str) -> None:
        """Give the file its name: from now on it is there."""

    def drop(self) -> None:
        """Forget it."""


class Files(Protocol):
    """What packs need of a place for files."""

    def begin(self, folder: str) -> Writing: ...

    def read(self, name: str, offset: int, length: int) -> bytes:
        """These bytes of a file; ``MissingFile`` where it is not there or ends before."""

    def names(self, folder: str = "") -> list[str]:
        """Every file below a folder, unfinished ones too."""

    def size(self, name: str) -> int: ...

    def remove(self, name: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing happens where it is not there."""


def open_files(url: str, rights: Rights = OWNER) -> Files:
    """The place that a path or a URL names; ``rights`` of what is written to a folder. Arrow is imported only for a URL other than ``file:``."""
    if "://" not in url:
        return Folder(Path(url), rights)
    if url.startswith("file://"):
        return Folder(Path(url.removeprefix("file://")), rights)
    return ArrowFiles.at(url)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of this machine, or one that all machines mount."""

    root: Path
    rights: Rights = OWNER

    def begin(self, folder: str) -> Writing:
        with _reached(WRITTEN):
            # Each by itself: folders above the last one would have the rights that everybody's have.
            for place in (self.root, parent := self.root / folder):
                self._make(place)
            path = parent / f"{UNFINISHED}{uuid.uuid4().hex}"
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER.file)
            if self.rights != OWNER:
                # The process's umask would take the group's rights.
                os.fchmod(descriptor, self.rights.file)
            return _FileWriting(self.root, path, os.fdopen(descriptor, "wb"))

    def _make(self, folder: Path) -> None:
        if folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True, mode=OWNER.folder)
        if self.rights != OWNER:
            # Another task may have made it meanwhile, and another account's is that one's to change.
            with contextlib.suppress(PermissionError):
                folder.chmod(self.rights.folder)

    def read(self, name: str, offset: int, length: int) -> bytes:
        with _reached(READ):
            try:
                with (self.root / name).open("rb") as file:
                    file.seek(offset)
                    data = file.read(length)
            except FileNotFoundError as error:
                raise _missing(name) from error
        return _whole(data, name, offset, length)

    def names(self, folder: str = "") -> list[str]:
        with _reached(READ):
            found = [path for path in (self.root / folder).rglob("*") if path.is_file()]
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def size(self, name: str) -> int:
        return (self.root / name).stat().st_size

    def remove(self, name: str) -> None:
        path = self.root / name
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
            return
        with _reached(WRITTEN):
            path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            # The import's folder goes with its last file.
            if path.parent != self.root:
                path.parent.rmdir()


@dataclass(slots=True)
class _FileWriting:
    root: Path
    path: Path
    file: IO[bytes]

    def write(self, data: bytes) -> None:
        with _reached(WRITTEN):
            self.file.write(data)

    def keep(self, name: str) -> None:
        with _reached(WRITTEN):
            self.file.flush()
            # Rows that name this file are committed afterwards; a file that a power cut emptied would make them lie.
            os.fsync(self.file.fileno())
            self.file.close()
            self.path.replace(self.root / name)

    def drop(self) -> None:
        self.file.close()
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class ArrowFiles:
    """Any file system that Arrow knows, HDFS and S3 among them."""

    system: Any
    root: str

    @classmethod
    def at(cls, url: str) -> ArrowFiles:
        from pyarrow import fs

        with _reached(READ):
            system, root = fs.FileSystem.from_uri(url)
        return cls(system, root.rstrip("/"))

    def begin(self, folder: str) -> Writing:
        parent = f"{self.root}/{folder}" if folder else self.root
        path = f"{parent}/{UNFINISHED}{uuid.uuid4().hex}"
        with _reached(WRITTEN):
            self.system.create_dir(parent, recursive=True)
            return _ArrowWriting(self.system, self.root, path, self.system.open_output_stream(path))

    def read(self, name: str, offset: int, length: int) -> bytes:
        with _reached(READ):
            try:
                with self.system.open_input_file(f"{self.root}/{name}") as file:
                    data = bytes(file.read_at(length, offset))
            except FileNotFoundError as error:
                raise _missing(name) from error
        return _whole(data, name, offset, length)

    def names(self, folder: str = "") -> list[str]:
        with _reached(READ):
            return sorted(self._names(folder))

    def _names(self, folder: str) -> Iterator[str]:
        from pyarrow import fs

        top = f"{self.root}/{folder}" if folder else self.root
        for found in self.system.get_file_info(fs.FileSelector(top, allow_not_found=True, recursive=True)):
            if found.type == fs.FileType.File:
                yield found.path.removeprefix(f"{self.root}/")

    def size(self, name: str) -> int:
        with _reached(READ):
            return int(self.system.get_file_info(f"{self.root}/{name}").size)

    def remove(self, name: str) -> None:
        from pyarrow import fs

        path = f"{self.root}/{name}"
        with _reached(WRITTEN):
            match self.system.get_file_info(path).type:
                case fs.FileType.Directory:
                    self.system.delete_dir(path)
                case fs.FileType.File:
                    self.system.delete_file(path)


@dataclass(slots=True)
class _ArrowWriting:
    system: Any
    root: str
    path: str
    stream: Any

    def write(self, data: bytes) -> None:
        with _reached(WRITTEN):
            self.stream.write(data)

    def keep(self, name: str) -> None:
        with _reached(WRITTEN):
            self.stream.close()
            self.system.move(self.path, f"{self.root}/{name}")

    def drop(self) -> None:
        with _reached(WRITTEN):
            self.stream.close()
            self.system.delete_file(self.path)


def _missing(name: str) -> MissingFile:
    return MissingFile(f"{name} is not in the store: its file was removed from outside")


def _whole(data: bytes, name: str, offset: int, length: int) -> bytes:
    if len(data) < length:
        raise MissingFile(f"{name} ends after {offset + len(data)} bytes; {offset + length} were expected")
    return data


def let_group_read(folder: Path) -> None:
    """Let the group of the accounts that share it read a folder with all that is in it."""
    for place in (folder, *folder.rglob("*")):
        place.chmod(0o750 if place.is_dir() else 0o640)
