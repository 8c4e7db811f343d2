"""Archives that were given to an import: recognised by content, unpacked within bounds into a folder of the import's own.

``.tar``, ``.tar.gz``, ``.tar.zst`` and ``.zip`` of partition folders, and single files as ``.gz`` or ``.zst``. A member's own path
decides nothing but how it is shown and which partition its folder names: it is written under a number. What is refused is said in
one line each: an archive that unpacks to more than it may (all of it), a member that is no plain file or whose path leads out of
the archive, an archive within an archive.
"""

from __future__ import annotations

import gzip
import io
import mmap
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple, cast

import cramjam

from groups.pipeline.reading.given_files import FILES_MOST, is_companion
from groups.pipeline.reading.zip_directory import directory_bytes
from groups.pipeline.reading.zstd_frames import MAGIC as ZSTD_MAGIC
from groups.pipeline.reading.zstd_frames import most_bytes

UNPACKED_BYTES_MOST: Final = 16 * 1024**3
"""What all archives of an import may unpack to, files that are passed over among it: a broker keeps 20 MB of zeros as indexes with
each partition, which pack to nothing."""

RATIO_MOST: Final = 200
"""Bytes of segments that come out for each byte of an archive. Offsets topics pack to a tenth, a hundredth where one group commits on."""

RATIO_FREE_BYTES: Final = 64 * 1024**2
"""Up to here nobody asks for the ratio: a small archive may hold a preallocated segment."""

HEADER_BYTES_MOST: Final = 1024**2
"""Headers of one member of a tar, which are read into memory: names of any file system fit."""

DIRECTORY_BYTES_MOST: Final = 32 * 1024**2
"""The list of a zip's members, which is read into memory: ``FILES_MOST`` members with long names fit."""

PARTITIONS_MOST: Final = 2_000
"""Folders of partitions of all archives of an import. A folder takes 2 ms to remove, a file 0.02 ms (measured): 100,000 held a
worker for minutes. An offsets topic has 50 partitions unless a broker is configured otherwise, and seldom over 500."""

LISTED_MOST: Final = 20
"""Members of one archive that are refused line by line; the others are counted."""

HEAD_BYTES: Final = 512
"""A header of a tar, by which it is recognised."""

_PIECE: Final = 16 * 1024
"""What is read at once: of an archive that was cut off, no more than this is lost before the cut."""


class Packing(StrEnum):
    """How an archive is packed, by the name that people give it."""

    TAR = "tar"
    ZIP = "zip"
    GZIP = "gz"
    ZSTD = "zst"


NOT_OPENED: Final = {
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "LZ4",
}
"""Other packings, by how they begin."""

DAMAGE: Final = (
    tarfile.TarError, zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, struct.error, EOFError, RuntimeError, OverflowError, ValueError,
)  # fmt: skip
"""What the standard library raises for an archive that is damaged or cut short."""


class Member(NamedTuple):
    """A file that came out of an archive, or the reason why one did not. ``name`` is its path within; ``path`` where it is now."""

    name: str
    packing: str
    path: Path | None = None
    reason: str = ""


class Bomb(Exception):
    """Why an archive is refused as a whole: one line."""


def packing_of(head: bytes) -> Packing | None:
    """How a file is packed, by its first ``HEAD_BYTES``; ``None`` for a file that is no archive.

    >>> packing_of(gzip.compress(b"some")), packing_of(b"some")
    (<Packing.GZIP: 'gz'>, None)
    """
    if head.startswith(b"\x1f\x8b\x08"):
        return Packing.GZIP
    if head.startswith(ZSTD_MAGIC):
        return Packing.ZSTD
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Packing.ZIP
    return Packing.TAR if _is_tar_header(head) else None


def why_not_opened(head: bytes) -> str:
    """The reason for an archive of another kind; empty where it is none."""
    name = next((name for magic, name in NOT_OPENED.items() if head.startswith(magic)), "")
    return (
        f"packed with {name}, which is not opened here: send the folder as .tar.gz, .zip or .zst"
        if name
        else ""
    )


@dataclass(slots=True)
class Unpacking:
    """Unpacks the archives of one import into ``folder``, and counts what that comes to."""

    folder: Path
    unpacked: int = 0
    members: int = 0
    archives: int = 0
    partitions: int = 0
    """Folders that were made."""

    def unpack(self, path: Path, packing: Packing) -> list[Member]:
        """The files of an archive, by name. What is refused of it has a reason, so has an archive that is refused whole."""
        self.archives += 1
        under = self.folder / str(self.archives)
        under.mkdir(mode=0o700, parents=True)
        one = _Archive(self, path, packing, under)
        found: list[Member] = []
        try:
            for member in one.members_of():
                found.append(member)
        except Bomb as bomb:
            shutil.rmtree(under)
            return [Member("", packing, None, str(bomb))]
        except DAMAGE:
            read = sum(member.path is not None for member in found) + bool(one.unfinished)
            if one.unfinished is not None:
                found.append(one.unfinished)
            found.append(Member("", packing, None, _damaged(packing, read)))
        return _bounded(sorted(found, key=lambda member: member.name), packing)


