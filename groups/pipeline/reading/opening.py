"""What was given to an import as files that can be looked into: archives are unpacked first."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from groups.pipeline.reading.archives import HEAD_BYTES, Unpacking, packing_of, why_not_opened
from groups.pipeline.reading.given_files import given_files
from groups.pipeline.reading.sources import Problem


class OpenedFile(NamedTuple):
    """A file that can be looked into. ``origin`` is what it came out of, for people; ``named``: it was named itself."""

    path: Path
    shown: str
    named: bool
    origin: str = ""


def opened_files(paths: Sequence[str], scratch: Path | None) -> Iterator[OpenedFile | Problem]:
    """Each file under ``paths``, or why there is none. ``scratch`` is emptied, and holds what was unpacked; without it archives
    stay as they are."""
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
    unpacking = None if scratch is None else Unpacking(scratch)
    for path, shown, named in given_files(paths):
        if isinstance(path, str):
            yield Problem(file=shown, offset=None, reason=path)
            continue
        try:
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
