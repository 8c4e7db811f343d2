"""What was given to an import as files that can be looked into: archives are unpacked, and text of Kafka's tools made segments."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from groups.pipeline.reading.archives import HEAD_BYTES, Unpacking, packing_of, why_not_opened
from groups.pipeline.reading.given_files import given_files
from groups.pipeline.reading.printed_logs import EntriesFile, PrintedLogs, formats_in
from groups.pipeline.reading.sources import Gap, Problem


class OpenedFile(NamedTuple):
    """A file that can be looked into. ``origin`` is what it was made of, for people; ``named``: it was named itself."""

    path: Path
    shown: str
    named: bool
    origin: str = ""
    entries: int | None = None
    """How many entries it has, where it is a file of entries."""


Opened = OpenedFile | Problem | Gap


def opened_files(paths: Sequence[str], scratch: Path | None) -> Iterator[Opened]:
    """Each file under ``paths``, or why there is none. ``scratch`` is emptied, and holds what was made; without it archives and
    texts stay as they are."""
    if scratch is None:
        yield from _given(paths, None)
        return
    shutil.rmtree(scratch, ignore_errors=True)
    texts = PrintedLogs(scratch)
    for file in _given(paths, Unpacking(scratch)):
        formats = formats_in(file.path) if isinstance(file, OpenedFile) else ()
        if not isinstance(file, OpenedFile) or not formats:
            yield file
            continue
        made_of = f"made of {' and '.join(each.name for each in formats)}"
        for found in texts.open(file.path, file.shown, formats):
            if isinstance(found, EntriesFile):
                names = " and ".join(each.name for each in formats)
                yield OpenedFile(found.path, file.shown, False, names, found.entries)
            elif isinstance(found, Path):
                origin = ", ".join(part for part in (made_of, file.origin) if part)
                yield OpenedFile(found, file.shown, False, origin)
            else:
                yield found


def _given(paths: Sequence[str], unpacking: Unpacking | None) -> Iterator[OpenedFile | Problem]:
    for path, shown, named in given_files(paths):
        if isinstance(path, str):
            yield Problem(file=shown, offset=None, reason=path)
            continue
        try:
            # A named pipe, which has no bytes either, is never opened: that waits for somebody who writes.
            head = b""
            if path.stat().st_size:
                with path.open("rb") as opened:
                    head = opened.read(HEAD_BYTES)
        except OSError as error:
            yield Problem(file=shown, offset=None, reason=f"cannot be read: {error.strerror or error}")
            continue
        packing = packing_of(head)
        if reason := why_not_opened(head):
            yield Problem(file=shown, offset=None, reason=reason)
        elif packing is None or unpacking is None:
            yield OpenedFile(path, shown, named)
        else:
            for member in unpacking.unpack(path, packing):
                place = f"{shown}: {member.name}" if member.name else shown
                if member.path is None:
                    yield Problem(file=place, offset=None, reason=member.reason)
                else:
                    yield OpenedFile(member.path, place, False, f"unpacked from {member.packing}")