@dataclass(slots=True)
class _Archive:
    whole: Unpacking
    path: Path
    packing: Packing
    under: Path
    kept: int = 0
    unfinished: Member | None = None
    """The member that is being written: of an archive that ends within it, its beginning is read."""
    label: str = field(init=False)

    def __post_init__(self) -> None:
        self.label = str(self.packing)

    def members_of(self) -> Iterator[Member]:
        match self.packing:
            case Packing.TAR:
                with self.path.open("rb") as opened:
                    yield from self._of_tar(opened)
            case Packing.ZIP:
                yield from self._of_zip()
            case Packing.GZIP:
                yield from self._of_stream(lambda: cast(IO[bytes], gzip.GzipFile(self.path)))
            case Packing.ZSTD:
                yield from self._of_zstd()

    def _of_zstd(self) -> Iterator[Member]:
        out = self.under / "whole"
        out.touch(mode=0o600)
        with (
            self.path.open("rb") as opened,
            mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            if self.whole.unpacked + most_bytes(data) > UNPACKED_BYTES_MOST:
                raise _too_much()
            try:
                cramjam.zstd.decompress_into(data, cramjam.File(str(out), write=True, truncate=True))
                damage = ""
            except cramjam.DecompressionError as error:
                damage = str(error)
        yield from self._of_stream(lambda: out.open("rb"))
        out.unlink()
        if damage:
            raise EOFError(damage)

    def _of_stream(self, opened: Callable[[], IO[bytes]]) -> Iterator[Member]:
        """What was packed as one stream: a tar, or a single file."""
        with opened() as stream:
            head = stream.read(HEAD_BYTES)
        with opened() as stream:
            if _is_tar_header(head):
                self.label = f"tar.{self.packing}"
                yield from self._of_tar(stream)
            else:
                yield from self._kept(self.path.name.removesuffix(f".{self.packing}"), stream, shown="")

    def _of_tar(self, stream: IO[bytes]) -> Iterator[Member]:
        headers = _Headers(stream)
        # Read front to back, header after header: nothing is sought, and what was read is not kept.
        with tarfile.open(fileobj=headers, mode="r|", errors="surrogateescape") as archive:
            while True:
                headers.left = HEADER_BYTES_MOST
                member = archive.next()
                headers.left = None
                if member is None:
                    return
                archive.members = []  # type: ignore[attr-defined]  # the list of all that were read
                self._count_member()
                if member.isdir():
                    continue
                content = archive.extractfile(member) if member.isreg() else None
                if reason := _why_refused(member.name) or _why_no_file(member):
                    yield Member(_shown(member.name), self.label, None, reason)
                    if content is not None:
                        self._copy(content, None)
                elif content is not None:
                    yield from self._kept(member.name, content)

    def _of_zip(self) -> Iterator[Member]:
        with self.path.open("rb") as opened:
            if directory_bytes(opened) > DIRECTORY_BYTES_MOST:
                raise Bomb(
                    f"its list of members is larger than {DIRECTORY_BYTES_MOST:,} bytes: nothing of it is read"
                )
            with zipfile.ZipFile(opened) as archive:
                for entry in archive.infolist():
                    self._count_member()
                    if entry.is_dir() or _passed_over(entry.filename):
                        continue
                    shown = _shown(entry.filename)
                    if reason := _why_refused(entry.filename) or _why_not_read(entry):
                        yield Member(shown, self.label, None, reason)
                        continue
                    try:
                        with archive.open(entry) as content:
                            yield from self._kept(entry.filename, content)
                    except DAMAGE:
                        # The others are found by the list: they can be read.
                        if self.unfinished is not None:
                            yield self.unfinished
                            self.unfinished = None
                        yield Member(
                            shown, self.label, None, "damaged: what stands before the damage is read"
                        )

    def _kept(self, name: str, content: IO[bytes], shown: str | None = None) -> Iterator[Member]:
        """Write one file, if it can be a segment; what is passed over is counted all the same."""
        shown = _shown(name) if shown is None else shown
        head = content.read(HEAD_BYTES)
        if _passed_over(name):
            self._copy(content, None)
            return
        inner = packing_of(head)
        if inner or (reason := why_not_opened(head)):
            reason = (
                f"an archive ({inner}) within an archive: unpack it, and give what is in it"
                if inner
                else reason
            )
            yield Member(shown, self.label, None, reason)
            self._copy(content, None)
            return
        folder = self.under / _folder_of(name, self.path)
        if not folder.exists():
            self.whole.partitions += 1
            if self.whole.partitions > PARTITIONS_MOST:
                raise Bomb(f"more than {PARTITIONS_MOST:,} partitions, which no offsets topic has")
            folder.mkdir(mode=0o700)
        # A member costs an archive a few bytes, and a disk a file: those without bytes share one.
        out_path = folder / (str(self.whole.members) if head else "empty")
        self.unfinished = Member(shown, self.label, out_path)
        with out_path.open("wb") as out:
            out.write(head)
            self._count_bytes(len(head), kept=True)
            self._copy(content, out)
        yield self.unfinished
        self.unfinished = None

    def _copy(self, content: IO[bytes], out: IO[bytes] | None) -> None:
        while piece := content.read(_PIECE):
            self._count_bytes(len(piece), kept=out is not None)
            if out is not None:
                out.write(piece)

    def _count_member(self) -> None:
        self.whole.members += 1
        if self.whole.members > FILES_MOST:
            raise Bomb(f"more than {FILES_MOST:,} members: pack the folders of the offsets topic alone")

    def _count_bytes(self, count: int, *, kept: bool) -> None:
        self.whole.unpacked += count
        if self.whole.unpacked > UNPACKED_BYTES_MOST:
            raise _too_much()
        if kept:
            self.kept += count
            packed = self.path.stat().st_size
            if self.kept > max(RATIO_FREE_BYTES, RATIO_MOST * packed):
                raise Bomb(
                    f"its {packed:,} bytes unpack to more than {RATIO_MOST} times as much, which no log does: nothing of it is read"
                )


class _Headers(io.RawIOBase):
    """A stream that gives no more than ``left`` bytes, where that is set: a tar's headers go into memory whole."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.left: int | None = HEADER_BYTES_MOST

    def read(self, size: int = -1, /) -> bytes:
        if self.left is not None:
            self.left -= size
            if self.left < 0:
                raise Bomb(
                    f"a member has headers of more than {HEADER_BYTES_MOST:,} bytes: nothing of it is read"
                )
        return self.stream.read(size)


def _too_much() -> Bomb:
    return Bomb(
        f"what was packed can come to more than {UNPACKED_BYTES_MOST:,} bytes: unpack it, and give the folders of the offsets topic alone"
    )


def _damaged(packing: Packing, read: int) -> str:
    before = f"{read} file{'s' * (read != 1)} before that read" if read else "nothing of it could be read"
    return f"the {packing} is damaged or cut short: {before}"


def _bounded(members: list[Member], packing: Packing) -> list[Member]:
    """The members with ``LISTED_MOST`` reasons, and a line that counts the others."""
    refused = [member for member in members if member.reason]
    if len(refused) <= LISTED_MOST:
        return members
    rest = Member("", packing, None, f"{len(refused) - LISTED_MOST:,} more members are refused likewise")
    return [*refused[:LISTED_MOST], *(member for member in members if not member.reason), rest]


def _is_tar_header(head: bytes) -> bool:
    """Whether a block is a tar's header, by its checksum: the oldest have no magic."""
    if len(head) < HEAD_BYTES or not head[0]:
        return False
    try:
        stated = int(head[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return sum(head[:148]) + 8 * ord(" ") + sum(head[156:HEAD_BYTES]) == stated


def _why_refused(name: str) -> str:
    """Why a member's path is none; empty where it is one.

    >>> _why_refused("../../etc/passwd"), _why_refused("logs/__consumer_offsets-3/0.log")
    ('its path leads out of the archive: refused', '')
    """
    parts = re.split(r"[/\\]", name)
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "its path is absolute: refused"
    return "its path leads out of the archive: refused" if ".." in parts else ""


def _why_no_file(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "a link: refused"
    return "" if member.isfile() else "a device or a pipe: refused"


def _why_not_read(entry: zipfile.ZipInfo) -> str:
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "a link or a device: refused"
    if entry.flag_bits & 1:
        return "locked with a password: unpack it, and give the files"
    # The others' decoders have no bound on memory.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "packed in a way that is not read here: use zip's usual one (deflate)"
    return ""


def _passed_over(name: str) -> bool:
    """Whether it is what Kafka, or a desktop, keeps next to segments."""
    path = PurePosixPath(name)
    return is_companion(path.name) or "__MACOSX" in path.parts


def _folder_of(name: str, archive: Path) -> str:
    """The folder that names the partition: the member's own, else the archive's name, else the folder that the archive is in.

    >>> _folder_of("0.log", Path("in/__consumer_offsets-4.tar.gz")), _folder_of("b/__consumer_offsets-5/0.log", Path("x.tar"))
    ('__consumer_offsets-4', '__consumer_offsets-5')
    """
    named = (
        PurePosixPath(name).parent.name,
        re.sub(r"\.(?:t?gz|zst|tar|zip|tzst)\b.*", "", archive.name),
        archive.parent.name,
    )
    return next(
        (each for each in named if re.fullmatch(r"__(?:consumer_offsets|cluster_metadata)-\d{1,9}", each)),
        "file",
    )


def _shown(name: str) -> str:
    """A member with its folder, as files on a disk are shown."""
    path = PurePosixPath(name)
    shown = f"{path.parent.name}/{path.name}" if path.parent.name else path.name
    text = shown.encode(errors="replace").decode()
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
